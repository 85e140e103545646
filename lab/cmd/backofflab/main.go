// Command backofflab shows what a retry policy does before it meets production.
//
//	backofflab contention   clients that contend for one row
//	backofflab storm        clients of a server that fails for a while
//	backofflab explain      the waits of a policy
//	backofflab report       all of it, in one HTML page
//
// Each command has a -help. Tables go to the standard output; -csv and -html write
// files. An interrupt ends the simulation, and what has finished is written. The
// exit status is 0, 1 after a failure, 2 if something that was asked for makes no
// sense, and 130 after an interrupt.
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
	// After the first interrupt a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit statuses.
const (
	failed      = 1
	misused     = 2
	interrupted = 130
)

// usageError is an error in what was asked for.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// commands are what the first argument may be.
var commands = map[string]func(ctx context.Context, env *environment, args []string) error{
	"contention": contention,
	"storm":      storm,
	"explain":    explain,
	"report":     both,
}

// run is the program without its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
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
		fmt.Fprintln(stderr, "backofflab: interrupted; what has finished is written")
		return interrupted
	}
	fmt.Fprintln(stderr, "backofflab:", oneLine(err))
	return failed
}

// oneLine returns the text of several errors in one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

const usage = `usage: backofflab COMMAND [FLAGS]

  contention   clients that contend for one row
  storm        clients of a server that fails for a while
  explain      the waits of a policy
  report       all of it, in one HTML page

backofflab COMMAND -help tells the flags.`

func dispatch(ctx context.Context, env *environment, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New("no command; there are contention, storm, explain and report")}
	}
	switch args[0] {
	case "help", "-help", "--help", "-h":
		fmt.Fprintln(env.stdout, usage)
		return nil
	}
	command, ok := commands[args[0]]
	if !ok {
		return usageError{fmt.Errorf("unknown command %q; there are contention, storm, explain and report", args[0])}
	}
	return command(ctx, env, args[1:])
}
