package retry_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

func TestMarkers(t *testing.T) {
	s := time.Second
	tests := []struct {
		name string
		err  error
		want retry.Class
		hint time.Duration
	}{
		{"permanent", retry.Permanent(errOp), retry.ClassPermanent, 0},
		{"permanent inside", wrapped(retry.Permanent(errOp)), retry.ClassPermanent, 0},
		{"permanent in a tree", errors.Join(errOp, wrapped(retry.Permanent(errOp))), retry.ClassPermanent, 0},
		{"transient", retry.Transient(statusedError(404)), retry.ClassTransient, 0},
		{"throttled", wrapped(retry.Throttled(statusedError(404))), retry.ClassThrottled, 0},
		{"after keeps the class", retry.After(statusedError(429), s), retry.ClassThrottled, s},
		{"after retries a permanent status", retry.After(statusedError(404), s), retry.ClassTransient, s},
		{"after of a plain error", retry.After(errOp, s), retry.ClassUnknown, s},
		{"after 0", retry.After(statusedError(404), 0), retry.ClassTransient, 0},
		{"after 0 around a hint of its own", retry.After(retryAfter(s), 0), retry.ClassUnknown, 0},
		{"after 0 around after", retry.After(retry.After(errOp, s), 0), retry.ClassUnknown, 0},
		{"after 0 inside a hint", hintedError{s, retry.After(errOp, 0)}, retry.ClassUnknown, 0},
		{"a nil pointer that cannot unwrap", (*url.Error)(nil), retry.ClassUnknown, 0},
		{"after a negative time", retry.After(errOp, -s), retry.ClassUnknown, 0},
		{"the outermost class", retry.Transient(retry.Permanent(errOp)), retry.ClassTransient, 0},
		{"the outermost class again", retry.Permanent(retry.Throttled(errOp)), retry.ClassPermanent, 0},
		{"the outermost hint", retry.After(retry.After(errOp, s), 2*s), retry.ClassUnknown, 2 * s},
		{"a class and a hint", retry.Throttled(retry.After(errOp, s)), retry.ClassThrottled, s},
		{"transient and a hint", retry.Transient(retry.After(errOp, s)), retry.ClassTransient, s},
		{"a hint and a class", retry.After(retry.Throttled(errOp), s), retry.ClassThrottled, s},
		{"a hint overrides permanent inside", retry.After(wrapped(retry.Permanent(errOp)), s), retry.ClassUnknown, s},
		{"a hint overrides a give-up", retry.After(errors.Join(&retry.Error{Err: errOp, Reason: retry.ErrBudget}, errOp), s), retry.ClassUnknown, s},
		{"a marker inside a give-up", &retry.Error{Err: retry.Throttled(errOp), Reason: retry.ErrBudget}, retry.ClassThrottled, 0},
		{"a hint inside a give-up", &retry.Error{Err: retry.After(errOp, s), Reason: retry.ErrHint}, retry.ClassUnknown, s},
		{"a give-up beside a marker", errors.Join(&retry.Error{Err: errOp, Reason: retry.ErrBudget}, retry.Transient(errOp)), retry.ClassTransient, 0},
		{"an error without a hint around one with a hint", hintedError{0, retry.After(errOp, s)}, retry.ClassUnknown, s},
		{"a marker inside an error with a hint", hintedError{time.Second, retry.Permanent(errOp)}, retry.ClassPermanent, s},
		{"a hint does not override permanent outside", retry.Permanent(retry.After(errOp, s)), retry.ClassPermanent, s},
		{"an error's own hint", wrapped(retryAfter(s)), retry.ClassUnknown, s},
		{"a negative hint of the error", retryAfter(-s), retry.ClassUnknown, 0},
		{"a marker's hint around the error's hint", retry.After(retryAfter(s), 2*s), retry.ClassUnknown, 2 * s},
		{"a half-built hint", brokenError{errOp}, retry.ClassUnknown, 0},
		{"no marker", statusedError(404), retry.ClassPermanent, 0},
		{"a plain error", errOp, retry.ClassUnknown, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := failed(t, nil, tt.err)
			assert.Equal(t, tt.want, a.Class)
			assert.Equal(t, tt.hint, a.Hint)
		})
	}
}

