package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gobackoff/retry"
)

// A session is one run of retry.
type session struct {
	*config
	ctx       context.Context // ends at the deadline
	processes *processes
	terminal  *terminal
	signals   chan os.Signal
	input     *input
	report    *report

	number  int      // number of the current or latest attempt
	streak  int      // successes in a row
	output  *streams // output of that attempt
	written *written
	mixed   bool           // the attempt has failed, and its output is where that of the next will be
	last    *outcome       // outcome of the latest finished attempt, or nil
	blocker *outcome       // of a --before-retry command whose failure ends the run, or nil
	ended   syscall.Signal // the signal that ends retry; 0: none
	alone   bool           // the signal came after the command had ended
	tree    *process       // the command that runs, or whose processes have not been ended; nil: none
}

func run(c *config) int {
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
	if s.input, err = newInput(os.Stdin, c.stdin, c.policy.Attempts()); err != nil {
		return fail(err)
	}
	for _, advice := range c.misspelled(os.Environ()) {
		s.report.warn(advice)
	}
	s.adviseOnPipes()
	s.written = newWritten(os.Stdout)
	policy := c.policy
	if s.targets != nil {
		policy = forTargets(policy)
	}
	policy.Clock, policy.Classifier = clock{s}, &c.match
	policy.OnRetry = func(_ context.Context, failed retry.Attempt, wait time.Duration) {
		if s.input.blind && s.targets == nil {
			s.report.warn("cannot see whether the command has read piped input; the next attempt gets what is left; see --stdin")
		}
		s.report.retrying(s.last, failed.Class, wait)
	}
	if deadline, ok := s.ctx.Deadline(); ok && c.forever {
		policy.Backoff = untilDeadline(policy.Backoff, deadline)
		policy.Hint = hintUntilDeadline{or[retry.HintRule](policy.Hint, retry.HintAtLeast{}), deadline}
	}
	if wait := c.firstWait(rand.Float64()); wait > 0 {
		err = s.pause(s.ctx, wait, nil)
	}
	if err == nil {
		err = retry.Do(s.ctx, policy, s.attempt)
	}
	status := s.finish(err)
	if status == 0 && s.targets != nil && len(s.args) > 0 {
		return s.become()
	}
	return status
}

// firstWait returns the wait before the first run. u is uniform in [0, 1).
func (c *config) firstWait(u float64) time.Duration {
	return c.initialDelay + time.Duration(u*float64(c.stagger))
}

// become runs the command that follows the targets in retry's own place, without the
// policy. It returns if the command cannot be started.
func (s *session) become() int {
	signal.Reset() // a signal from now on is the command's
	select {
	case sig := <-s.signals:
		if isEnding(sig.(syscall.Signal)) {
			dieBy(sig.(syscall.Signal))
			return exitSignal + int(sig.(syscall.Signal))
		}
	default:
	}
	err := s.processes.become(s.args)
	status, _ := startFailure(err)
	fail(notStarted(s.args[0], err))
	return status
}

// untilDeadline shortens waits to half of the time left, so that attempts go on until shortly
// before the deadline.
func untilDeadline(b retry.Backoff, deadline time.Time) retry.Backoff {
	rule := retry.Capped{Of: b} // nil, policy standard, is the default rule
	return retry.BackoffFunc(func(a retry.Attempt, u float64) time.Duration {
		return halved(rule.Delay(a, u), deadline)
	})
}

// hintUntilDeadline does the same to the waits that the server of a target asks for.
type hintUntilDeadline struct {
	rule     retry.HintRule
	deadline time.Time
}

func (h hintUntilDeadline) Wait(delay, hint time.Duration) (time.Duration, bool) {
	wait, follows := h.rule.Wait(delay, hint)
	return halved(wait, h.deadline), follows
}

func halved(wait time.Duration, deadline time.Time) time.Duration {
	const shortest = 50 * time.Millisecond // for the wait, and for the attempt after it
	half := time.Until(deadline) / 2
	if half < shortest {
		return wait
	}
	return min(wait, half)
}

