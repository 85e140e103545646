package retry_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// ended returns the error of a call that gave up.
func ended(p retry.Policy, err error) error {
	p.Clock = &retrytest.Clock{}
	return retry.Do(context.Background(), p, func(context.Context) error { return err })
}

// tooLong returns the failure of an attempt that exceeded its AttemptTimeout.
func tooLong(t *testing.T) (failure error) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Policy{AttemptTimeout: time.Second, MaxAttempts: retry.NoRetry}
		p.OnGiveUp = func(_ context.Context, e *retry.Error) { failure = e.Err }
		assert.Error(t, retry.Do(t.Context(), p, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}))
	})
	return failure
}

// TestExplain: each answer names what has decided, and what to write.
func TestExplain(t *testing.T) {
	errGone := errors.New("order is gone")
	veto := retry.Policy{Backoff: retry.BackoffFunc(func(retry.Attempt, float64) time.Duration { return -1 })}
	inner := ended(retry.Policy{}, statusedError(503))
	notFound := wrapped(statusedError(404))
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	ask := func(ctx context.Context) error {
		return retry.Do(ctx, retry.Policy{}, func(context.Context) error { return errOp })
	}
	canceled, cancelNow := context.WithCancel(t.Context())
	cancelNow()
	for name, tt := range map[string]struct {
		policy retry.Policy
		err    error
		want   string // lines that the answer has, in this order
	}{
		"a plain error": {retry.Policy{}, errGone, `
			error:   order is gone
			retried: yes, after 0s to 50ms
			class:   unknown, because no rule knows the error; this counts as transient
			read in: "order is gone"
			change:  return retry.Permanent(err) from the operation or, for a variable, Policy.Classifier = retry.PermanentIf(ErrX)
			policy:  backoff=standard attempts=3`},
		"a status": {retry.Policy{}, notFound, `
			retried: no, permanent failure
			class:   permanent, because of the status or code of the response
			read in: retry_test.statusedError, with code 404
			change:  Policy.Classifier = retry.Codes{Retry: []string{"404"}}`},
		"a status that is retried": {retry.Policy{}, statusedError(503), `
			change:  Policy.Classifier = retry.Codes{Stop: []string{"503"}}`},
		"an unknown status": {retry.Policy{}, statusedError(451), `
			class:   unknown, because no rule knows the error; this counts as transient
			read in: retry_test.statusedError, with code 451`},
		"throttling": {retry.Policy{}, statusedError(429), `
			retried: yes, after 0s to 1s
			class:   throttled, because of a status, code or type of throttling`},
		"a hint": {retry.Policy{}, retry.After(statusedError(429), 30*time.Second), `
			retried: yes, after 30s to 33s; the server asks for 30s`},
		"a hint that is too long": {retry.Policy{Hint: retry.HintOrGiveUp{Max: time.Second}}, retry.After(errOp, time.Minute), `
			retried: no, server asks for too long a wait
			change:  raise Max of Policy.Hint`},
		"a marker": {retry.Policy{}, wrapped(retry.Permanent(errOp)), `
			class:   permanent, because of the marker retry.Permanent
			read in: "operation failed"
			change:  remove the marker, or return retry.Transient(err) from the operation`},
		"a marker around a status": {retry.Policy{}, retry.Permanent(statusedError(404)), `
			change:  in the policy of a retryhttp client: Policy.Classifier = retry.Codes{Retry: []string{"404"}}. Elsewhere: remove the marker, or return retry.Transient(err) from the operation`},
		"a verdict": {retry.Policy{}, retry.WithVerdict(errOp, retry.Verdict{Class: permanent}), `
			class:   permanent, because of the marker retry.WithVerdict`},
		"a variable": {retry.Policy{}, wrapped(sql.ErrNoRows), `
			class:   permanent, because of the type or variable of the error
			read in: "sql: no rows in result set"
			change:  return retry.Transient(err) from the operation`},
		"a file": {retry.Policy{}, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, `
			class:   permanent, because of the type or variable of the error
			read in: "file does not exist"`},
		"a connection": {retry.Policy{}, wrapped(&net.OpError{Op: "dial", Err: io.EOF}), `
			class:   transient, because of a connection that was refused or lost, or a host that is unknown
			read in: *net.OpError`},
		"a method": {retry.Policy{}, wrapped(retryableError{false}), `
			class:   permanent, because of a method of the error, such as Retryable
			read in: retry_test.retryableError`},
		"a cancellation": {retry.Policy{}, wrapped(context.Canceled), `
			class:   permanent, because of a context.Canceled that is not of the call's own context
			read in: "context canceled"
			change:  return the failure because of which it was canceled, or retry.Transient(err), from the operation`},
		"an attempt that is too long": {retry.Policy{MaxAttempts: 1}, tooLong(t), `
			class:   timeout, because of the AttemptTimeout of the policy, which ended the attempt
			read in: context.deadlineExceededError`},
		"a limit that is used up": {retry.Policy{}, &retry.Error{Reason: fmt.Errorf("used up: %w", retry.ErrHint), Next: time.Minute}, `
			retried: no, gave up before the first attempt (used up: server asks for too long a wait, next wait 1m0s)
			change:  make the call again after 1m0s`},
		"a text of two lines": {retry.Policy{}, errors.Join(errGone, errOp), `
			error:   order is gone; operation failed
			retried: yes`},
		"PermanentIf": {retry.Policy{Classifier: retry.PermanentIf(errGone)}, wrapped(errGone), `
			class:   permanent, because of Policy.Classifier, a retry.permanentIf; retry.DefaultClassifier says unknown
			read in: "order is gone"`},
		"Codes": {retry.Policy{Classifier: retry.Codes{Stop: []string{"503"}}}, statusedError(503), `
			class:   permanent, because of Policy.Classifier, a retry.Codes; retry.DefaultClassifier says transient
			change:  Policy.Classifier = retry.Codes{Retry: []string{"503"}, Else: policy.Classifier}`},
		"unrepeatable": {retry.Policy{}, retry.Unrepeatable(statusedError(503)), `
			retried: no, not safe to repeat
			class:   transient, because of the status or code of the response; unrepeatable
			change:  what the text of the error names; or, if a second execution does no harm, return retry.Transient(err) from the operation`},
		"one attempt": {retry.Policy{MaxAttempts: 1}, errOp, `
			retried: no, all attempts used
			change:  raise Policy.MaxAttempts`},
		"a veto": {veto, errOp, `
			retried: no, backoff allows no further attempt
			change:  set a Policy.Backoff that returns no negative delay`},
		"a call that gave up": {retry.Policy{}, wrapped(ended(retry.Policy{}, errOp)), `
			retried: no, gave up after 3 attempts (all attempts used)
			class:   unknown
			change:  raise Policy.MaxAttempts`},
		"its time was over": {retry.Policy{MaxElapsed: time.Second}, ended(retry.Policy{MaxElapsed: time.Second}, retry.After(errOp, time.Minute)), `
			retried: no, gave up after 1 attempt (time limit of the policy, next wait 1m0s)
			change:  raise Policy.MaxElapsed`},
		"its budget refused": {retry.Policy{}, ended(retry.Policy{Backoff: retry.Constant(2 * ms), Budget: &awspreset.TokenBudget{Capacity: 1}}, errOp), `
			retried: no, gave up after 1 attempt (client-side retry budget used up, next wait 2ms)
			change:  nothing if somebody waits: Policy.Budget refuses because many calls fail. For a fixed number of workers, Policy.Budget = retry.NoBudget{} and a MaxElapsed`},
		"its deadline was near": {retry.Policy{}, ask(expired), `
			retried: no, gave up before the first attempt (context deadline exceeded)
			change:  give the call's context a later deadline`},
		"it was canceled": {retry.Policy{}, ask(canceled), `
			change:  nothing: the call's context was canceled`},
		"it was refused": {retry.Policy{}, ended(retry.Policy{MaxAttempts: -1}, errOp), `
			retried: no, permanent failure
			class:   permanent, because the call or the policy is invalid
			change:  what the text of the error says is invalid: Policy.Validate checks a policy`},
		"its limiter failed": {retry.Policy{}, &retry.Error{Reason: errOp}, `
			change:  the Limiter or the Clock of the policy, which failed`},
		"an inner call, marked": {retry.Policy{}, retry.Transient(inner), `
			retried: yes
			class:   transient, because of the marker retry.Transient`},
		"another library's loop": {retry.Policy{}, retry.WithVerdict(errOp, retry.Verdict{Class: transient, GaveUp: true}), `
			retried: no, permanent failure
			change:  allow the loop inside the operation more attempts`},
	} {
		t.Run(name, func(t *testing.T) {
			got := retry.Explain(tt.policy, tt.err)
			rest := got
			for line := range strings.Lines(tt.want) {
				line = strings.TrimSpace(line)
				_, after, found := strings.Cut(rest, line)
				assert.True(t, found, "%s\nis not in\n%s", line, got)
				rest = after
			}
		})
	}
	assert.Empty(t, retry.Explain(retry.Policy{}, nil))
}

