// Flags and outputs that the commands share.

package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
	"github.com/gobackoff/retry/cmd/internal/nearest"
)

type environment struct {
	stdout, stderr io.Writer
	args           []string // for the report
	usage          func()

	policies []string
	own      []string // names of the policies given as text
	csv      string
	html     string
	svg      string // a folder
	title    string // of the page
	seed     uint64
	parallel int
	quiet    bool
	bar      *progressbar.ProgressBar // nil: hidden

	system *system // nil: the command has none
}

// flags returns the flags that all commands have.
func (env *environment) flags(name, operands string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard) // parse returns the errors
	set.Uint64Var(&env.seed, "seed", 1, "seed of the random numbers; the same seed gives the same results")
	set.Usage = func() {} // an error is one line, without the usage
	env.usage = func() {
		fmt.Fprintf(env.stdout, "usage: backofflab %s [FLAGS]%s\n\n", name, operands)
		set.SetOutput(env.stdout)
		set.PrintDefaults()
	}
	return set
}

// operands returns the operands, at most most, of a command that has no flags.
func (env *environment) operands(name, usage string, args []string, most int) ([]string, error) {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	env.usage = func() { fmt.Fprintln(env.stdout, "usage: backofflab "+name+usage) }
	return env.parse(set, args, most)
}

func (env *environment) policyFlag(set *flag.FlagSet, usage string) {
	set.Func("policy", "a `policy` "+usage+"; may be repeated", func(text string) error {
		env.policies = append(env.policies, text)
		return nil
	})
}

func (env *environment) csvFlag(set *flag.FlagSet) {
	set.StringVar(&env.csv, "csv", "", "write CSV to `file`; with -, write it to standard output instead of the table")
}

func (env *environment) trialFlags(set *flag.FlagSet) {
	set.IntVar(&env.parallel, "parallel", 0, "concurrent `trials`; does not affect results (default: one per core)")
	set.BoolVar(&env.quiet, "quiet", false, "no progress bar")
}

// parse parses the flags and returns the operands, which may be anywhere among them. It
// returns an error if the number of operands exceeds most.
func (env *environment) parse(set *flag.FlagSet, args []string, most int) (operands []string, err error) {
	env.args = append([]string{set.Name()}, args...)
	for {
		switch err := set.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			env.usage()
			return nil, err
		case err != nil:
			return nil, usageError{suggestFlag(err, set)}
		case set.NArg() == 0:
			if env.system != nil {
				if err := env.system.read(env, set); err != nil {
					return nil, usageError{err}
				}
			}
			return operands, env.check(set)
		case len(operands) == most:
			return nil, usageError{fmt.Errorf("%q is one argument too many; quote the policy", set.Arg(0))}
		}
		operands = append(operands, set.Arg(0))
		args = set.Args()[1:]
	}
}

func suggestFlag(err error, set *flag.FlagSet) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if unknown {
		if meant := nearest.Name(strings.TrimPrefix(name, "-"), flagNames(set)); meant != "" {
			return fmt.Errorf("%w; did you mean -%s?", err, meant)
		}
	}
	return err
}

func flagNames(set *flag.FlagSet) []string {
	var names []string
	set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// positive lists the flags for which 0 is an error, because the library would use the
// default instead.
var positive = []string{
	"trials", "network", "rate", "processes", "timeout", "deadline", "workers", "capacity", "service", "queue", "share", "to", "horizon", "price",
	"refusal",
}

func (env *environment) check(set *flag.FlagSet) (err error) {
	set.Visit(func(f *flag.Flag) {
		if v := f.Value.String(); (v == "0" || v == "0s") && slices.Contains(positive, f.Name) {
			err = usageError{fmt.Errorf("%s: %s is not above 0", f.Name, v)}
		}
	})
	return err
}

// progress returns a function that shows a progress bar. It returns nil with -quiet, or if
// standard error is not a terminal.
func (env *environment) progress() func(done, total int) {
	f, ok := env.stderr.(*os.File)
	if env.quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	env.bar = nil
	return func(done, total int) {
		if env.bar == nil {
			env.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(f), progressbar.OptionSetDescription("simulating"),
				progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
		}
		env.bar.Set(done)
	}
}

// writable returns an error before the simulation if a file cannot be written after it.
func writable(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return usageError{err}
	}
	return f.Close()
}

type result interface {
	Table() *report.Table
	CSV(w io.Writer) error
}

// produce runs a command's work and writes the results. The CSV contains only the first
// result. If the work was interrupted, produce writes the finished results and returns the
// error.
func (env *environment) produce(work func() ([]result, error)) error {
	if err := writable(cmp.Or(env.csv, env.html)); err != nil { // a command has one of these flags
		return err
	}
	results, stopped := work()
	if env.bar != nil {
		env.bar.Clear()
	}
	if len(results) == 0 {
		return stopped
	}
	var content bytes.Buffer
	var err error
	switch {
	case env.html != "":
		err = env.writePage(&content, results, stopped)
	case env.csv != "":
		err = results[0].CSV(&content)
	}
	switch path := cmp.Or(env.csv, env.html); {
	case err != nil:
		return err
	case path == "-":
		_, err = content.WriteTo(env.stdout)
		return cmp.Or(err, stopped)
	case path != "":
		err = os.WriteFile(path, content.Bytes(), 0o666)
	}
	return cmp.Or(err, env.print(results), stopped)
}

func (env *environment) print(results []result) error {
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(env.stdout)
		}
		if a, ok := r.(report.Advice); ok {
			fmt.Fprintln(env.stdout, a.Lead()+"\n")
		}
		if err := report.Text(env.stdout, r.Table()); err != nil {
			return err
		}
	}
	return nil
}

func (env *environment) contenders(groups map[string]func() []lab.Contender, fallback func() []lab.Contender) ([]lab.Contender, error) {
	if len(env.policies) == 0 {
		return fallback(), nil
	}
	var lists [][]lab.Contender
	for _, text := range env.policies {
		text = strings.TrimSpace(text)
		if group := groups[text]; group != nil {
			lists = append(lists, group())
			continue
		}
		c, err := lab.ParseContender(text)
		if err != nil {
			return nil, usageError{suggestPolicy(err, text, groups)}
		}
		env.own = append(env.own, c.Name)
		lists = append(lists, []lab.Contender{c})
	}
	return lab.Join(lists...), nil
}

// suggestPolicy adds the most similar group, and the names of all groups, to err.
func suggestPolicy(err error, text string, groups map[string]func() []lab.Contender) error {
	names := slices.Sorted(maps.Keys(groups))
	first, _, _ := strings.Cut(text, " ")
	if meant := nearest.Name(first, names); meant != "" && meant != first {
		err = fmt.Errorf("%w; did you mean %s?", err, meant)
	}
	if len(names) > 0 && !strings.ContainsAny(text, " =") {
		err = fmt.Errorf("%w; groups: %s", err, strings.Join(names, ", "))
	}
	return err
}

// known suggests the most similar name, and lists all names.
func known(typed string, names []string) string {
	text := "there are " + strings.Join(names, ", ")
	if name := nearest.Name(typed, names); name != "" {
		text = "did you mean " + name + "? T" + text[1:]
	}
	return text
}
