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
	live     bool // count down in place
	attempts int
	started  time.Time
	deadline time.Time

	line  string // the line that the countdown is appended to
	shown int    // width of the text on the line

	json    *os.File
	written int // number of the last attempt in the JSON file
}

func newReport(c config, t *terminal) (*report, error) {
	r := &report{out: os.Stderr, verbose: c.verbose, attempts: c.policy.MaxAttempts, started: time.Now()}
	if c.quiet {
		r.out = io.Discard
	}
	r.live = !c.quiet && term.IsTerminal(2) && t.foreground()
	if c.deadline > 0 {
		r.deadline = r.started.Add(c.deadline)
	}
	if c.jsonFile != "" {
		f, err := os.OpenFile(c.jsonFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return nil, err
		}
		r.json = f
	}
	return r, nil
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

func (r *report) ticks() (<-chan time.Time, func()) {
	if !r.live {
		return nil, func() {}
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	return ticker.C, ticker.Stop
}

func (r *report) countDown(left time.Duration) { r.overwrite(r.line + "; " + r.next(left)) }

// waited replaces the countdown with the duration of the whole wait.
func (r *report) waited(d time.Duration) {
	if r.live {
		r.overwrite(fmt.Sprintf("%s; waited %v", r.line, round(d)))
		fmt.Fprintln(r.out)
		r.shown = 0
	}
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

func (r *report) prepareFailed(o *outcome) { r.say("--before-retry: %v", o) }

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
