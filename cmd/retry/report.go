package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

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

	warned map[string]bool

	json    io.Writer
	written int // number of the last attempt in the JSON file
}

func newReport(c *config, t *terminal) (*report, error) {
	r := &report{out: os.Stderr, verbose: c.verbose, attempts: c.policy.Attempts(), started: time.Now(), terminal: t, warned: map[string]bool{}}
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

func (r *report) say(format string, args ...any) {
	fmt.Fprintln(r.out, oneLine(fmt.Sprintf("retry: "+format, args...)))
}

// warn says a text once.
func (r *report) warn(text string) {
	if !r.warned[text] {
		r.warned[text] = true
		r.say("%s", text)
	}
}

func (r *report) hookFailed(flag string, o *outcome) { r.say("%s: %v", flag, o) }

// oneLine replaces line ends and other control characters, which an error may contain.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ReplaceAll(text, "\n", "; "))
}

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
	r.line = oneLine(fmt.Sprintf("retry: %s: %v", r.attemptName(o.number), o))
	if r.verbose {
		r.line += fmt.Sprintf(" after %v", round(o.took))
	}
	r.record(o, class, &wait)
	if r.github {
		// The command's output may not have ended in a newline.
		fmt.Fprintf(r.out, "\n::warning title=retry::%s; %s\n", strings.ReplaceAll(strings.TrimPrefix(r.line, "retry: "), "%", "%25"), r.next(wait))
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
		r.overwrite("; " + r.next(left))
	}
}

// stopping ends the line of the countdown before a shell writes its prompt.
func (r *report) stopping() {
	if r.shown > 0 {
		fmt.Fprintln(r.out)
		r.shown = 0
	}
}

// waited replaces the countdown with the time that has passed.
func (r *report) waited(d time.Duration) {
	if r.shown > 0 && r.terminal.foreground() {
		r.overwrite(fmt.Sprintf("; waited %v", round(d)))
		fmt.Fprintln(r.out)
	}
	r.shown = 0
}

// overwrite replaces the line on the terminal with the failure and a text, and cuts the
// failure if both do not fit, because a wrapped line cannot be replaced.
func (r *report) overwrite(text string) {
	line := r.line + text
	if width, _, err := term.GetSize(2); err == nil && width > 1 && cells(line) >= width {
		line = cut(r.line, width-1-cells("..."+text)) + "..." + text
		line = cut(line, width-1)
	}
	width := cells(line)
	fmt.Fprintf(r.out, "\r%s%s", line, strings.Repeat(" ", max(0, r.shown-width)))
	r.shown = width
}

// cells returns the most cells that a text takes on a terminal: two for each character that is
// double-width in some terminal.
func cells(text string) (n int) {
	for _, r := range text {
		n += cellsOf(r)
	}
	return n
}

func cellsOf(r rune) int {
	if r < 0x1100 {
		return 1
	}
	return 2
}

// cut returns the beginning of a text that fits into so many cells.
func cut(text string, width int) string {
	for i, r := range text {
		if width -= cellsOf(r); width < 0 {
			return text[:i]
		}
	}
	return text
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
	why := s.reason(err)
	r.encode(struct {
		Type     string  `json:"type"`
		Attempts int     `json:"attempts"`
		Seconds  float64 `json:"seconds"`
		Exit     int     `json:"exit"`
		Reason   reason  `json:"reason"`
	}{"summary", s.number, time.Since(r.started).Seconds(), status, why})
	r.setOutputs(s.number, status, why)
	elapsed := round(time.Since(r.started))
	text, because := s.explain(why, err)
	switch {
	case err != nil && o == nil:
		r.say("%s%s", text, because)
	case why == reasonPermanent && !r.verbose: // "not retried after 2s" would read as a wait
		r.say("%s: %v; %s", r.attemptName(o.number), o, text)
	case why == reasonPermanent:
		r.say("%s: %v; %s; it took %v", r.attemptName(o.number), o, text, elapsed)
	case err != nil:
		r.say("%s: %v; %s after %v%s", r.attemptName(o.number), o, text, elapsed, because)
	case r.verbose:
		r.say("%s: %s after %v", r.attemptName(o.number), text, elapsed)
	}
}

// setOutputs sets the outputs of a step of GitHub Actions.
func (r *report) setOutputs(attempts, status int, why reason) {
	name := os.Getenv("GITHUB_OUTPUT")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err == nil {
		_, err = fmt.Fprintf(f, "attempts=%d\nexit_code=%d\nreason=%s\n", attempts, status, why)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		r.say("GITHUB_OUTPUT: %v", err)
	}
}

// A reason is why retry has ended, as a word for programs.
type reason string

const (
	reasonSuccess   reason = "success"
	reasonPermanent reason = "permanent" // the failure is one that is not retried, or processes are left
	reasonAttempts  reason = "attempts"
	reasonDeadline  reason = "deadline"
	reasonElapsed   reason = "elapsed" // of the policy
	reasonBudget    reason = "budget"  // of the policy
	reasonSignal    reason = "signal"
	reasonBefore    reason = "before-retry" // that command failed
	reasonError     reason = "error"        // retry itself failed
)

func (s *session) reason(err error) reason {
	_, gaveUp := errors.AsType[*retry.Error](err)
	switch {
	case err == nil:
		return reasonSuccess
	case s.ended != 0:
		return reasonSignal
	case s.blocker != nil:
		return reasonBefore
	case !gaveUp && s.last != nil && errors.Is(err, s.last):
		return reasonPermanent
	case errors.Is(err, retry.ErrMaxAttempts), errors.Is(err, retry.ErrBackoff):
		return reasonAttempts
	case errors.Is(err, retry.ErrMaxElapsed):
		return reasonElapsed
	case errors.Is(err, retry.ErrBudget):
		return reasonBudget
	case errors.Is(err, context.DeadlineExceeded):
		return reasonDeadline
	}
	return reasonError
}

// explain returns a reason for people, and details to append.
func (s *session) explain(why reason, err error) (text, because string) {
	limit := fmt.Sprintf("the deadline of %v", s.deadline)
	switch why {
	case reasonSuccess:
		return "success", ""
	case reasonSignal:
		return "ended by " + signalName(s.ended), ""
	case reasonPermanent:
		return "not retried", ""
	case reasonAttempts:
		return "gave up", ""
	case reasonBudget:
		return "gave up", ": the budget of the policy is used up"
	case reasonBefore:
		return "gave up", fmt.Sprintf(": --before-retry: %v", s.blocker)
	case reasonElapsed:
		limit = fmt.Sprintf("elapsed=%v of the policy", s.policy.MaxElapsed)
	case reasonDeadline:
		if s.last != nil && s.last.limit != "" && s.ctx.Err() != nil {
			return "gave up", "" // the failure names the deadline
		}
	default:
		return err.Error(), ""
	}
	if gaveUp, ok := errors.AsType[*retry.Error](err); ok && gaveUp.Next > 0 {
		return "gave up", fmt.Sprintf(": a wait of %v would end after %s", round(gaveUp.Next), limit)
	}
	return "gave up", fmt.Sprintf(": %s is over", limit)
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
