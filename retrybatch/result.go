package retrybatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gobackoff/retry"
)

// A Failure is an item that was not accepted.
type Failure[T any] struct {
	Index int   // of the item in the items given to Do
	Item  T     // the item itself
	Fate  Fate  // Refused, Unknown, GivenUp or NotSent
	Err   error // its last error, or that of the last call that contained it; never nil
}

// A Fate is what became of an item. The zero value is NotSent.
type Fate int

// The fates. Items that were given up or not sent can be sent again without harm.
const (
	NotSent  Fate = iota // it was in no call
	Accepted             // the server accepted it
	Refused              // it was not accepted, and would fail again
	Unknown              // the server may have accepted it
	GivenUp              // it was not accepted, and the Policy allowed no further attempt
)

var fateNames = [...]string{"not sent", "accepted", "refused", "unknown", "given up"}

// String returns the fate in lower case.
func (f Fate) String() string {
	if f >= 0 && int(f) < len(fateNames) {
		return fateNames[f]
	}
	return fmt.Sprintf("fate(%d)", int(f))
}

// Error summarizes the items that were not accepted. It matches Reason and the error of each
// item.
type Error struct {
	Items  int          // all items
	Counts map[Fate]int // how many items have each fate

	// Reason is why Do ended before all items were accepted or had failed for good: a
	// [*retry.Error], the permanent error of a call, or an error that matches
	// [retry.ErrInvalid]. Otherwise it is nil.
	Reason error

	errs []error // of the items that were in a call
}

// Error returns one line of text with the counts and the Reason or, without a Reason, the
// error of the first item.
func (e *Error) Error() string {
	var counts []string
	for _, fate := range []Fate{Refused, Unknown, GivenUp, NotSent} {
		if n := e.Counts[fate]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %v", n, fate))
		}
	}
	text := fmt.Sprintf("%d of %d items were not accepted", e.Items-e.Counts[Accepted], e.Items)
	if len(counts) > 0 {
		text += " (" + strings.Join(counts, ", ") + ")"
	}
	switch {
	case e.Reason != nil:
		text += ": " + e.Reason.Error()
	case len(e.errs) > 0:
		text += ": " + e.errs[0].Error()
	}
	return text
}

// Unwrap returns the Reason, if any, and the errors of the items.
func (e *Error) Unwrap() []error {
	if e.Reason == nil {
		return e.errs
	}
	return slices.Insert(slices.Clone(e.errs), 0, e.Reason)
}

// finish reports the fates of all items that are not accepted.
func (r *run[T]) finish(ctx context.Context, reason error) ([]Failure[T], error) {
	e := &Error{Items: len(r.items), Counts: map[Fate]int{}, Reason: reason}
	var failed []Failure[T]
	late := map[Fate]int{} // fates that were not reported before
	for item, fate := range r.fates {
		err := r.errs[item]
		switch {
		case fate == NotSent:
			err = ErrNotSent
			late[fate]++
		case fate == GivenUp && r.uncertain[item]:
			fate = Unknown
			late[fate]++
		case fate == GivenUp:
			late[fate]++
		}
		e.Counts[fate]++
		if fate == Accepted {
			continue
		}
		failed = append(failed, Failure[T]{Index: item, Item: r.items[item], Fate: fate, Err: err})
		if fate != NotSent {
			e.errs = append(e.errs, err)
		}
	}
	r.report(ctx, late)
	if len(failed) == 0 && reason == nil {
		return nil, nil
	}
	return failed, retry.Permanent(e)
}