// TestMarkUnrepeatable: a marked error keeps its class.
func TestMarkUnrepeatable(t *testing.T) {
	s := time.Second
	for _, tt := range []struct {
		name         string
		err          error
		class        retry.Class
		unrepeatable bool
	}{
		{"keeps the class", retry.Unrepeatable(statusedError(429)), retry.ClassThrottled, true},
		{"inside another error", wrapped(retry.Unrepeatable(errOp)), retry.ClassUnknown, true},
		{"in a tree", errors.Join(errOp, retry.Unrepeatable(errOp)), retry.ClassUnknown, true},
		{"around a class", retry.Unrepeatable(retry.Throttled(errOp)), retry.ClassThrottled, true},
		{"around after", retry.Unrepeatable(retry.After(statusedError(404), s)), retry.ClassTransient, true},
		{"inside transient", retry.Transient(retry.Unrepeatable(errOp)), retry.ClassTransient, false},
		{"inside after", retry.After(retry.Unrepeatable(errOp), s), retry.ClassUnknown, true},
		{"inside after 0", retry.After(retry.Unrepeatable(errOp), 0), retry.ClassUnknown, true},
		{"inside after and transient", retry.After(retry.Transient(retry.Unrepeatable(errOp)), s), retry.ClassTransient, false},
		{"inside throttled", retry.Throttled(retry.Unrepeatable(errOp)), retry.ClassThrottled, false},
		{"found inside after", retry.After(errors.New("invalid connection"), s), retry.ClassTransient, true},
		{"of a permanent status", retry.Unrepeatable(statusedError(404)), retry.ClassPermanent, true},
		{"inside a give-up", &retry.Error{Err: retry.Unrepeatable(errOp), Reason: retry.ErrUnrepeatable}, retry.ClassUnknown, true},
		{"the reason of a give-up", &retry.Error{Err: errOp, Reason: retry.ErrUnrepeatable}, retry.ClassUnknown, true},
		{"no marker", errOp, retry.ClassUnknown, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := failed(t, nil, tt.err)
			assert.Equal(t, tt.class, a.Class)
			assert.Equal(t, tt.unrepeatable, a.Unrepeatable)
		})
	}
	assert.Equal(t, s, failed(t, nil, retry.Unrepeatable(retry.After(errOp, s))).Hint)
}

// TestGiveUpHidesProgress: an inner call's progress does not count for the outer one.
func TestGiveUpHidesProgress(t *testing.T) {
	gaveUp := &retry.Error{Err: retry.Progress(errOp), Reason: retry.ErrMaxAttempts}
	assert.False(t, retry.Policy{}.Classify(gaveUp).Progress)
	assert.True(t, retry.Policy{}.Classify(retry.Progress(gaveUp)).Progress)
}

// TestGaveUp: a verdict tells that an inner loop gave up, and what its last failure means.
func TestGaveUp(t *testing.T) {
	s := time.Second
	gaveUp := func(err, reason error) error {
		return fmt.Errorf("inner: %w", &retry.Error{Err: err, Reason: reason})
	}
	loop := &retry.Error{Reason: retry.ErrMaxAttempts}
	loop.Err = loop
	shutdown := fmt.Errorf("%w: %w", context.Canceled, errors.New("shutdown"))
	for name, tt := range map[string]struct {
		err  error
		want retry.Verdict
	}{
		"unknown":                            {gaveUp(errOp, retry.ErrMaxAttempts), retry.Verdict{GaveUp: true}},
		"transient":                          {gaveUp(statusedError(503), retry.ErrBudget), retry.Verdict{Class: transient, GaveUp: true}},
		"throttled, for too long":            {gaveUp(retry.After(statusedError(429), s), retry.ErrHint), retry.Verdict{Class: throttled, Hint: s, GaveUp: true}},
		"permanent, but retried by the loop": {gaveUp(statusedError(404), retry.ErrMaxAttempts), retry.Verdict{Class: permanent, GaveUp: true}},
		"timeout":                            {gaveUp(context.DeadlineExceeded, context.DeadlineExceeded), retry.Verdict{Class: timeout, GaveUp: true}},
		"canceled":                           {gaveUp(wrapped(context.Canceled), shutdown), retry.Verdict{Class: transient, GaveUp: true}},
		"unknown as it was canceled":         {gaveUp(errOp, shutdown), retry.Verdict{GaveUp: true}},
		"before the first attempt":           {gaveUp(nil, shutdown), retry.Verdict{GaveUp: true}},
		"unrepeatable":                       {gaveUp(errLost, retry.ErrUnrepeatable), retry.Verdict{Class: transient, Unrepeatable: true, GaveUp: true}},
		"twice":                              {gaveUp(gaveUp(statusedError(503), retry.ErrBudget), retry.ErrMaxAttempts), retry.Verdict{Class: transient, GaveUp: true}},
		"in itself":                          {loop, retry.Verdict{GaveUp: true}},
		"beside a permanent failure":         {errors.Join(gaveUp(errOp, retry.ErrBudget), statusedError(404)), retry.Verdict{GaveUp: true}},
		"marked transient":                   {retry.Transient(gaveUp(errOp, retry.ErrBudget)), retry.Verdict{Class: transient}},
		"marked permanent":                   {retry.Permanent(gaveUp(errOp, retry.ErrBudget)), retry.Verdict{Class: permanent}},
		"marked unrepeatable":                {retry.Unrepeatable(gaveUp(errOp, retry.ErrBudget)), retry.Verdict{Unrepeatable: true, GaveUp: true}},
		"never ran, because it was refused":  {wrapped(retry.ErrInvalid), retry.Verdict{Class: permanent}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, retry.Policy{}.Classify(tt.err))
			op := retrytest.Script(tt.err)
			_ = retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 2, Hint: retry.HintIgnore{}}, op.Run)
			assert.Equal(t, tt.want.GaveUp || tt.want.Class == permanent, op.Calls() == 1, "a give-up ends an outer call")
		})
	}
	says := retry.ClassifierFunc(func(err error) retry.Verdict { return retry.Verdict{GaveUp: err == errOp} })
	assert.True(t, retry.Policy{Classifier: retry.FirstOf(says, retry.DefaultClassifier{})}.Classify(errOp).GaveUp, "a Classifier may say so")
}

