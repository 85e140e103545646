package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	helpWidth  = 80
	helpIndent = 27 // of the descriptions
)

const purpose = "runs a command until it succeeds, or waits for servers and files"

var synopses = []string{
	"[FLAG…] [--] COMMAND [ARGUMENT…]",
	"TARGET… [FLAG…] [-- COMMAND [ARGUMENT…]]",
}

var exitStatuses = [][2]string{
	{"the command's own", "status of the last run"},
	{"1", "the command exited with 0, but a condition such as --until-output was not met; or a target was not ready"},
	{"124", "the last run exceeded the timeout or the deadline"},
	{"125", "retry itself failed: an invalid flag or policy, or output that could not be written"},
	{"126, 127", "the command cannot be executed, or is not found"},
	{"that of --before-retry", "this command failed, so there was no further run"},
	{"128 + n", "signal n ended the command, or ended retry while no command was running"},
}

var variables = [][2]string{
	{"RETRY_ATTEMPT", "the number of the run, from 1; for --before-retry, of the next run"},
	{"RETRY_MAX_ATTEMPTS", `a number or "unlimited"`},
	{"RETRY_LAST_EXIT", "the status of the previous run; not set for the first; for --on-failure, the status of retry"},
	{"RETRY_DEADLINE_AT", "the deadline as a Unix time in seconds; not set if there is none"},
	{"RETRY_ATTEMPTS", "for --on-failure, the number of runs"},
}

const settings = "Each flag can be set in the environment: RETRY_ATTEMPTS=5, RETRY_KILL_AFTER=1s, RETRY_QUIET=true. " +
	"The command line overrides the environment."

// usage is the flag as in -t, --attempts N.
func (o option) usage() string {
	text := "--" + o.name
	if o.letter != "" {
		text = "-" + o.letter + ", " + text
	}
	return strings.TrimSpace(text + " " + o.value)
}

func (o option) description() string {
	text := strings.ToUpper(o.help[:1]) + o.help[1:] + "."
	if o.more != "" {
		text += " " + o.more
	}
	if o.initial != "" {
		text += " Default: " + o.initial + "."
	}
	return text
}

func shortHelp() string {
	var b strings.Builder
	b.WriteString(helpHead())
	for _, o := range new(config).options() {
		if o.common {
			text := o.help
			if o.initial != "" {
				text += " (" + o.initial + ")"
			}
			b.WriteString(entry(o.indented(), text))
		}
	}
	b.WriteString("\nretry --help-all shows all flags, RETRY_… variables and exit statuses.\n")
	return b.String()
}

func (o option) indented() string {
	if o.letter == "" {
		return "    " + o.usage()
	}
	return o.usage()
}

func helpHead() string {
	return fmt.Sprintf("retry %s.\n\n  retry %s\n\n", purpose, strings.Join(synopses, "\n  retry "))
}

func longHelp() string {
	var b strings.Builder
	b.WriteString(helpHead())
	for _, sub := range subcommands {
		b.WriteString(entry(strings.TrimSpace("retry "+sub.name+" "+sub.arguments), sub.help))
	}
	b.WriteString("\nFlags:\n")
	for _, o := range new(config).options() {
		b.WriteString(entry(o.indented(), o.description()))
	}
	section := func(title string, rows [][2]string) {
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, row := range rows {
			b.WriteString(entry(row[0], row[1]))
		}
	}
	b.WriteString("\n" + strings.Join(wrap(settings, helpWidth), "\n") + "\n")
	section("Environment of the command", variables)
	section("Exit status", exitStatuses)
	return b.String()
}

// entry formats a term with its description in a second column.
func entry(term, text string) string {
	lines := wrap(text, helpWidth-helpIndent)
	if utf8.RuneCountInString(term)+4 > helpIndent {
		lines = slices.Insert(lines, 0, "")
	}
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			term = ""
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s%s", helpIndent-2, term, line), " ") + "\n")
	}
	return b.String()
}

func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// man returns the manual page in the format of man(7).
func man() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH RETRY 1 \"\" \"github.com/gobackoff/retry\"\n.SH NAME\nretry \\- %s\n.SH SYNOPSIS\n", roff(purpose))
	for _, line := range synopses {
		fmt.Fprintf(&b, ".B retry\n%s\n.br\n", roff(line))
	}
	for _, sub := range subcommands {
		fmt.Fprintf(&b, ".B retry %s\n%s\n.br\n", sub.name, roff(sub.arguments))
	}
	section := func(title string, rows [][2]string) {
		fmt.Fprintf(&b, ".SH %s\n", title)
		for _, row := range rows {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(row[0]), roff(row[1]))
		}
	}
	var commands, flags [][2]string
	for _, sub := range subcommands {
		commands = append(commands, [2]string{sub.name, sub.help})
	}
	for _, o := range new(config).options() {
		flags = append(flags, [2]string{o.usage(), o.description()})
	}
	section("OPTIONS", flags)
	section("SUBCOMMANDS", commands)
	section("ENVIRONMENT", variables)
	fmt.Fprintf(&b, ".PP\n%s\n", roff(settings))
	section("EXIT STATUS", exitStatuses)
	return b.String()
}

// roff escapes text, which must not begin a line with a control character.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\&...`, "'", `\(aq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
