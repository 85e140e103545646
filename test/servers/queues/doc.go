// Package queues contains consumers to copy, which docs/durable.md explains, and tests with real
// brokers. adapt.Settle decides about each message, and the failure of a message never ends the
// connection.
package queues

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// settleTime limits the time in which a broker has to confirm the outcome of a message.
const settleTime = 30 * time.Second

// check returns an error if a consumer's policy is invalid or does not limit an attempt.
func check(policy retry.Policy) error {
	if policy.AttemptTimeout <= 0 {
		return retry.Permanent(fmt.Errorf("%w: AttemptTimeout is not set", retry.ErrInvalid))
	}
	return policy.Validate()
}

// attempt calls fn once, unless the worker is being stopped, and decides what to do with the
// message. number and id are those of [adapt.Settle].
func attempt(ctx context.Context, policy retry.Policy, id string, number int, fn func(context.Context) error) adapt.Outcome {
	err := ctx.Err()
	if err == nil {
		err = call(ctx, policy.AttemptTimeout, fn)
	}
	return adapt.Settle(ctx, policy, id, number, err)
}

// call returns the error of fn. A panic is a failure of the message: if it ended the program, one
// message could stop all workers.
func call(ctx context.Context, limit time.Duration, fn func(context.Context) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		v := recover()
		if v != nil {
			err = fmt.Errorf("%w: %v\n%s", retry.ErrNoReturn, v, debug.Stack())
		}
	}()
	return fn(ctx)
}

// settling returns the context for telling the broker what to do. It does not end when the worker
// is stopped.
func settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTime)
}

// notStored returns the error of a session whose broker has refused to store a message. The
// original was not acknowledged, so it is delivered again. The error is never permanent: otherwise
// one message could stop all workers.
func notStored(where string, reason error) error {
	return retry.Transient(fmt.Errorf("%s has not stored a message: %w", where, reason))
}

// reasonOf returns the reason of a dead letter and its error. The text is one line of about 1 kB at
// most, because brokers refuse a message whose properties are too large, or have other characters.
func reasonOf(e *retry.Error) (reason, text string) {
	const most = 1024
	text = strings.Map(printable, retry.Text(e.Err))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " ..."
	}
	if text == "" {
		text = "an error without text"
	}
	return e.ReasonLabel(), text
}

func printable(r rune) rune {
	if unicode.IsPrint(r) && r != unicode.ReplacementChar {
		return r
	}
	return ' '
}
