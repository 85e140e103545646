package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gobackoff/retry"
)

// A session is one run of retry. It is also its policy's Clock: between attempts, it
// counts down, handles signals and reaps orphans.
type session struct {
	config
	ctx       context.Context // ends at the deadline
	processes *processes
	terminal  *terminal
	signals   chan os.Signal
	input     *input
	report    *report

	number int            // number of the current or latest attempt
	output *streams       // output of that attempt
	last   *outcome       // outcome of the latest finished attempt, or nil
	ended  syscall.Signal // the signal that ends retry; 0: none
	alone  bool           // the signal came after the command had ended
}

func run(c config) int {
	s := &session{config: c, processes: newProcesses(), terminal: openTerminal(), signals: notifySignals()}
	s.ctx = context.Background()
	if c.deadline > 0 {
		var cancel context.CancelFunc
		s.ctx, cancel = context.WithTimeout(s.ctx, c.deadline)
		defer cancel()
	}
	var err error
	if s.report, err = newReport(c, s.terminal); err != nil {
		return fail(err)
	}
	if s.input, err = newInput(os.Stdin, c.stdin, c.policy.MaxAttempts); err != nil {
		return fail(err)
	}
	policy := c.policy
	policy.Clock, policy.Classifier = s, &c.match
	policy.OnRetry = func(_ context.Context, failed retry.Attempt, wait time.Duration) {
		s.report.retrying(s.last, failed.Class, wait)
	}
	err = retry.Do(s.ctx, policy, s.attempt)
	return s.finish(err)
}

// attempt is the operation that is retried.
func (s *session) attempt(ctx context.Context) error {
	if s.output != nil { // the output of the previous attempt, which has failed
		s.output.discard()
	}
	s.number++
	s.report.starting(s.number)
	o := &outcome{number: s.number, started: time.Now(), exit: exitFailure}
	s.perform(ctx, o)
	o.took = time.Since(o.started)
	s.last = o
	if o.succeeded() {
		return nil
	}
	if s.ended == 0 && s.match.interrupted(o) {
		if s.ended = syscall.SIGINT; o.signal == syscall.SIGQUIT {
			s.ended = o.signal
		}
	}
	o.ended = s.ended != 0
	return o
}

func (s *session) perform(ctx context.Context, o *outcome) {
	stdin, feed, err := s.input.open()
	if err != nil {
		o.failure = fmt.Errorf("standard input: %w", err)
		return
	}
	defer feed.close()
	if s.output, err = openStreams(s.match.needsOutput(), s.keepOutput); err != nil {
		feed.started(stdin)
		o.failure = fmt.Errorf("standard output: %w", err)
		return
	}
	c := command{args: s.args, env: s.environment(), stdin: stdin, stdout: s.output.stdout, stderr: s.output.stderr}
	s.supervise(ctx, c, func() { feed.started(stdin); s.output.started() }, o)
	s.output.finish()
	o.stdout, o.stderr, o.broken = s.output.tails[0], s.output.tails[1], s.output.broken
	o.last = strings.Join(notEmpty(s.input.unrepeatable(), s.output.unrepeatable()), "; ")
}

func notEmpty(texts ...string) []string {
	var found []string
	for _, t := range texts {
		if t != "" {
			found = append(found, t)
		}
	}
	return found
}

func (s *session) environment() []string {
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "RETRY_ATTEMPT", "RETRY_MAX_ATTEMPTS", "RETRY_LAST_EXIT", "RETRY_DEADLINE": // set by an outer retry
		default:
			env = append(env, entry)
		}
	}
	env = append(env, "RETRY_ATTEMPT="+strconv.Itoa(s.number), "RETRY_MAX_ATTEMPTS="+attemptsText(s.policy.MaxAttempts))
	if s.last != nil {
		env = append(env, "RETRY_LAST_EXIT="+strconv.Itoa(s.last.status()))
	}
	if deadline, ok := s.ctx.Deadline(); ok {
		env = append(env, "RETRY_DEADLINE="+strconv.FormatInt(deadline.Unix(), 10))
	}
	return env
}

// limit names the time limit that ended an attempt.
func (s *session) limit() string {
	if s.ctx.Err() != nil {
		return fmt.Sprintf("deadline of %v", s.deadline)
	}
	return fmt.Sprintf("timeout of %v", s.policy.AttemptTimeout)
}

func (s *session) Now() time.Time { return time.Now() }

// Sleep waits and then runs the --before-retry command.
func (s *session) Sleep(ctx context.Context, d time.Duration) error {
	err := s.wait(ctx, d)
	s.report.waited(d)
	if err == nil && s.before != "" {
		err = s.prepare(ctx)
	}
	return err
}

func (s *session) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	end := time.Now().Add(d)
	ticks, stop := s.report.ticks()
	defer stop()
	for {
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks:
			s.report.countDown(time.Until(end))
		case <-s.processes.changed:
			s.processes.reap()
		case sig := <-s.signals:
			if isEnding(sig.(syscall.Signal)) {
				s.ended, s.alone = sig.(syscall.Signal), true
				return fmt.Errorf("%s between attempts", signalName(s.ended))
			}
			s.onIdleSignal(sig.(syscall.Signal))
		}
	}
}

// prepare runs the --before-retry command. If the command fails, the failure is
// reported but otherwise ignored.
func (s *session) prepare(ctx context.Context) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	s.number++ // for the command's environment; the attempt has not begun
	c := command{args: shell(s.before), env: s.environment(), stdin: null, stdout: os.Stderr, stderr: os.Stderr}
	s.number--
	o := &outcome{exit: exitFailure}
	s.supervise(ctx, c, func() {}, o)
	switch {
	case s.ended == 0 && s.match.interrupted(o):
		s.ended = syscall.SIGINT
	case o.succeeded():
		s.processes.spareAll()
	default:
		s.report.prepareFailed(o)
	}
	if s.ended != 0 {
		s.alone = true
		return fmt.Errorf("%s between attempts", signalName(s.ended))
	}
	return ctx.Err()
}

func (s *session) finish(err error) int {
	status := s.status(err)
	if s.output != nil {
		if broken := s.output.flush(); broken != nil && err == nil {
			err = fmt.Errorf("cannot write the output: %w", broken)
			status = exitFailure
		}
	}
	s.input.close()
	s.report.finished(s, err, status)
	if s.ended != 0 && status == exitSignal+int(s.ended) {
		dieBy(s.ended)
	}
	return status
}

func (s *session) status(err error) int {
	switch {
	case err == nil:
		return 0
	case s.ended != 0 && (s.alone || s.last.exit < 0):
		return exitSignal + int(s.ended)
	case s.last != nil:
		return s.last.status()
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	}
	return exitFailure
}
