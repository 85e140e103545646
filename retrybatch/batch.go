package retrybatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// A Batch says how items are sent. The zero value sends all items in one call and makes
// three attempts. A Batch can be copied and shared, like its Policy.
type Batch[T any] struct {
	// Policy says when to retry. Each call of send is an attempt: the Limiter, the Budget and
	// the hooks see calls, not items. If the server accepts an item of a call, or fails it for
	// good, MaxAttempts and MaxElapsed start again. They do not if the call itself failed. The
	// delays start again only after a call that leaves no item to retry. The Classifier
	// classifies the errors of items and of calls.
	Policy retry.Policy

	// MaxItems is the largest number of items in a call. 0 means no bound.
	MaxItems int

	// MaxSize is the largest sum of the sizes of the items in a call, as Size reports them.
	// An item that is larger by itself is not sent: it is refused with [ErrTooLarge]. 0
	// means no bound.
	MaxSize int

	// Size returns the size of an item, usually in bytes. It is called once for each item. It
	// may be nil if MaxSize is 0.
	Size func(item T) int

	// MayRepeat reports whether the server may receive an item twice, because the item
	// overwrites the same row, or has an ID by which the server recognizes it. Do calls
	// MayRepeat if the outcome of a call is unknown. nil means that no item may be repeated.
	MayRepeat func(item T) bool

	// Key, if not nil, keeps the order of the items that have the same key: an item is sent
	// only after all earlier items with its key have been accepted or set aside. A call then
	// has at most one item of each key.
	Key func(item T) string

	// OnItems, if not nil, is called when n items have got their fate and will not be sent
	// again, for example to count them in a metric. n is above 0. OnItems should not block.
	OnItems func(ctx context.Context, fate Fate, n int)
}

// ErrTooLarge is the error of an item that is larger than [Batch.MaxSize].
var ErrTooLarge = errors.New("item is larger than a batch may be")

// ErrNotSent is the error of an item that was not sent in any call, because Do ended first.
var ErrNotSent = errors.New("not sent")

// Do calls send with a batch of items at a time until each item was accepted or has failed
// for good, or until the Policy gives up. It returns the items that were not accepted, in
// the order of items, and an error if there are any. The error wraps an [*Error]; it is
// permanent, so that an outer [retry.Do] does not send the accepted items again.
//
// send returns the errors of the items that the server did not accept, by their index in
// batch. Items without an error, or with a nil error, were accepted. The Policy's Classifier
// decides what happens to the others:
//
//   - Permanent and unrepeatable errors, and those of a retry loop that gave up, set the
//     item aside.
//   - After other errors, the item is sent again, together with items that wait. The worst
//     class and the longest hint of all items determine the wait.
//
// If the call failed as a whole, send returns an error instead, and the errors of items are
// ignored:
//
//   - A permanent error, such as a status 403, ends Do. If it is about some of the items
//     only, return it for these items.
//   - After throttling, or if no connection was made, all items are sent again.
//   - After other errors, the outcome is unknown, and the items are sent again if MayRepeat
//     allows it. To say that no item was accepted, mark the error with [retry.Transient].
//
// send should make one request and not retry by itself: if a retry loop within it gives up, Do
// ends, and the outcome is unknown. send must not keep batch. Do makes one call at a time, and
// changes neither items nor their order.
//
// If an argument or a field is invalid, Do returns all items and an error that matches
// [retry.ErrInvalid].
func Do[T any](ctx context.Context, b Batch[T], items []T, send func(ctx context.Context, batch []T) (map[int]error, error)) ([]Failure[T], error) {
	r := &run[T]{Batch: b, items: items, send: send, fates: make([]Fate, len(items))}
	if err := b.validate(ctx, send != nil); err != nil {
		if ctx == nil {
			ctx = context.Background() // for OnItems
		}
		return r.finish(ctx, err)
	}
	if n := r.measure(); n > 0 {
		r.report(ctx, map[Fate]int{Refused: n})
	}
	r.waiting = r.queue()
	policy, delay := b.Policy, retry.BackoffFunc(r.delay)
	policy.Backoff = retry.WhenThrottled{Throttled: b.Policy.Backoff, Else: delay}
	if most := policy.Attempts(); most != retry.Unlimited { // which the length of a Schedule may decide
		policy.MaxAttempts = most
	}
	policy.Backoff = delay
	policy = policy.With(retry.Hooks{OnRetry: func(_ context.Context, _ retry.Attempt, wait time.Duration) { r.waited = wait }})
	for len(r.again)+len(r.waiting) > 0 {
		r.failures, r.waited = 0, 0
		if err := retry.Do(ctx, policy, r.call); err != nil {
			return r.finish(ctx, err)
		}
	}
	return r.finish(ctx, nil)
}