// The errors and policies that checkExplained is about.
var (
	explainedLeaves = []error{errOp, io.EOF, sql.ErrNoRows, fs.ErrNotExist, context.Canceled, context.DeadlineExceeded, retry.ErrInvalid,
		statusedError(200), statusedError(404), statusedError(409), statusedError(429), statusedError(451), statusedError(503), codedError{"SlowDown"}, sqlError{"40001"},
		retryableError{false}, &net.OpError{Op: "dial", Err: io.EOF}, &net.DNSError{IsNotFound: true},
		errors.Join(errOp, context.Canceled), errors.Join(io.EOF, context.Canceled), ended(retry.Policy{MaxAttempts: 2}, statusedError(503)),
		&retry.Error{Reason: retry.ErrBudget}}
	explainedLayers = []func(error) error{
		wrapped, retry.Permanent, retry.Transient, retry.Throttled, retry.Unrepeatable, retry.Progress,
		func(err error) error { return retry.After(err, time.Second) },
		func(err error) error { return retry.After(err, time.Hour) },
		func(err error) error { return retry.WithVerdict(err, retry.Verdict{Class: retry.ClassTimeout}) },
		func(err error) error { return retry.WithVerdict(err, retry.Verdict{GaveUp: true}) },
		func(err error) error { return errors.Join(errOp, err) },
	}
	explainedPolicies = []retry.Policy{{}, {MaxAttempts: 1}, {MaxElapsed: time.Minute}, {Backoff: retry.Schedule{}},
		{Hint: retry.HintOrGiveUp{Max: time.Minute}}, {Hint: retry.HintIgnore{}},
		{Classifier: retry.PermanentIf(errOp)}, {Classifier: retry.Codes{Retry: []string{"404"}, Stop: []string{"503"}}},
		{Classifier: retry.OnlyIf(nil)}, {Classifier: awspreset.Classifier{}}}
)