// attempt is the operation that is retried.
func (s *session) attempt(ctx context.Context) error {
	s.discard()
	s.number++
	s.report.starting(s.number)
	o := &outcome{number: s.number, started: time.Now(), exit: exitFailure}
	if s.targets != nil {
		s.probe(ctx, o)
	} else {
		s.perform(ctx, o)
	}
	if o.limit != "" || o.failure != nil {
		s.streak = 0
	}
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
	if s.output, err = openStreams(s.match.needsOutput(), s.outputMode != "pass"); err != nil {
		feed.started(stdin)
		o.failure = fmt.Errorf("standard output: %w", err)
		return
	}
	c := command{args: s.args, env: s.environment(), stdin: stdin, stdout: s.output.stdout, stderr: s.output.stderr}
	s.written.more() // what retry itself has written there is not the command's
	s.supervise(ctx, c, func() { feed.started(stdin); s.output.started() }, s.judge, o)
	s.collect(o)
	o.last = strings.Join(notEmpty(s.input.unrepeatable(), s.output.unrepeatable(), s.doubled(o)), "; ")
}

// doubled returns why the output of the next attempt must not follow that of a failed one, or
// "". A command that reads it, such as psql or tar, would act on a part, and then on the whole.
// The output of a run whose condition is not met is whole.
func (s *session) doubled(o *outcome) string {
	_, chosen := s.given["output"]
	s.mixed = !o.succeeded() && s.outputMode == "pass" && !chosen && s.written.more()
	if s.mixed && o.unmet == "" && o.number < s.policy.Attempts() && readByCommand() {
		return "another command has its output; see --output success"
	}
	return ""
}

// collect completes the output of an attempt.
func (s *session) collect(o *outcome) {
	s.unlessStuck(s.output.finish)
	o.stdout, o.stderr, o.broken = s.output.tails[0], s.output.tails[1], s.output.broken
}

// unlessStuck calls write, which waits for the reader of the output. If the reader does not read,
// a signal must end retry all the same: after the grace, or when another one comes.
func (s *session) unlessStuck(write func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		write()
	}()
	var late <-chan time.Time
	for {
		if s.ended != 0 && late == nil {
			late = time.After(s.grace)
		}
		select {
		case <-over:
			return
		case <-late:
			s.die()
		case sig := <-s.signals:
			switch sig := sig.(syscall.Signal); {
			case !isEnding(sig):
				s.onIdleSignal(sig)
			case s.ended != 0:
				s.die()
			default:
				s.ended, s.alone = sig, true
			}
		}
	}
}

// die ends retry although its output has not been read.
func (s *session) die() {
	if s.tree != nil {
		s.tree.end(syscall.SIGTERM)
	}
	dieBy(s.ended)
	os.Exit(exitSignal + int(s.ended))
}

// judge sets whether the attempt has met the conditions, if its command has ended on its own.
func (s *session) judge(o *outcome) {
	if s.match.conditionOnOutput() {
		s.collect(o)
	}
	s.count(o, s.match.met(o))
}

// count counts successes in a row. A success before the last is not the end.
func (s *session) count(o *outcome, met bool) {
	s.streak++
	switch {
	case !met:
		s.streak = 0
		if o.code() == 0 {
			o.unmet = "exit 0, but the condition is not met"
		}
	case s.streak < s.consecutive:
		o.unmet = fmt.Sprintf("success %d of %d in a row", s.streak, s.consecutive)
	default:
		o.met = true
	}
}