// Validate reports invalid fields, and those of the Policy, in an error that matches
// [retry.ErrInvalid].
func (b Batch[T]) Validate() error {
	fault := ""
	switch {
	case b.MaxItems < 0:
		fault = "MaxItems is negative"
	case b.MaxSize < 0:
		fault = "MaxSize is negative"
	case b.MaxSize > 0 && b.Size == nil:
		fault = "MaxSize needs Size"
	}
	if fault != "" {
		return fmt.Errorf("retrybatch: %w Batch: %s", retry.ErrInvalid, fault)
	}
	return b.Policy.Validate()
}

// Effective returns the Policy with what its zero fields mean for the calls of a Batch, for logs
// and for retryconfig.Text. They mean what they mean for [retry.Do].
func (b Batch[T]) Effective() retry.Policy {
	p := b.Policy
	if p.Hint == nil {
		p.Hint = retry.HintAtLeast{}
	}
	if p.Budget == nil {
		p.Budget = retry.NoBudget{}
	}
	return p
}

func (b Batch[T]) validate(ctx context.Context, hasSend bool) error {
	if ctx == nil || !hasSend {
		return fmt.Errorf("retrybatch: %w call: the context or send is nil", retry.ErrInvalid)
	}
	return b.Validate()
}

// A run is one call of Do. Items are known by their index.
type run[T any] struct {
	Batch[T]
	items []T
	send  func(context.Context, []T) (map[int]error, error)

	again   []int // the items of the last call to retry; they precede those that wait
	waiting []int // those that may be sent now
	next    []int // if there is a Key: the next item with the same key, or 0
	sizes   []int // if there is a MaxSize

	fates     []Fate        // by item; NotSent until it was in a call
	errs      map[int]error // the last error of each item that was not accepted
	uncertain map[int]bool  // items that were in a call whose outcome is unknown

	failures int           // calls in a row with an item to retry
	waited   time.Duration // before the current call
}

// call is the operation of the Policy: one call of send.
func (r *run[T]) call(ctx context.Context) error {
	batch := r.take()
	items := make([]T, len(batch))
	for i, item := range batch {
		items[i] = r.items[item]
	}
	failed, err := r.send(ctx, items)
	if err == nil {
		err = unknownIndex(failed, len(batch))
	}
	if err == nil {
		return r.someFailed(ctx, batch, failed)
	}
	return r.allFailed(ctx, batch, err)
}

func unknownIndex(failed map[int]error, n int) error {
	for i := range failed {
		if i < 0 || i >= n {
			return retry.Unrepeatable(retry.Permanent(fmt.Errorf("retrybatch: send returned an error for item %d of a batch of %d", i, n)))
		}
	}
	return nil
}

// someFailed handles the errors of items. It returns nil if there is no item to retry.
func (r *run[T]) someFailed(ctx context.Context, batch []int, failed map[int]error) error {
	var worst error
	var all retry.Verdict
	done := map[Fate]int{}
	for i, item := range batch {
		err := failed[i]
		if err == nil {
			r.settle(item, Accepted, nil)
			done[Accepted]++
			continue
		}
		v := r.Policy.Classify(err)
		if v.Class == retry.ClassPermanent || v.Unrepeatable || v.GaveUp {
			fate := Refused
			if v.Unrepeatable || v.GaveUp || r.uncertain[item] {
				fate = Unknown
			}
			r.settle(item, fate, err)
			done[fate]++
			continue
		}
		r.retry(item, err)
		if worst == nil || v.Class > all.Class {
			worst = err
			all.Class = v.Class
		}
		all.Hint = max(all.Hint, v.Hint)
	}
	r.report(ctx, done)
	if worst == nil {
		return nil
	}
	r.failures++
	all.Progress = len(r.again) < len(batch)
	return retry.WithVerdict(fmt.Errorf("%d of %d items: %w", len(r.again), len(batch), worst), all)
}

