package main

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// adviseOnPipes says that a failure which the status of a pipe hides is not retried. It is no
// error: the last command may be the one that is meant, as in docker ps | grep -q web.
func (s *session) adviseOnPipes() {
	const advice = "the status of a pipe is that of its last command; so that a failure of each command counts, write bash -o pipefail -ec 'LINE'"
	if s.targets == nil && hidesFailures(s.args) {
		s.report.warn(advice)
	}
	if hidesFailures(shell(s.before)) {
		s.report.warn("--before-retry: " + advice)
	}
}

// hidesFailures reports whether a command is a shell, such as sh -c or docker exec web sh -c, whose
// line has a pipe and does not set pipefail.
func hidesFailures(args []string) bool {
	shells := []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"}
	for i, name := range args {
		if !slices.Contains(shells, path.Base(filepath.ToSlash(name))) {
			continue
		}
		if line, ok := lineOf(args[i+1:]); ok && hasPipe(line) {
			return !slices.ContainsFunc(args[i+1:], func(arg string) bool { return strings.Contains(arg, "pipefail") })
		}
	}
	return false
}

// lineOf returns the line of a shell that has these arguments, as in -eu -o pipefail -c LINE.
func lineOf(args []string) (line string, ok bool) {
	given := false
	for i := 0; i < len(args); i++ {
		option := args[i]
		if len(option) < 2 || option[0] != '-' && option[0] != '+' {
			return option, given
		}
		letters := option[0] == '-' && option[1] != '-'
		if letters && strings.Contains(option, "c") {
			given = true
		}
		if strings.HasSuffix(option, "o") || strings.HasSuffix(option, "O") {
			i++ // its value
		}
	}
	return "", false
}

// hasPipe reports whether a line of a shell has a pipe outside of quotes, comments, [[ ]] and the
// patterns of a case.
func hasPipe(line string) bool {
	depth := 0       // of parentheses
	pending := false // a | that may stand between the patterns of a case
	for i := 0; i < len(line); i++ {
		rest := line[i:]
		atWord := i == 0 || strings.IndexByte(" \t\n;|&(", line[i-1]) >= 0
		switch {
		case rest[0] == '\\':
			i++
		case rest[0] == '\'' || rest[0] == '"':
			i += quoted(rest) - 1
		case rest[0] == '#' && atWord:
			comment, _, _ := strings.Cut(rest, "\n")
			i += len(comment) - 1
		case strings.HasPrefix(rest, "[[ ") && atWord:
			i += until(rest, "]]") - 1
		case strings.HasPrefix(rest, "(("):
			i += until(rest, "))") - 1
		case strings.HasPrefix(rest, "||"):
			i++
		case rest[0] == '|' && (i == 0 || line[i-1] != '>'):
			pending = true
		case rest[0] == '(':
			depth++
		case rest[0] == ')' && depth > 0:
			depth--
		case rest[0] == ')': // the end of a pattern
			pending = false
		case pending && strings.IndexByte(";\n", rest[0]) >= 0:
			return true
		}
	}
	return pending
}

// quoted returns the length of the quoted text at the start of a line.
func quoted(line string) int {
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == line[0]:
			return i + 1
		case line[i] == '\\' && line[0] == '"':
			i++
		}
	}
	return len(line)
}

// until returns the length of a line up to and with the text end.
func until(line, end string) int {
	before, _, found := strings.Cut(line, end)
	if !found {
		return len(line)
	}
	return len(before) + len(end)
}
