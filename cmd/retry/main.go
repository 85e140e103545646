// Command retry runs a command until it succeeds. See docs/command.md.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

func main() {
	if os.Args[0] == keyboardName {
		beKeyboard()
		return
	}
	// When the thread that started a command ends, the kernel sends SIGTERM to the
	// command: see tree.follow.
	runtime.LockOSThread()
	os.Exit(start(os.Args[1:]))
}

func start(args []string) int {
	if len(args) > 0 {
		for _, sub := range subcommands {
			if sub.name == args[0] {
				return show(sub.run(args[1:]))
			}
		}
	}
	c, err := parseFlags(args, os.Getenv)
	switch {
	case err != nil:
		return fail(err)
	case c.help:
		return show(shortHelp(), nil)
	case c.helpAll:
		return show(longHelp(), nil)
	case c.version:
		return show(version(), nil)
	case len(c.args) == 0 && c.targets == nil:
		return fail(errors.New("missing command; see retry --help"))
	}
	return run(c)
}

// To run a command that has the name of a subcommand, users put -- before it.
var subcommands []subcommand

func init() { // completion and man use the list
	subcommands = []subcommand{
		{"explain", "[FLAG…] [POLICY]", "show the settings that apply, where they come from, and the waits", explain},
		{"presets", "", "list the named policies", noArguments("presets", presets)},
		{"completion", "bash|zsh|fish", "print a completion script", completion},
		{"man", "", "print the manual page", noArguments("man", man)},
		{"help", "", "show the common flags", noArguments("help", shortHelp)},
		{"version", "", "show the version", noArguments("version", version)},
	}
}

type subcommand struct {
	name, arguments, help string
	run                   func(args []string) (string, error)
}

func noArguments(name string, text func() string) func([]string) (string, error) {
	return func(args []string) (string, error) {
		if len(args) > 0 {
			return "", fmt.Errorf("%s takes no arguments, got %q", name, args[0])
		}
		return text(), nil
	}
}

func show(text string, err error) int {
	if err != nil {
		return fail(err)
	}
	if _, err := os.Stdout.WriteString(text); err != nil {
		return fail(err)
	}
	return 0
}

// fail reports an error of retry itself on one line.
func fail(err error) int {
	fmt.Fprintln(os.Stderr, oneLine("retry: "+err.Error()))
	return exitFailure
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "retry (unknown version)\n"
	}
	return fmt.Sprintf("retry %s %s/%s %s\n", info.Main.Version, runtime.GOOS, runtime.GOARCH, info.GoVersion)
}
