package main

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/cmd/internal/nearest"
)

type config struct {
	policy        retry.Policy
	match         match
	deadline      time.Duration // of the whole run; 0: none
	grace         time.Duration // from TERM to KILL
	initialDelay  time.Duration
	stagger       time.Duration // bounds a random wait before the first run
	consecutive   int           // successes in a row
	forever       bool          // up to the deadline
	stdin         string        // auto, replay, pass or none
	outputMode    string        // pass, last or success
	before        string        // shell command
	beforeMayFail bool          // and then the next run begins nevertheless
	onFailure     string        // shell command
	quiet         bool
	verbose       bool
	jsonFile      string
	args          []string // the command
	targets       []target // to wait for, instead of or before the command
	help, helpAll bool
	version       bool

	given    map[string]setting // by the name of the option
	text     string             // of the policy
	rule     string
	base     time.Duration
	limit    time.Duration
	timeout  time.Duration
	attempts int
}

// A setting is the text that an option was given, and where.
type setting struct{ text, origin string }

// An option is a flag with its description. Parsing, the environment, the help, the man page,
// the table in docs/reference/command.md and the completions all come from the same list of options.
type option struct {
	name, letter string
	value        string // placeholder; "" for a switch
	initial      string // default
	help         string // one line
	more         string // further sentences
	common       bool   // in the short help
	words        []string
	excludes     []string // options that cannot be combined with this one
	set          func(text string) error
}