func TestMarkersWinOverClassifiers(t *testing.T) {
	never := retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassPermanent} })
	assert.Equal(t, retry.ClassTransient, failed(t, never, retry.Transient(errOp)).Class)
	assert.Equal(t, retry.ClassPermanent, failed(t, never, errOp).Class)
}

// TestMarkersKeepTheError: markers keep the text and the chain of the error, and nil
// stays nil.
func TestMarkersKeepTheError(t *testing.T) {
	for name, mark := range map[string]func(error) error{
		"permanent": retry.Permanent, "transient": retry.Transient, "throttled": retry.Throttled,
		"unrepeatable": retry.Unrepeatable, "progress": retry.Progress,
		"after": func(err error) error { return retry.After(err, time.Second) },
	} {
		assert.EqualError(t, mark(errOp), errOp.Error(), name)
		assert.ErrorIs(t, mark(errOp), errOp, name)
		assert.NoError(t, mark(nil), name)
	}
}

// TestPermanentAlwaysWins: Permanent ends the call under every policy, and the error
// is returned with its wrapping.
func TestPermanentAlwaysWins(t *testing.T) {
	always := retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassTransient} })
	for name, err := range map[string]error{
		"bare":            retry.Permanent(errOp),
		"wrapped":         fmt.Errorf("page 7: %w", retry.Permanent(errOp)),
		"twice":           retry.Permanent(fmt.Errorf("a: %w", retry.Permanent(fmt.Errorf("b: %w", errOp)))),
		"joined":          errors.Join(errors.New("close"), retry.Permanent(errOp)),
		"around a status": retry.Permanent(statusedError(503)),
		"around a hint":   fmt.Errorf("page 7: later %w", retry.Permanent(retry.After(errOp, time.Second))),
		"around another":  retry.Permanent(retry.Transient(errOp)),
	} {
		for _, p := range []retry.Policy{
			{}, {MaxAttempts: 1}, {MaxAttempts: 3}, {MaxAttempts: retry.Unlimited},
			{Budget: new(awspreset.TokenBudget), MaxElapsed: time.Hour}, // not bare
			{Hooks: retry.Hooks{OnGiveUp: func(context.Context, *retry.Error) {}}},
		} {
			p.Classifier = always
			calls, waits, got := play(t, p, err, nil)
			assert.Equal(t, 1, calls, "%s, MaxAttempts %d", name, p.MaxAttempts)
			assert.Empty(t, waits)
			assert.Same(t, err, got, name)
		}
	}
}

// TestGiveUpKeepsMarkedError: a give-up contains the operation's error with its wrapping.
func TestGiveUpKeepsMarkedError(t *testing.T) {
	for name, mark := range map[string]func(error) error{
		"transient": retry.Transient, "throttled": retry.Throttled,
		"after": func(err error) error { return retry.After(err, time.Second) },
	} {
		err := fmt.Errorf("page 7: %w", mark(errOp))
		_, _, got := play(t, retry.Policy{}, err)
		assert.Same(t, err, asError(t, got).Err, name)
		assert.ErrorContains(t, got, "page 7: operation failed", name)
		assert.ErrorIs(t, got, errOp, name)
	}
}