// allFailed handles the error of a call.
func (r *run[T]) allFailed(ctx context.Context, batch []int, err error) error {
	r.failures++
	judged := err
	if ctx.Err() != nil {
		judged = &errfacts.Overtime{Err: err, Limit: r.Policy.AttemptTimeout} // a cancellation is no answer
	}
	v := retry.Policy{Classifier: retry.ClassifierFunc(r.classifyCall)}.Classify(judged)
	unknown := v.Unrepeatable || v.GaveUp // the calls before the last one of an inner loop are unknown, too
	done := map[Fate]int{}
	for _, item := range batch {
		if unknown {
			r.doubt(item)
		}
		switch {
		case v.Class == retry.ClassPermanent && !r.uncertain[item]:
			r.settle(item, Refused, err)
			done[Refused]++
		case v.Class == retry.ClassPermanent, unknown && !r.mayRepeat(item):
			r.settle(item, Unknown, err)
			done[Unknown]++
		default:
			r.retry(item, err)
		}
	}
	r.report(ctx, done)
	v.Progress = false
	v.Unrepeatable = len(r.again)+len(r.waiting) == 0 // nothing is left to send
	return retry.WithVerdict(err, v)
}

// classifyCall is the Classifier of a call's error. The error is unrepeatable if the outcome
// is unknown: the server may have accepted items.
func (r *run[T]) classifyCall(err error) retry.Verdict {
	classifier := r.Policy.Classifier
	if classifier == nil {
		classifier = retry.DefaultClassifier{}
	}
	v := classifier.Classify(err)
	facts := errfacts.Read(err)
	switch {
	case facts.Canceled:
		v.Unrepeatable = true
	case v.Class == retry.ClassPermanent || v.Class == retry.ClassThrottled:
	default:
		fate := facts.Fate()
		v.Unrepeatable = v.Unrepeatable || fate != errfacts.Unsent && fate != errfacts.Unprocessed
	}
	return v
}

func (r *run[T]) mayRepeat(item int) bool {
	return r.MayRepeat != nil && r.MayRepeat(r.items[item])
}

// delay is the Backoff of the Policy. It counts by itself, because a call that makes
// progress must not restart the delays.
func (r *run[T]) delay(a retry.Attempt, u float64) time.Duration {
	a.Number, a.Waited = r.failures, r.waited
	return retry.Capped{Of: r.Policy.Backoff}.Delay(a, u) // a nil Of means the default
}

// settle gives an item its fate. The next item with the same key may then be sent.
func (r *run[T]) settle(item int, fate Fate, err error) {
	r.fates[item] = fate
	if err == nil {
		delete(r.errs, item)
	} else {
		r.fail(item, err)
	}
	if r.next != nil && r.next[item] > 0 {
		r.waiting = append(r.waiting, r.next[item])
	}
}

func (r *run[T]) retry(item int, err error) {
	r.fates[item] = GivenUp // if Do ends now
	r.fail(item, err)
	r.again = append(r.again, item)
}

func (r *run[T]) fail(item int, err error) {
	if r.errs == nil {
		r.errs = map[int]error{}
	}
	r.errs[item] = err
}

func (r *run[T]) doubt(item int) {
	if r.uncertain == nil {
		r.uncertain = map[int]bool{}
	}
	r.uncertain[item] = true
}

func (r *run[T]) report(ctx context.Context, done map[Fate]int) {
	if r.OnItems == nil {
		return
	}
	for fate := NotSent; fate <= GivenUp; fate++ {
		if n := done[fate]; n > 0 {
			r.OnItems(ctx, fate, n)
		}
	}
}