// checkExplained checks what Explain says about err against what Do does. After that, it obeys the
// line that says what to change. If there are several obstacles, such as a status and a policy of
// one attempt, there is one line for each.
func checkExplained(t *testing.T, p retry.Policy, err error) {
	t.Helper()
	text := retry.Explain(p, err)
	retried, result := isRetried(p, err)
	assert.Equal(t, retried, strings.Contains(text, "\nretried: yes, "), "%v\n%s", err, text)
	if !strings.Contains(text, "before the first attempt") {
		assert.Contains(t, text, "\nclass:   "+p.Classify(err).Class.String(), "%v", err)
	}
	if result != nil {
		text = retry.Explain(p, result)
		assert.Contains(t, text, "\nretried: no, ", "%v", err)
	}
	if _, inner := errors.AsType[*retry.Error](err); inner {
		return // the lines are about the policy of the inner call
	}
	now := retried
	for range 3 {
		_, change, _ := strings.Cut(text, "change:  ")
		changed, returned, isLine := obey(t, p, err, change)
		if !isLine {
			return
		}
		p, err = changed, returned
		now, _ = isRetried(p, err)
		if now != retried {
			return
		}
		text = retry.Explain(p, err)
	}
	assert.Fail(t, "the lines have not changed what happens", "%v\n%s", err, text)
}