// Errors with combinations of the methods through which markers are found.
type (
	hintedTree struct {
		hint     time.Duration
		branches []error
	}
	plainTree struct{ branches []error }
)

func (hintedTree) Error() string               { return "later" }
func (e hintedTree) Unwrap() []error           { return e.branches }
func (e hintedTree) RetryAfter() time.Duration { return e.hint }

func (plainTree) Error() string     { return "several" }
func (e plainTree) Unwrap() []error { return e.branches }

// TestMarkBehindAnything: a marker is found behind every kind of error, also in a second
// branch and below an error with a hint.
func TestMarkBehindAnything(t *testing.T) {
	const s = time.Second
	for shape, around := range map[string]func(error) error{
		"Unwrap() error":                  func(err error) error { return fmt.Errorf("x: %w", err) },
		"Unwrap() []error":                func(err error) error { return plainTree{[]error{err}} },
		"second of Unwrap() []error":      func(err error) error { return plainTree{[]error{errOp, nil, err}} },
		"RetryAfter and Unwrap() error":   func(err error) error { return hintedError{s, err} },
		"RetryAfter and Unwrap() []error": func(err error) error { return hintedTree{s, []error{errOp, err}} },
		"a second branch of a second":     func(err error) error { return errors.Join(errOp, errors.Join(errOp, err)) },
		"below another mark":              func(err error) error { return retry.Progress(err) },
	} {
		t.Run(shape, func(t *testing.T) {
			for name, tt := range map[string]struct {
				err  error
				want retry.Verdict
			}{
				"permanent":    {retry.Permanent(errOp), retry.Verdict{Class: retry.ClassPermanent}},
				"throttled":    {retry.Throttled(errOp), retry.Verdict{Class: retry.ClassThrottled}},
				"unrepeatable": {retry.Unrepeatable(errOp), retry.Verdict{Class: retry.ClassUnknown, Unrepeatable: true}},
				"progress":     {retry.Progress(errOp), retry.Verdict{Class: retry.ClassUnknown, Progress: true}},
			} {
				a := retry.Policy{}.Classify(around(tt.err))
				assert.Equal(t, tt.want.Class, a.Class, name)
				assert.Equal(t, tt.want.Unrepeatable, a.Unrepeatable, name)
				assert.Equal(t, tt.want.Progress || shape == "below another mark", a.Progress, name)
			}
			op := retrytest.Script(around(retry.Unrepeatable(errOp)))
			assert.ErrorIs(t, retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, op.Run), retry.ErrUnrepeatable)
			assert.Equal(t, 1, op.Calls())
		})
	}
}

// TestMarkDeepInside: a mark counts among the first 256 errors.
func TestMarkDeepInside(t *testing.T) {
	for depth, want := range map[int]bool{0: true, 253: true, 254: false, 1_000_000: false} {
		err := retry.Unrepeatable(errOp)
		for range depth {
			err = errors.Join(err)
		}
		a := retry.Policy{}.Classify(errors.Join(errOp, err))
		assert.Equal(t, want, a.Unrepeatable, depth)
		assert.Equal(t, retry.ClassUnknown, a.Class)
	}
}

// TestRefusedInside: a refused inner call is not retried.
func TestRefusedInside(t *testing.T) {
	calls := 0
	err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, func(ctx context.Context) error {
		calls++
		return fmt.Errorf("inner: %w", retry.Do(ctx, retry.Policy{MaxAttempts: -1}, retrytest.Script().Run))
	})
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.Equal(t, 1, calls)
	assert.Equal(t, retry.ClassPermanent, retry.Policy{}.Classify(retry.ErrInvalid).Class)
	invalid := retry.Policy{Backoff: retry.Constant(-1)}.Validate()
	assert.Equal(t, retry.ClassPermanent, retry.Policy{}.Classify(invalid).Class)
}

