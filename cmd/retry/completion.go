package main

import (
	"flag"
	"fmt"
	"strings"
)

func flagValues(flag string) []string {
	switch flag {
	case "policy":
		return append([]string{standard}, presetNames()...)
	case "rule":
		return ruleNames[1:]
	case "stdin":
		return []string{"replay", "pass", "none"}
	case "output":
		return []string{"pass", "last"}
	case "retry-on", "stop-on":
		return []string{"timeout", "signal"}
	}
	return nil
}

func completion(args []string) (string, error) {
	shells := map[string]func(*flag.FlagSet) string{"bash": bash, "zsh": zsh, "fish": fish}
	if len(args) == 1 && shells[args[0]] != nil {
		flags, _, _ := flagSet()
		return shells[args[0]](flags), nil
	}
	return "", fmt.Errorf("completion needs bash, zsh or fish%s", didYouMean(strings.Join(args, " "), []string{"bash", "zsh", "fish"}))
}

func takesValue(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

// eachFlag visits all flags except those with one-letter names.
func eachFlag(flags *flag.FlagSet, do func(*flag.Flag)) {
	flags.VisitAll(func(f *flag.Flag) {
		if len(f.Name) > 1 {
			do(f)
		}
	})
}

func bash(flags *flag.FlagSet) string {
	var all, values, cases []string
	eachFlag(flags, func(f *flag.Flag) {
		all = append(all, "--"+f.Name)
		if !takesValue(f) {
			return
		}
		values = append(values, "--"+f.Name)
		if list := flagValues(f.Name); list != nil {
			cases = append(cases, fmt.Sprintf("        --%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;", f.Name, strings.Join(list, " ")))
		}
	})
	return fmt.Sprintf(`# bash completion for retry: source <(retry completion bash)
_retry() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) _command_offset $((i + 1)) 2>/dev/null || COMPREPLY=($(compgen -c -- "$cur")); return ;;
        %s | -t) ((i++)) ;;
        -*) ;;
        explain) COMPREPLY=($(compgen -W '%s' -- "$cur")); return ;;
        completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- "$cur")); return ;;
        *) _command_offset "$i" 2>/dev/null || COMPREPLY=($(compgen -f -- "$cur")); return ;;
        esac
    done
    case $prev in
%s
        --json) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        %s | -t) return ;;
    esac
    case $cur in
    -*) COMPREPLY=($(compgen -W '%s' -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W 'explain presets completion' -- "$cur") $(compgen -c -- "$cur")) ;;
    esac
}
complete -F _retry retry
`, strings.Join(values, " | "), strings.Join(flagValues("policy"), " "), strings.Join(cases, "\n"), strings.Join(values, " | "), strings.Join(all, " "))
}

func zsh(flags *flag.FlagSet) string {
	var specs []string
	eachFlag(flags, func(f *flag.Flag) {
		spec := "--" + f.Name
		switch list := flagValues(f.Name); {
		case !takesValue(f):
			spec = fmt.Sprintf("'%s'", spec)
		case list != nil:
			spec = fmt.Sprintf("'%s=:value:(%s)'", spec, strings.Join(list, " "))
		case f.Name == "json":
			spec = fmt.Sprintf("'%s=:file:_files'", spec)
		default:
			spec = fmt.Sprintf("'%s=:value: '", spec)
		}
		specs = append(specs, "    "+spec+" \\")
	})
	return fmt.Sprintf(`#compdef retry
# zsh completion for retry: retry completion zsh >"${fpath[1]}/_retry"
_retry() {
    case ${words[2]} in
    explain) _values policy %s; return ;;
    completion) _values shell bash zsh fish; return ;;
    presets) return ;;
    esac
    _arguments -S \
%s
    '(-):command: _alternative "commands:command:_command_names -e" "subcommands:subcommand:(explain presets completion)"' \
    '*::argument: _normal'
}
_retry "$@"
`, strings.Join(flagValues("policy"), " "), strings.Join(specs, "\n"))
}

func fish(flags *flag.FlagSet) string {
	var b strings.Builder
	b.WriteString("# fish completion for retry: retry completion fish >~/.config/fish/completions/retry.fish\n")
	eachFlag(flags, func(f *flag.Flag) {
		fmt.Fprintf(&b, "complete -c retry -l %s", f.Name)
		if letter := short[f.Name]; letter != "" {
			fmt.Fprintf(&b, " -s %s", letter)
		}
		if takesValue(f) {
			b.WriteString(" -r")
			if f.Name != "json" {
				b.WriteString(" -f")
			}
		}
		if list := flagValues(f.Name); list != nil {
			fmt.Fprintf(&b, " -a '%s'", strings.Join(list, " "))
		}
		b.WriteByte('\n')
	})
	fmt.Fprintf(&b, "complete -c retry -n __fish_use_subcommand -a 'explain presets completion'\n")
	fmt.Fprintf(&b, "complete -c retry -n '__fish_seen_subcommand_from explain' -f -a '%s'\n", strings.Join(flagValues("policy"), " "))
	fmt.Fprintf(&b, "complete -c retry -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n")
	b.WriteString("complete -c retry -x -a '(__fish_complete_subcommand --fcs-skip=1)'\n")
	return b.String()
}