// options returns all options, which set the fields of c.
func (c *config) options() []option {
	policies := append([]string{standard}, presetNames()...)
	outcomes := []string{"timeout", "signal"}
	inputs, outputs := []string{"auto", "replay", "pass", "none"}, []string{"pass", "last", "success"}
	return []option{
		{name: "attempts", letter: "t", value: "N", initial: "3", common: true, help: `number of runs at most, or "unlimited"`,
			more: "For a target the default is unlimited.", set: number(&c.attempts, retry.Unlimited)},
		{name: "forever", common: true, help: "any number of runs, until the deadline", excludes: []string{"attempts"},
			more: "No wait is longer than half of the time left, so the runs go on until shortly before the deadline.", set: boolean(&c.forever)},
		{name: "base", value: "D", initial: "1s", common: true, help: "longest first wait; doubles for each further one", set: duration(&c.base, 1),
			more: "With the default rule a wait is at least half of that."},
		{name: "cap", value: "D", initial: "20s", common: true, help: "longest wait", set: duration(&c.limit, 1), more: "For a target the default is 1s."},
		{name: "rule", value: "NAME", initial: defaultRule, help: "rule for the waits", words: ruleNames[1:], set: c.setRule,
			more: "For example full, constant or exponential."},
		{name: "policy", value: "TEXT", help: "policy as text or the name of a preset", words: policies, excludes: []string{"rule", "base", "cap"},
			more: "All keys of retryconfig.Parse are valid; the flags for attempts and timeout override it.", set: str(&c.text)},
		{name: "timeout", value: "D", common: true, help: "time limit of each run", set: duration(&c.timeout, 1),
			more: "A run that exceeds it is ended and retried. For a target the default is 5s."},
		{name: "deadline", value: "D", common: true, help: "time limit of all runs and waits together", set: duration(&c.deadline, 1),
			more: "It ends the current run, and no wait begins that would end after it. For a target without --attempts and --forever the default is 1m."},
		{name: "kill-after", value: "D", initial: "5s", help: "time between TERM and KILL", set: duration(&c.grace, 0)},
		{name: "initial-delay", value: "D", help: "wait before the first run", set: duration(&c.initialDelay, 0)},
		{name: "stagger", value: "D", help: "longest random wait before the first run", set: duration(&c.stagger, 0),
			more: "It spreads jobs that begin at the same minute, and adds to --initial-delay."},
		{name: "retry-on", value: "LIST", common: true, help: "retry only these, such as 1,5-7,timeout,signal,TERM", words: outcomes,
			more: "A list of exit statuses, ranges, timeout, signal and names of signals. By default all but 126 and 127.", set: c.match.retryOn.Set},
		{name: "stop-on", value: "LIST", common: true, help: "do not retry these", words: outcomes, set: c.match.stopOn.Set, more: "Overrides --retry-on."},
		{name: "retry-on-output", value: "RE", help: "retry failed runs whose output matches", set: pattern(&c.match.retryOnOutput),
			more: "RE is a Go regular expression in which ^ and $ also match at the ends of lines. It is searched in the last 64 KiB of standard output and of standard error."},
		{name: "stop-on-output", value: "RE", help: "do not retry failed runs whose output matches", set: pattern(&c.match.stopOnOutput)},
		{name: "until", value: "LIST", initial: "0", help: "exit statuses that are success", set: c.match.until.setNumbers,
			more: "The exit status of retry is then 0."},
		{name: "while", value: "LIST", help: "exit statuses that are not success; all others are", excludes: []string{"until"}, set: c.match.while.setNumbers,
			more: "126, 127, timeouts and signals are failures even so."},
		{name: "until-output", value: "RE", common: true, help: "success only if the output matches", set: pattern(&c.match.untilOutput),
			more: "A run with status 0 and no match is retried. If it was the last, retry exits with 1."},
		{name: "while-output", value: "RE", help: "success only if the output does not match", set: pattern(&c.match.whileOutput)},
		{name: "consecutive", value: "N", initial: "1", help: "number of successes in a row that are needed", set: number(&c.consecutive, 0)},
		{name: "http-status", value: "LIST", initial: "200-399", help: "statuses that an http target must return", set: c.match.httpStatus.setNumbers,
			more: "Redirects are not followed."},
		{name: "before-retry", value: "CMD", help: "shell command to run after each wait", set: str(&c.before),
			more: "It has no input, and its output goes to standard error. If it fails, there is no further run, and retry exits with its status."},
		{name: "before-retry-may-fail", help: "go on although --before-retry has failed", set: boolean(&c.beforeMayFail)},
		{name: "on-failure", value: "CMD", common: true, help: "shell command to run when retry has given up", set: str(&c.onFailure),
			more: "RETRY_LAST_EXIT and RETRY_ATTEMPTS are set. It does not run if a signal ended retry."},
		{name: "stdin", value: "MODE", initial: "auto", common: true, help: "input of each run: auto, replay, pass or none", words: inputs, set: choice(&c.stdin, inputs),
			more: "auto rereads a file and passes a pipe on; after a failed run that has read from the pipe there is no retry. replay repeats what was read from a pipe; it ends a shell's while read loop. pass gives each run what is left. none gives no input."},
		{name: "output", value: "MODE", initial: "pass", common: true, help: "pass on all, or that of the last run or success", words: outputs, set: choice(&c.outputMode, outputs),
			more: "pass writes all output at once. last writes only the output of the successful or last run. success writes the standard output of failed runs to standard error."},
		{name: "quiet", letter: "q", common: true, help: "print nothing to standard error", set: boolean(&c.quiet)},
		{name: "verbose", letter: "v", help: "print more", set: boolean(&c.verbose), common: true},
		{name: "json", value: "FILE", help: "append a line of JSON for each run and for the whole", set: str(&c.jsonFile), common: true, more: "- is standard output."},
		{name: "help", letter: "h", help: "show the common flags", set: boolean(&c.help)},
		{name: "help-all", help: "show all flags", set: boolean(&c.helpAll)},
		{name: "version", help: "show the version", set: boolean(&c.version)},
	}
}

const prefix = "RETRY_" // of the variables that are settings

// variable returns the environment variable that sets the option, or "".
func (o option) variable() string {
	if strings.HasPrefix(o.name, "help") || o.name == "version" {
		return ""
	}
	return prefix + strings.ToUpper(strings.ReplaceAll(o.name, "-", "_"))
}

func (o option) conflicts(other option) bool {
	return slices.Contains(o.excludes, other.name) || slices.Contains(other.excludes, o.name)
}

