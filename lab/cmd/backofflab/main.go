// Command backofflab shows what a retry policy does before it is in production.
//
//	backofflab contention   clients that contend for one row
//	backofflab storm        clients of a server that fails for a while
//	backofflab explain      the waits of a policy
//	backofflab advise       policies that suit a system
//	backofflab report       storm, map and contention in one HTML page
//	backofflab init         writes an example file that describes a system
//	backofflab playground   writes a page for browsers into a folder
//	backofflab version      the version of this program
//
// Each command has a flag -help. Tables go to standard output; -csv and -html write files. An
// interrupt ends the simulation, and the results so far are written. The exit status is 0 on
// success, 1 after a failure, 2 after invalid arguments, and 130 after an interrupt.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
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

type command func(ctx context.Context, env *environment, args []string) error

var commands = map[string]command{
	"contention": contention,
	"storm":      storm,
	"explain":    explain,
	"advise":     advise,
	"report":     fullReport,
	"init":       initialize,
	"playground": writePlayground,
	"version":    printVersion,
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

const usage = `usage: backofflab COMMAND [FLAGS]

  contention   clients that contend for one row
  storm        clients of a server that fails for a while
  explain      the waits of a policy
  advise       policies that suit a system
  report       storm, map and contention in one HTML page
  init         writes an example file that describes a system
  playground   writes a page for browsers into a folder
  version      the version of this program

backofflab help COMMAND lists the flags.`

func dispatch(ctx context.Context, env *environment, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New("no command; backofflab help lists them")}
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-help", "--help", "-h":
		if len(rest) == 0 {
			fmt.Fprintln(env.stdout, usage)
			return nil
		}
		name, rest = rest[0], []string{"-help"}
	case "-version", "--version":
		name = "version"
	}
	command, ok := commands[name]
	if !ok {
		return usageError{fmt.Errorf("unknown command %q; %s", name, known(name, slices.Sorted(maps.Keys(commands))))}
	}
	return command(ctx, env, rest)
}

func printVersion(_ context.Context, env *environment, args []string) error {
	set := flag.NewFlagSet("version", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	env.usage = func() { fmt.Fprintln(env.stdout, "usage: backofflab version") }
	set.Usage = func() {}
	if operands, err := env.parse(set, args, 0); err != nil || operands != nil {
		return err
	}
	fmt.Fprintln(env.stdout, "backofflab", version())
	return nil
}
