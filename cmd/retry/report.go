package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/gobackoff/retry"
)

type report struct {
	out      io.Writer
	verbose  bool
	live     bool // count down in place while retry is in the foreground
	terminal *terminal
	github   bool // runs in a step of GitHub Actions
	attempts int
	started  time.Time
	deadline time.Time

	line  string // the line that the countdown is appended to
	shown int    // width of the text on the line

	json    io.Writer
	written int // number of the last attempt in the JSON file
}

func newReport(c *config, t *terminal) (*report, error) {
	r := &report{out: os.Stderr, verbose: c.verbose, attempts: c.policy.MaxAttempts, started: time.Now(), terminal: t}
	r.github = !c.quiet && os.Getenv("GITHUB_ACTIONS") == "true"
	if c.quiet {
		r.out = io.Discard
	}
	r.live = !c.quiet && !r.github && term.IsTerminal(2) && t.foreground()
	if c.deadline > 0 {
		r.deadline = r.started.Add(c.deadline)
	}
	var err error
	if c.jsonFile != "" {
		r.json, err = openJSON(c.jsonFile)
	}
	return r, err
}

// openJSON does not open the names of open files, such as /dev/stderr, again: on Linux that
// would give the file a second position, and one would overwrite what is written at the
// other.
func openJSON(name string) (io.Writer, error) {
	switch name {
	case "-", "/dev/stdout", "/dev/fd/1":
		return os.Stdout, nil
	case "/dev/stderr", "/dev/fd/2":
		return os.Stderr, nil
	}
	if number, ok := strings.CutPrefix(name, "/dev/fd/"); ok {
		if fd, err := strconv.Atoi(number); err == nil && fd > 2 {
			f := os.NewFile(uintptr(fd), name)
			_, err := f.Stat()
			return f, err
		}
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
}

func (r *report) say(format string, args ...any) { fmt.Fprintf(r.out, "retry: "+format+"\n", args...) }

func (r *report) attemptName(number int) string {
	if r.attempts == retry.Unlimited {
		return fmt.Sprintf("attempt %d", number)
	}
	return fmt.Sprintf("attempt %d of %d", number, r.attempts)
}

func (r *report) starting(number int) {
	if r.verbose {
		r.say("%s starts", r.attemptName(number))
	}
}

func (r *report) ending(sig syscall.Signal, grace time.Duration) {
	if r.verbose {
		r.say("ending the command with %s; killing it after %v or another Ctrl-C", signalName(sig), grace)
	}
}

func (r *report) retrying(o *outcome, class retry.Class, wait time.Duration) {
	r.line = fmt.Sprintf("retry: %s: %v", r.attemptName(o.number), o)
	if r.verbose {
		r.line += fmt.Sprintf(" after %v", round(o.took))
	}
	r.record(o, class, &wait)
	if r.github {
		escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
		fmt.Fprintf(r.out, "::warning title=retry::%s; %s\n", escape.Replace(strings.TrimPrefix(r.line, "retry: ")), r.next(wait))
		return
	}
	if r.live {
		r.countDown(wait)
		return
	}
	fmt.Fprintln(r.out, r.line+"; "+r.next(wait))
}

func (r *report) next(wait time.Duration) string {
	text := fmt.Sprintf("next in %v", round(wait))
	if !r.deadline.IsZero() {
		text += fmt.Sprintf(", deadline in %v", round(time.Until(r.deadline)))
	}
	return text
}

func (r *report) countDown(left time.Duration) {
	if r.live && r.terminal.foreground() {
		r.overwrite(r.line + "; " + r.next(left))
	}
}

// stopping ends the line of the countdown before a shell writes its prompt.
func (r *report) stopping() {
	if r.shown > 0 {
		fmt.Fprintln(r.out)
		r.shown = 0
	}
}

// waited replaces the countdown with the duration of the whole wait.
func (r *report) waited(d time.Duration) {
	if r.shown > 0 && r.terminal.foreground() {
		r.overwrite(fmt.Sprintf("%s; waited %v", r.line, round(d)))
		fmt.Fprintln(r.out)
	}
	r.shown = 0
}

// overwrite replaces the line on the terminal. It cuts the text to the terminal's width,
// because a wrapped line cannot be replaced.
func (r *report) overwrite(text string) {
	if width, _, err := term.GetSize(2); err == nil && width > 1 && utf8.RuneCountInString(text) >= width {
		text = string([]rune(text)[:width-1])
	}
	width := utf8.RuneCountInString(text)
	fmt.Fprintf(r.out, "\r%s%s", text, strings.Repeat(" ", max(0, r.shown-width)))
	r.shown = width
}

func (r *report) finished(s *session, err error, status int) {
	o := s.last
	if o != nil && r.written < o.number {
		class := retry.ClassUnknown
		if !o.succeeded() {
			class = s.match.class(o)
		}
		r.record(o, class, nil)
	}
	reason := reasonText(s, err)
	r.encode(struct {
		Type     string  `json:"type"`
		Attempts int     `json:"attempts"`
		Seconds  float64 `json:"seconds"`
		Exit     int     `json:"exit"`
		Reason   string  `json:"reason"`
	}{"summary", s.number, time.Since(r.started).Seconds(), status, reason})
	r.setOutputs(s.number, status, reason)
	elapsed := round(time.Since(r.started))
	switch {
	case err != nil && o == nil:
		r.say("%s", reason)
	case err != nil:
		r.say("%s: %v; %s after %v", r.attemptName(o.number), o, reason, elapsed)
	case r.verbose:
		r.say("%s: success after %v", r.attemptName(o.number), elapsed)
	}
}

// setOutputs sets the outputs of a step of GitHub Actions.
func (r *report) setOutputs(attempts, status int, reason string) {
	name := os.Getenv("GITHUB_OUTPUT")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err == nil {
		_, err = fmt.Fprintf(f, "attempts=%d\nexit_code=%d\nreason=%s\n", attempts, status, strings.ReplaceAll(reason, "\n", " "))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		r.say("GITHUB_OUTPUT: %v", err)
	}
}

func reasonText(s *session, err error) string {
	gaveUp, ok := errors.AsType[*retry.Error](err)
	switch {
	case err == nil:
		return "success"
	case s.ended != 0:
		return "ended by " + signalName(s.ended)
	case !ok && s.last != nil && errors.Is(err, s.last):
		return "not retried"
	case !ok:
		return err.Error()
	case errors.Is(gaveUp.Reason, retry.ErrMaxAttempts):
		return "gave up"
	case gaveUp.Next > 0:
		return fmt.Sprintf("gave up: %v (next wait %v)", gaveUp.Reason, round(gaveUp.Next))
	}
	return fmt.Sprintf("gave up: %v", gaveUp.Reason)
}

// record writes an attempt to the JSON file. For the last attempt, wait must be nil.
func (r *report) record(o *outcome, class retry.Class, wait *time.Duration) {
	r.written = o.number
	record := struct {
		Type    string    `json:"type"`
		Attempt int       `json:"attempt"`
		Start   time.Time `json:"start"`
		Seconds float64   `json:"seconds"`
		Exit    int       `json:"exit"`
		Signal  string    `json:"signal,omitempty"`
		Timeout bool      `json:"timeout,omitempty"`
		Error   string    `json:"error,omitempty"`
		Class   string    `json:"class,omitempty"`
		Wait    *float64  `json:"wait,omitempty"`
	}{Type: "attempt", Attempt: o.number, Start: o.started, Seconds: o.took.Seconds(), Exit: o.status(), Timeout: o.limit != ""}
	if o.signal != 0 {
		record.Signal = signalName(o.signal)
	}
	if !o.succeeded() {
		record.Error, record.Class = o.Error(), class.String()
	}
	if wait != nil {
		record.Wait = new(wait.Seconds())
	}
	r.encode(record)
}

// encode writes a line of JSON. After an error it writes nothing more.
func (r *report) encode(record any) {
	if r.json == nil {
		return
	}
	if err := json.NewEncoder(r.json).Encode(record); err != nil {
		r.say("--json: %v", err)
		r.json = nil
	}
}

func round(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}

func attemptsText(n int) string {
	if n == retry.Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(n)
}