// discard ends the output of an attempt that has failed.
func (s *session) discard() {
	switch {
	case s.output == nil:
	case s.mixed:
		s.report.warn("the output of the failed run stays in front of that of the next; --output success writes only that of a successful run")
	case s.outputMode == "success":
		s.output.stdoutTo = os.Stderr
		_ = s.output.flush()
	default:
		s.output.discard()
	}
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
		case "RETRY_ATTEMPT", "RETRY_MAX_ATTEMPTS", "RETRY_LAST_EXIT", "RETRY_DEADLINE_AT": // set by an outer retry
		default:
			env = append(env, entry)
		}
	}
	env = append(env, "RETRY_ATTEMPT="+strconv.Itoa(s.number), "RETRY_MAX_ATTEMPTS="+attemptsText(s.policy.Attempts()))
	if s.last != nil {
		env = append(env, "RETRY_LAST_EXIT="+strconv.Itoa(s.last.status()))
	}
	if deadline, ok := s.ctx.Deadline(); ok {
		env = append(env, "RETRY_DEADLINE_AT="+strconv.FormatInt(deadline.Unix(), 10))
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

// A clock waits between the attempts of a session. During a wait, it counts down, handles
// signals and reaps orphans.
type clock struct{ *session }

func (clock) Now() time.Time      { return time.Now() }
func (clock) Unwrap() retry.Clock { return retry.SystemClock{} }

// Sleep waits and then runs the --before-retry command.
func (s clock) Sleep(ctx context.Context, d time.Duration) error {
	began := time.Now()
	err := s.pause(ctx, d, s.report.countDown)
	s.report.waited(time.Since(began))
	if err == nil && s.before != "" {
		s.number++ // for the command's environment; the attempt has not begun
		err = s.prepare(ctx)
		s.number--
	}
	return err
}

// prepare runs the --before-retry command. If that fails, the next attempt does not begin, because
// it could do something else than is meant: after a rebase with a conflict, git push succeeds and
// pushes nothing.
func (s *session) prepare(ctx context.Context) error {
	const flag = "--before-retry"
	o := s.hook(ctx, s.before)
	switch {
	case s.ended != 0:
		return endedBetween(s.ended)
	case o.succeeded():
		return ctx.Err()
	case ctx.Err() != nil:
		s.report.hookFailed(flag, o)
		return ctx.Err()
	case s.beforeMayFail:
		s.report.hookFailed(flag, o)
		return nil
	}
	s.blocker = o
	return fmt.Errorf("%s: %w", flag, o)
}

func endedBetween(sig syscall.Signal) error {
	return fmt.Errorf("%s between attempts", signalName(sig))
}

// pause waits for d. It calls tick, unless tick is nil, with the time left.
func (s *session) pause(ctx context.Context, d time.Duration, tick func(time.Duration)) error {
	over := make(chan struct{})
	timer := time.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	end := time.Now().Add(d)
	var ticks <-chan time.Time
	if tick != nil {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		ticks = ticker.C
	}
	return s.await(ctx, over, ticks, func() { tick(max(0, time.Until(end))) })
}

// await waits until a channel is closed, while no command runs.
func (s *session) await(ctx context.Context, over <-chan struct{}, ticks <-chan time.Time, tick func()) error {
	for {
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks:
			tick()
		case <-s.processes.changed:
			s.processes.reap()
		case sig := <-s.signals:
			if isEnding(sig.(syscall.Signal)) {
				s.ended, s.alone = sig.(syscall.Signal), true
				return endedBetween(s.ended)
			}
			s.onIdleSignal(sig.(syscall.Signal))
		}
	}
}

// hook runs the shell command of a flag. It sets s.ended if a signal has ended the command.
func (s *session) hook(ctx context.Context, line string, env ...string) *outcome {
	o := &outcome{exit: exitFailure}
	null, err := os.Open(os.DevNull)
	if err != nil {
		o.failure = err
		return o
	}
	defer null.Close()
	c := command{args: shell(line), env: append(s.environment(), env...), stdin: null, stdout: os.Stderr, stderr: os.Stderr}
	s.supervise(ctx, c, func() {}, func(o *outcome) { o.met = o.code() == 0 }, o)
	switch {
	case s.ended == 0 && s.match.interrupted(o):
		s.ended = syscall.SIGINT
	case o.succeeded() || o.survivors != nil: // what is left is not the next attempt's
		s.processes.spareAll()
	}
	if s.ended != 0 {
		s.alone = true
	}
	return o
}

func (s *session) finish(err error) int {
	status := s.status(err)
	if s.output != nil {
		if err != nil && s.outputMode == "success" {
			s.output.stdoutTo = os.Stderr
		}
		var broken error
		s.unlessStuck(func() { broken = s.output.flush() })
		if broken != nil && err == nil {
			err = fmt.Errorf("cannot write the output: %w", broken)
			status = exitFailure
		}
	}
	s.input.close()
	s.report.finished(s, err, status)
	if err != nil && s.ended == 0 && s.onFailure != "" {
		o := s.hook(context.Background(), s.onFailure, "RETRY_LAST_EXIT="+strconv.Itoa(status), "RETRY_ATTEMPTS="+strconv.Itoa(s.number))
		switch {
		case s.ended != 0: // a signal ended the command
			status = s.status(err)
		case !o.succeeded():
			s.report.hookFailed("--on-failure", o)
		}
	}
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
	case s.blocker != nil:
		return s.blocker.status()
	case s.last != nil:
		return s.last.status()
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	}
	return exitFailure
}