// isRetried reports whether Do retries err, and returns its error if it does not.
func isRetried(p retry.Policy, err error) (retried bool, result error) {
	calls := 0
	p.Clock = &retrytest.Clock{}
	result = retry.Do(context.Background(), p, func(context.Context) error {
		calls++
		if calls > 1 { // Progress would go on
			return nil
		}
		return err
	})
	return calls > 1, result
}

var (
	codesLine  = regexp.MustCompile(`^Policy\.Classifier = retry\.Codes\{(Retry|Stop): \[\]string\{"(\w+)"\}(, Else: policy\.Classifier)?\}\n`)
	markerLine = regexp.MustCompile(`\bretry\.(Transient|Permanent)\(err\)`)
)

// obey changes the policy, or the error that the operation returns, as a line says. It reports
// whether the line says how.
func obey(t *testing.T, p retry.Policy, err error, line string) (retry.Policy, error, bool) {
	t.Helper()
	codes, marker := codesLine.FindStringSubmatch(line), markerLine.FindStringSubmatch(line)
	switch {
	case codes != nil:
		lists := map[string][]string{codes[1]: {codes[2]}}
		c := retry.Codes{Retry: lists["Retry"], Stop: lists["Stop"]}
		assert.Equal(t, p.Classifier != nil, codes[3] != "")
		if codes[3] != "" {
			c.Else = p.Classifier
		}
		p.Classifier = c
	case marker != nil && marker[1] == "Transient":
		err = retry.Transient(err)
	case marker != nil:
		err = retry.Permanent(err)
	case strings.HasPrefix(line, "raise Policy.MaxAttempts"):
		p.MaxAttempts = 9
	case strings.HasPrefix(line, "raise Max of Policy.Hint"):
		p.Hint = retry.HintOrGiveUp{Max: 24 * time.Hour}
	case strings.HasPrefix(line, "raise Policy.MaxElapsed"):
		p.MaxElapsed = 24 * time.Hour
	default:
		return p, err, false
	}
	return p, err, true
}

// TestExplainAgrees: Explain says what Do does, of errors in up to two layers of markers and others.
func TestExplainAgrees(t *testing.T) {
	for i, p := range explainedPolicies {
		for _, leaf := range explainedLeaves {
			checkExplained(t, p, leaf)
			for _, one := range explainedLayers {
				checkExplained(t, p, one(leaf))
				if i != 0 {
					continue
				}
				for _, two := range explainedLayers {
					checkExplained(t, p, two(one(leaf)))
				}
			}
		}
	}
}

// FuzzExplain: with any layers around the error, too.
func FuzzExplain(f *testing.F) {
	f.Add(uint8(0), uint8(0), []byte{1, 3, 6, 10})
	f.Add(uint8(4), uint8(11), []byte{7, 10, 5, 9, 1})
	f.Add(uint8(7), uint8(20), []byte{8, 4, 10, 2})
	f.Fuzz(func(t *testing.T, policy, leaf uint8, layers []byte) {
		err := explainedLeaves[int(leaf)%len(explainedLeaves)]
		for _, layer := range layers[:min(len(layers), 12)] {
			err = explainedLayers[int(layer)%len(explainedLayers)](err)
		}
		checkExplained(t, explainedPolicies[int(policy)%len(explainedPolicies)], err)
	})
}

// TestExplainKeepsSecrets: a log of the answer has no credentials of a URL.
func TestExplainKeepsSecrets(t *testing.T) {
	err := &url.Error{Op: "Get", URL: "https://user:secret@host/?token=secret", Err: errOp}
	assert.NotContains(t, retry.Explain(retry.Policy{}, err), "secret")
	assert.NotContains(t, retry.Explain(retry.Policy{}, ended(retry.Policy{}, err)), "secret")
}
