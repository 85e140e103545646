package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
)

type config struct {
	policy        retry.Policy // MaxAttempts is set
	match         match
	deadline      time.Duration // of the whole run; 0: none
	grace         time.Duration // from TERM to KILL
	stdin         string        // replay, pass or none
	keepOutput    bool
	before        string // shell command
	quiet         bool
	verbose       bool
	jsonFile      string
	args          []string
	help, version bool
}

const usage = `retry runs a command until it succeeds.

  retry [flags] [--] command [args…]
  retry explain POLICY | presets | completion bash|zsh|fish

  -t, --attempts N         maximum number of runs, or "unlimited" (3)
      --policy TEXT        "standard", or e.g. "full base=1s cap=1m attempts=5"
      --rule NAME          rule for waits: full, constant, exponential, … (full)
      --base D, --cap D    of the rule: first ceiling (50ms), largest wait (20s)
      --timeout D          time limit of each attempt (none)
      --deadline D         time limit of all attempts and waits together (none)
      --kill-after D       time between TERM and KILL for an attempt (5s)
      --retry-on LIST      retry only these: 1,5-7,timeout,signal,SIGKILL …
      --stop-on LIST       do not retry these (126 and 127 unless in --retry-on)
      --retry-on-output RE, --stop-on-output RE    the same if output matches
      --before-retry CMD   shell command to run before each retry
      --stdin MODE         replay it to each attempt, pass it on, none (replay)
      --output MODE        pass output on, or only that of the last (pass)
  -q, --quiet, -v, --verbose, --json FILE, -h, --help, --version

Exit status: the command's own; 124 timeout, 125 failure of retry, 126 cannot
execute it, 127 not found, 128+n signal n.`

var short = map[string]string{"attempts": "t", "quiet": "q", "verbose": "v", "help": "h"}

// flagSet returns the flags, the config that they set, and a function that must be called
// after Parse to complete the config. Package flag is used because, unlike other common
// flag libraries, it does not import net; package net makes the binary dynamic if cgo is
// enabled.
func flagSet() (flags *flag.FlagSet, c *config, finish func() error) {
	c = &config{grace: 5 * time.Second}
	flags = flag.NewFlagSet("retry", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var text, rule string
	var base, limit, timeout time.Duration
	var attempts int
	stdin, output := choice{"replay", []string{"replay", "pass", "none"}}, choice{"pass", []string{"pass", "last"}}
	flags.Var((*attemptsValue)(&attempts), "attempts", "")
	flags.StringVar(&text, "policy", "", "")
	flags.StringVar(&rule, "rule", "", "")
	flags.Var((*durationValue)(&base), "base", "")
	flags.Var((*durationValue)(&limit), "cap", "")
	flags.Var((*durationValue)(&timeout), "timeout", "")
	flags.Var((*durationValue)(&c.deadline), "deadline", "")
	flags.Var((*graceValue)(&c.grace), "kill-after", "")
	flags.Var(&c.match.retryOn, "retry-on", "")
	flags.Var(&c.match.stopOn, "stop-on", "")
	flags.Var(patternValue{&c.match.retryOnOutput}, "retry-on-output", "")
	flags.Var(patternValue{&c.match.stopOnOutput}, "stop-on-output", "")
	flags.StringVar(&c.before, "before-retry", "", "")
	flags.Var(&stdin, "stdin", "")
	flags.Var(&output, "output", "")
	flags.BoolVar(&c.quiet, "quiet", false, "")
	flags.BoolVar(&c.verbose, "verbose", false, "")
	flags.StringVar(&c.jsonFile, "json", "", "")
	flags.BoolVar(&c.help, "help", false, "")
	flags.BoolVar(&c.version, "version", false, "")
	for long, letter := range short {
		flags.Var(flags.Lookup(long).Value, letter, "")
	}
	return flags, c, func() error {
		c.args, c.stdin, c.keepOutput = flags.Args(), stdin.value, output.value == "last"
		if text != "" && (rule != "" || base != 0 || limit != 0) {
			return errors.New("--rule, --base and --cap cannot be combined with --policy; put them into its text")
		}
		if text == "" {
			text = ruleText(rule, base, limit)
		}
		var err error
		if c.policy, err = parsePolicy(text); err != nil {
			return err
		}
		if attempts != 0 {
			c.policy.MaxAttempts = attempts
		}
		if timeout != 0 {
			c.policy.AttemptTimeout = timeout
		}
		return nil
	}
}

func parseFlags(args []string) (config, error) {
	flags, c, finish := flagSet()
	err := flags.Parse(args)
	if err == nil && !c.help && !c.version {
		err = finish()
	} else if err != nil {
		err = clearer(err, flags)
	}
	return *c, err
}

// clearer rewrites errors returned by package flag: it writes flags with two dashes and
// adds suggestions. It matches the text of the errors, because they have no distinct types.
func clearer(err error, flags *flag.FlagSet) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		return fmt.Errorf("unknown flag %s%s", dashed(name), didYouMean("--"+name, longFlags(flags)))
	}
	if before, after, ok := strings.Cut(text, " for flag -"); ok {
		name, why, _ := strings.Cut(after, ":")
		return fmt.Errorf("%s for %s:%s", before, dashed(name), why)
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return fmt.Errorf("%s needs a value", dashed(name))
	}
	return err
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func longFlags(flags *flag.FlagSet) []string {
	var names []string
	eachFlag(flags, func(f *flag.Flag) { names = append(names, dashed(f.Name)) })
	return names
}

type attemptsValue int

func (v *attemptsValue) Set(text string) error {
	if text == "unlimited" {
		*v = retry.Unlimited
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New(`must be a whole number of at least 1, or "unlimited"`)
	}
	*v = attemptsValue(n)
	return nil
}

func (v *attemptsValue) String() string { return strconv.Itoa(int(*v)) }

type durationValue time.Duration

func (v *durationValue) Set(text string) error {
	d, err := parseDuration(text)
	if err == nil && d <= 0 {
		err = errors.New("must be positive")
	}
	*v = durationValue(d)
	return err
}

func (v *durationValue) String() string { return time.Duration(*v).String() }

type graceValue time.Duration

func (v *graceValue) Set(text string) error {
	d, err := parseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("must not be negative")
	}
	*v = graceValue(d)
	return err
}

func (v *graceValue) String() string { return time.Duration(*v).String() }

func parseDuration(text string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil && text != "0" {
		return 0, fmt.Errorf("needs a unit, as in %[1]ss or %[1]sms", text)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("must be a duration such as 50ms, 20s or 1m30s")
	}
	return d, nil
}

type patternValue struct{ re **regexp.Regexp }

func (v patternValue) Set(text string) (err error) {
	*v.re, err = regexp.Compile(text)
	return err
}

func (v patternValue) String() string {
	if v.re == nil || *v.re == nil {
		return ""
	}
	return (*v.re).String()
}

type choice struct {
	value string
	known []string
}

func (c *choice) Set(text string) error {
	if !slices.Contains(c.known, text) {
		return fmt.Errorf("must be one of %s%s", strings.Join(c.known, ", "), didYouMean(text, c.known))
	}
	c.value = text
	return nil
}

func (c *choice) String() string { return c.value }