// misspelled returns advice for variables whose names are almost those of settings. Others that
// begin with RETRY_ may be the command's.
func (c *config) misspelled(environment []string) []string {
	ours := []string{}
	for _, o := range c.options() {
		ours = append(ours, strings.TrimPrefix(o.variable(), prefix))
	}
	var advice []string
	for _, entry := range environment {
		variable, _, _ := strings.Cut(entry, "=")
		name, found := strings.CutPrefix(variable, prefix)
		if !found || len(name) < 4 || slices.Contains(ours, name) || slices.ContainsFunc(variables, func(v [2]string) bool { return v[0] == variable }) {
			continue
		}
		if meant := nearest.Name(name, ours); meant != "" {
			advice = append(advice, fmt.Sprintf("%s is not a setting; did you mean %s?", variable, prefix+meant))
		}
	}
	return advice
}

// parseFlags reads flags, the targets or the command, and the environment.
func parseFlags(args []string, getenv func(string) string) (*config, error) {
	c := newConfig()
	options := c.options()
	flags := c.flagSet(options)
	flags.SetInterspersed(false) // what follows the command's name is the command's
	err := parseArgs(flags, args, options)
	targets := flags.ArgsLenAtDash() != 0 && isTarget(flags.Arg(0))
	if err == nil && targets { // flags may follow them
		flags.SetInterspersed(true)
		err = parseArgs(flags, flags.Args(), options)
	}
	if c.args = flags.Args(); err != nil || c.help || c.helpAll || c.version {
		return c, err
	}
	if targets {
		var words []string
		words, c.args = beforeDash(flags)
		if c.targets, err = parseTargets(words); err != nil {
			return c, err
		}
	}
	return c, c.complete(options, getenv)
}

// beforeDash returns the arguments before and after --.
func beforeDash(flags *pflag.FlagSet) (before, after []string) {
	if n := flags.ArgsLenAtDash(); n >= 0 {
		return flags.Args()[:n], flags.Args()[n:]
	}
	return flags.Args(), nil
}

func newConfig() *config {
	return &config{grace: 5 * time.Second, consecutive: 1, stdin: "auto", outputMode: "pass", given: map[string]setting{}}
}

func (c *config) flagSet(options []option) *pflag.FlagSet {
	flags := pflag.NewFlagSet("retry", pflag.ContinueOnError)
	flags.Usage = func() {}
	for _, o := range options {
		define := flags.FuncP
		if o.value == "" {
			define = flags.BoolFuncP
		}
		define(o.name, o.letter, "", func(text string) error { return c.give(o, text, "--"+o.name) })
	}
	return flags
}

// parseArgs is flags.Parse with clearer errors.
func parseArgs(flags *pflag.FlagSet, args []string, options []option) error {
	err := flags.Parse(args)
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("invalid value %q for --%s: %w", wrong.GetValue(), wrong.GetFlag().Name, wrong.Unwrap())
	}
	if lacking, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value", lacking.GetFlag().Name)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := unknown.GetSpecifiedName()
	flag := "--" + name
	if letters := unknown.GetSpecifiedShortnames(); letters != "" { // name is one of them
		flag = "-" + name
		_, noNumber := strconv.Atoi(letters[1:]) // of -n30
		if len(letters) > 2 && noNumber != nil { // such as -attempts
			flag, name = "-"+letters, letters
		}
	}
	if write := elsewhere[strings.ReplaceAll(name, "_", "-")]; write != "" {
		return fmt.Errorf("unknown flag %s; write %s", flag, write)
	}
	var known []string
	for _, o := range options {
		known = append(known, "--"+o.name)
	}
	return fmt.Errorf("unknown flag %s%s", flag, or(didYouMean("--"+name, known), "; see retry --help-all"))
}

