// Command backofflab shows what a retry policy does before it is in production.
//
// "backofflab help" lists the commands, and each command has a flag -help. Tables go to
// standard output; -csv and -html write files. An interrupt ends the simulation, and the
// results so far are written. The exit status is 0 on success, 1 after a failure, 2 after
// invalid arguments, and 130 after an interrupt.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second interrupt ends the program immediately.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

const ( // exit statuses
	failed      = 1
	misused     = 2
	interrupted = 130
)

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

type command struct {
	name, about string
	run         func(ctx context.Context, env *environment, args []string) error
}

var commands = []command{
	{"contention", "clients that contend for one row", contention},
	{"storm", "clients of a server that fails for a while", storm},
	{"outage", "calls that begin when a server goes down for a while", outage},
	{"explain", "the waits of a policy", explain},
	{"advise", "a policy that suits a system", advise},
	{"report", "policies compared in one HTML page", fullReport},
	{"init", "writes an example file that describes a system", initialize},
	{"playground", "writes a page for browsers into a folder", writePlayground},
	{"version", "the version of this program", printVersion},
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	env := &environment{stdout: stdout, stderr: stderr}
	err := dispatch(ctx, env, args)
	_, isUsage := errors.AsType[usageError](err)
	switch {
	case isUsage:
		fmt.Fprintln(stderr, "backofflab:", oneLine(err))
		return misused
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "backofflab: interrupted; the finished results are written")
		return interrupted
	}
	fmt.Fprintln(stderr, "backofflab:", oneLine(err))
	return failed
}

// oneLine joins the lines of joined errors.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

func dispatch(ctx context.Context, env *environment, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New("no command; backofflab help lists them")}
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-help", "--help", "-h":
		if len(rest) == 0 {
			fmt.Fprint(env.stdout, "usage: backofflab COMMAND [FLAGS]\n\n")
			for _, c := range commands {
				fmt.Fprintf(env.stdout, "  %-12s %s\n", c.name, c.about)
			}
			fmt.Fprint(env.stdout, "\nbackofflab help COMMAND lists the flags.\n")
			return nil
		}
		name, rest = rest[0], []string{"-help"}
	case "-version", "--version":
		name = "version"
	}
	var names []string
	for _, c := range commands {
		if c.name == name {
			return c.run(ctx, env, rest)
		}
		names = append(names, c.name)
	}
	return usageError{fmt.Errorf("unknown command %q; %s", name, known(name, names))}
}

func printVersion(_ context.Context, env *environment, args []string) error {
	_, err := env.operands("version", "", args, 0)
	if err == nil {
		fmt.Fprintln(env.stdout, "backofflab", version())
	}
	return err
}
