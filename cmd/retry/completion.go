package main

import (
	"fmt"
	"strings"
)

func completion(args []string) (string, error) {
	shells := map[string]func([]option) string{"bash": bash, "zsh": zsh, "fish": fish}
	if len(args) == 1 && shells[args[0]] != nil {
		return shells[args[0]](new(config).options()), nil
	}
	return "", fmt.Errorf("completion needs bash, zsh or fish%s", didYouMean(strings.Join(args, " "), []string{"bash", "zsh", "fish"}))
}

func subcommandNames() string {
	var names []string
	for _, sub := range subcommands {
		names = append(names, sub.name)
	}
	return strings.Join(names, " ")
}

func policyNames() string { return strings.Join(append([]string{standard}, presetNames()...), " ") }

func bash(options []option) string {
	var all, values, cases []string
	for _, o := range options {
		all = append(all, "--"+o.name)
		if o.value != "" {
			values = append(values, "--"+o.name)
		}
		if o.words != nil {
			cases = append(cases, fmt.Sprintf("        --%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;", o.name, strings.Join(o.words, " ")))
		}
	}
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
    *) COMPREPLY=($(compgen -W '%s' -- "$cur") $(compgen -c -- "$cur")) ;;
    esac
}
complete -F _retry retry
`, strings.Join(values, " | "), policyNames(), strings.Join(cases, "\n"), strings.Join(values, " | "), strings.Join(all, " "), subcommandNames())
}

func zsh(options []option) string {
	escape := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`, "'", `'\''`)
	var specs []string
	for _, o := range options {
		names, spec := "--"+o.name, fmt.Sprintf("[%s]", escape.Replace(o.help))
		switch {
		case o.words != nil:
			spec = fmt.Sprintf("=%s:value:(%s)", spec, strings.Join(o.words, " "))
		case o.value == "FILE":
			spec = fmt.Sprintf("=%s:file:_files", spec)
		case o.value != "":
			spec = fmt.Sprintf("=%s:%s: ", spec, o.value)
		}
		specs = append(specs, fmt.Sprintf("    '%s%s' \\", names, spec))
		if o.letter != "" {
			specs = append(specs, fmt.Sprintf("    '-%s%s' \\", o.letter, strings.TrimPrefix(spec, "=")))
		}
	}
	var commands []string
	for _, sub := range subcommands {
		commands = append(commands, fmt.Sprintf(`%s\:"%s"`, sub.name, sub.help))
	}
	return fmt.Sprintf(`#compdef retry
# zsh completion for retry: retry completion zsh >"${fpath[1]}/_retry"
_retry() {
    case ${words[2]} in
    explain) _values policy %s; return ;;
    completion) _values shell bash zsh fish; return ;;
    presets | man) return ;;
    esac
    _arguments -S \
%s
    '(-):command: _alternative "commands:command:_command_names -e" '\''subcommands:subcommand:((%s))'\''' \
    '*::argument: _normal'
}
_retry "$@"
`, policyNames(), strings.Join(specs, "\n"), strings.Join(commands, " "))
}

func fish(options []option) string {
	quote := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	var b strings.Builder
	b.WriteString("# fish completion for retry: retry completion fish >~/.config/fish/completions/retry.fish\n")
	values := []string{"-t"}
	for _, o := range options {
		fmt.Fprintf(&b, "complete -c retry -l %s -d '%s'", o.name, quote.Replace(o.help))
		if o.letter != "" {
			fmt.Fprintf(&b, " -s %s", o.letter)
		}
		if o.value != "" {
			values = append(values, "--"+o.name)
			b.WriteString(" -r")
			if o.value != "FILE" {
				b.WriteString(" -f")
			}
		}
		if o.words != nil {
			fmt.Fprintf(&b, " -a '%s'", strings.Join(o.words, " "))
		}
		b.WriteByte('\n')
	}
	for _, sub := range subcommands {
		fmt.Fprintf(&b, "complete -c retry -n __fish_use_subcommand -a %s -d '%s'\n", sub.name, quote.Replace(sub.help))
	}
	fmt.Fprintf(&b, "complete -c retry -n '__fish_seen_subcommand_from explain' -f -a '%s'\n", policyNames())
	fmt.Fprintf(&b, "complete -c retry -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n")
	// The options that take a value, so that the value is not mistaken for the command.
	fmt.Fprintf(&b, "complete -c retry -x -a '(__fish_complete_subcommand --fcs-skip=1 %s)'\n", strings.Join(values, " "))
	return b.String()
}