// TestNested: the attempts of nested calls do not multiply.
func TestNested(t *testing.T) {
	p, _ := onClock(3)
	outer := p
	outer.MaxAttempts = 4
	inner := func(mark func(error) error, op *retrytest.Op) func(context.Context) error {
		return func(ctx context.Context) error { return mark(retry.Do(ctx, p, op.Run)) }
	}
	as := func(err error) error { return err }
	wrap := func(err error) error { return fmt.Errorf("page 7: %w", err) }
	tests := []struct {
		name  string
		mark  func(error) error
		op    *retrytest.Op
		calls int
	}{
		{"a give-up is permanent", as, retrytest.Script(errOp), 3},
		{"a wrapped give-up is permanent", wrap, retrytest.Script(errOp), 3},
		{"a give-up on a marked failure is permanent", as, retrytest.Script(retry.Transient(errOp)), 3},
		{"a marked give-up is retried", retry.Transient, retrytest.Script(errOp), 12},
		{"a give-up with a hint is retried", func(err error) error { return retry.After(err, time.Second) }, retrytest.Script(errOp), 12},
		{"permanent stays permanent", as, retrytest.Script(retry.Permanent(errOp)), 1},
		{"permanent, marked by the outer operation", retry.Transient, retrytest.Script(retry.Permanent(errOp)), 4},
		{"permanent by its status", as, retrytest.Script(errors.Join(errOp, statusedError(404))), 1},
		{"permanent stays permanent in another error", wrap, retrytest.Script(retry.Permanent(errOp)), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := retry.Do(t.Context(), outer, inner(tt.mark, tt.op))
			assert.ErrorIs(t, err, errOp)
			assert.Equal(t, tt.calls, tt.op.Calls())
		})
	}
}

// TestWithVerdict: nothing within the error counts, and markers around it do.
func TestWithVerdict(t *testing.T) {
	gaveUp := &retry.Error{Err: errOp, Reason: retry.ErrUnrepeatable}
	throttled := retry.Verdict{Class: retry.ClassThrottled, Hint: time.Second, Progress: true}
	never := retry.Policy{Classifier: retry.ClassifierFunc(func(error) retry.Verdict { panic("asked") })}
	assert.NoError(t, retry.WithVerdict(nil, throttled))
	for name, inner := range map[string]error{
		"plain": errOp, "permanent": retry.Permanent(errOp), "unrepeatable": retry.Unrepeatable(errOp), "hint": retry.After(errOp, time.Hour),
		"gave up": gaveUp, "status": statusedError(404), "canceled": context.Canceled, "invalid": retry.ErrInvalid,
		"another": retry.WithVerdict(errOp, retry.Verdict{GaveUp: true, Unrepeatable: true}),
	} {
		for _, v := range []retry.Verdict{{}, throttled, {Class: retry.ClassPermanent}, {Class: retry.ClassTimeout, Unrepeatable: true}, {GaveUp: true}} {
			err := retry.WithVerdict(inner, v)
			assert.Equal(t, v, never.Classify(err), name)
			assert.Equal(t, v, never.Classify(fmt.Errorf("wrapped: %w", err)), name)
			assert.ErrorIs(t, err, inner)
			assert.Equal(t, inner.Error(), err.Error())
		}
	}
	v := never.Classify(retry.After(retry.WithVerdict(errOp, throttled), time.Minute))
	assert.Equal(t, retry.Verdict{Class: retry.ClassThrottled, Hint: time.Minute, Progress: true}, v)
	v = never.Classify(retry.Transient(retry.WithVerdict(errOp, retry.Verdict{Class: retry.ClassPermanent, GaveUp: true, Unrepeatable: true})))
	assert.Equal(t, retry.Verdict{Class: retry.ClassTransient}, v)
	v = never.Classify(&retry.Error{Err: retry.WithVerdict(errOp, throttled), Reason: retry.ErrMaxAttempts})
	assert.Equal(t, retry.Verdict{Class: retry.ClassThrottled, Hint: time.Second, GaveUp: true}, v, "the progress counted in the inner loop")
	v = retry.Policy{}.Classify(errors.Join(errOp, retry.WithVerdict(errOp, throttled)))
	assert.Equal(t, throttled, v)
}

// TestWithVerdictOfCanceled: once the context is done, a verdict does not turn what the
// cancellation has caused into an answer.
func TestWithVerdictOfCanceled(t *testing.T) {
	final := retry.Verdict{Class: retry.ClassPermanent}
	for name, tt := range map[string]struct {
		err    error
		answer bool
	}{
		"plain":                    {retry.WithVerdict(errOp, final), false},
		"status":                   {retry.WithVerdict(statusedError(404), final), true},
		"marked within":            {retry.WithVerdict(retry.Permanent(errOp), final), true},
		"marked within, otherwise": {retry.WithVerdict(retry.Transient(statusedError(404)), final), false},
		"marked around":            {retry.Permanent(retry.WithVerdict(errOp, final)), true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := retry.Do(ctx, retry.Policy{}, func(context.Context) error {
			cancel()
			return tt.err
		})
		assert.ErrorIs(t, err, tt.err, name)
		assert.Equal(t, !tt.answer, errors.Is(err, context.Canceled), name)
	}
}