// What options of other tools mean here.
const (
	writeAttempts = "--attempts N, which includes the first run"
	writeForever  = "--forever, or --attempts N; retry runs a command until it succeeds"
	writeWaits    = `--rule constant --base 2s, or --policy "schedule delays=1s/2s/5s" for a list of waits`
	writeBase     = "--base D for the first wait"
	writeCap      = "--cap D for the longest wait"
	writeGrowth   = `--policy "exponential base=1s cap=20s factor=3"; the default rule doubles the waits`
	writeDeadline = "--deadline 1m for all runs together, or --timeout 10s for each"
	writeTimeout  = "--timeout 10m, a duration with its unit"
	writeStatuses = "--retry-on LIST for the statuses to retry, or --stop-on LIST for those not to retry"
	writeHook     = "--before-retry CMD, which runs before each further run, or --on-failure CMD, which runs at the end"
	writeNothing  = "nothing: every failure is retried unless --stop-on lists its status"
	writeShell    = "retry -- bash -o pipefail -ec 'LINE' for a line of a shell"
)

// elsewhere maps flags of other tools to what means the same here.
var elsewhere = map[string]string{
	"a": writeAttempts, "n": writeAttempts, "r": writeAttempts, "times": writeAttempts, "tries": writeAttempts, "count": writeAttempts,
	"retries": writeAttempts, "retry": writeAttempts, "max-retries": writeAttempts, "max-attempts": writeAttempts, "max-tries": writeAttempts,
	"attempt": writeAttempts, "limit": writeAttempts, "max-retry": writeAttempts,
	"retry-all-errors": writeNothing, "retry-connrefused": writeNothing, "any-error": writeNothing,
	"continue-on-error": "retry … || true in a shell",
	"until":             writeForever, "until-success": writeForever, "infinite": writeForever, "unlimited": writeForever, "always": writeForever,
	"d": writeWaits, "s": writeWaits, "delay": writeWaits, "sleep": writeWaits, "wait": writeWaits, "interval": writeWaits, "backoff": writeWaits,
	"retry-delay": writeWaits, "retry-wait-seconds": writeWaits, "wait-time": writeWaits, "polling-interval-seconds": writeWaits,
	"m": writeBase, "min": writeBase, "min-delay": writeBase, "min-wait": writeBase, "x": writeCap, "max": writeCap,
	"max-delay": writeCap, "max-wait": writeCap, "max-interval": writeCap, "max-backoff": writeCap,
	"factor": writeGrowth, "multiplier": writeGrowth, "exponent": writeGrowth, "exponential": writeGrowth,
	"max-time": writeDeadline, "retry-max-time": writeDeadline, "max-elapsed": writeDeadline,
	"timeout-minutes": writeTimeout, "timeout-seconds": writeTimeout, "attempt-timeout": writeTimeout,
	"jitter":  "--rule full or --rule equal, which have it; the default rule has it, too",
	"on-exit": writeStatuses, "exit-code": writeStatuses, "exit-codes": writeStatuses, "status": writeStatuses, "retry-on-exit-code": writeStatuses,
	"on-retry": writeHook, "on-retry-command": writeHook, "new-command-on-retry": writeHook, "on-error": writeHook, "on-fail": writeHook, "fail": writeHook,
	"shell": writeShell, "command": writeShell, "c": writeShell,
	"silent": "--quiet", "debug": "--verbose", "log": "--json FILE",
}

func (c *config) setRule(name string) error {
	switch {
	case slices.Contains([]string{"none", "off", "never", "false"}, name):
		return errors.New("write --attempts 1 for one run, or --rule no-delay for runs without waits")
	case !slices.Contains(ruleNames, name):
		return fmt.Errorf("no such rule%s", or(didYouMean(name, ruleNames), "; see retry presets"))
	}
	c.rule = name
	return nil
}

func (c *config) give(o option, text, origin string) error {
	if earlier, ok := c.given[o.name]; ok && o.value == "LIST" {
		c.given[o.name] = setting{earlier.text + "," + text, origin}
	} else {
		c.given[o.name] = setting{text, origin}
	}
	return o.set(text)
}

// fill sets the options that are neither given nor excluded by those that are.
func (c *config) fill(options []option, lookup func(option) (setting, bool)) error {
	before := maps.Clone(c.given)
	for _, o := range options {
		s, ok := lookup(o)
		_, given := before[o.name]
		excluded := slices.ContainsFunc(options, func(other option) bool { return before[other.name].origin != "" && o.conflicts(other) })
		if ok && s.text != "" && !given && !excluded {
			if err := c.give(o, s.text, s.origin); err != nil {
				return fmt.Errorf("%s=%s: %w", s.origin, s.text, err)
			}
		}
	}
	return nil
}

func (c *config) checkConflicts(options []option) error {
	for _, o := range options {
		for _, other := range o.excludes {
			if a, b := c.given[o.name].origin, c.given[other].origin; a != "" && b != "" {
				return fmt.Errorf("%s and %s cannot be combined", a, b)
			}
		}
	}
	return nil
}

// targetDefault returns the default of an option for targets, unless there is a policy or the
// rule does not have it.
func (c *config) targetDefault(o option) (setting, bool) {
	text := map[string]string{"forever": "true", "base": "100ms", "cap": "1s", "timeout": "5s", "deadline": "1m"}[o.name]
	limited := c.attempts != 0 || c.given["forever"].origin == "--forever"
	_, base, limit := ruleDefaults(c.rule, 0, 0)
	none := c.text != "" || o.name == "deadline" && limited || o.name == "base" && base == 0 || o.name == "cap" && limit == 0
	return setting{text, "default of a target"}, !none
}

// complete sets the options that are not given from the environment, and makes the policy of
// all options.
func (c *config) complete(options []option, getenv func(string) string) error {
	err := c.fill(options, func(o option) (setting, bool) {
		name := o.variable()
		return setting{getenv(name), name}, name != ""
	})
	if err := errors.Join(err, c.checkConflicts(options)); err != nil {
		return err
	}
	if c.targets != nil {
		if err := c.fill(options, c.targetDefault); err != nil {
			return err
		}
	}
	if c.text == "" {
		c.rule, c.base, c.limit = ruleDefaults(c.rule, c.base, c.limit)
		c.text = ruleText(c.rule, c.base, c.limit)
	}
	if c.policy, err = parsePolicy(c.text); err != nil {
		return err
	}
	if c.forever {
		c.attempts = retry.Unlimited
	}
	c.policy.MaxAttempts = or(c.attempts, c.policy.MaxAttempts)
	c.policy.AttemptTimeout = or(c.timeout, c.policy.AttemptTimeout)
	if c.consecutive > c.policy.Attempts() {
		return fmt.Errorf("--consecutive %d needs as many --attempts", c.consecutive)
	}
	return nil
}

// or returns a, or b if a is 0.
func or[T comparable](a, b T) T {
	var zero T
	if a == zero {
		return b
	}
	return a
}

func str(to *string) func(string) error {
	return func(text string) error { *to = text; return nil }
}

func boolean(to *bool) func(string) error {
	return func(text string) (err error) {
		if *to, err = strconv.ParseBool(text); err != nil {
			err = errors.New("must be true or false")
		}
		return err
	}
}

// number accepts whole numbers from 1 on, and "unlimited" if it stands for a number.
func number(to *int, unlimited int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		switch {
		case text == "unlimited" && unlimited != 0:
			n = unlimited
		case err != nil || n < 1:
			return errors.New("must be a whole number of at least 1")
		}
		*to = n
		return nil
	}
}

func duration(to *time.Duration, least time.Duration) func(string) error {
	return func(text string) error {
		if _, err := strconv.ParseFloat(text, 64); err == nil && text != "0" {
			return fmt.Errorf("needs a unit, as in %[1]ss or %[1]sms", text)
		}
		d, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return errors.New("must be a duration such as 50ms, 20s or 1m30s")
		case d < 0 || d < least:
			return errors.New("must be positive")
		}
		*to = d
		return nil
	}
}

func pattern(to **regexp.Regexp) func(string) error {
	return func(text string) (err error) {
		*to, err = regexp.Compile("(?m)" + text)
		return err
	}
}

func choice(to *string, known []string) func(string) error {
	return func(text string) error {
		if !slices.Contains(known, text) {
			return fmt.Errorf("must be one of %s%s", strings.Join(known, ", "), didYouMean(text, known))
		}
		*to = text
		return nil
	}
}
