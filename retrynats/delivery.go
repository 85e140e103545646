package retrynats

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// leastDelay is the shortest delay before a redelivery. With 0 (a plain Nak), the server
// would redeliver the message at once after each failure, before all others.
const leastDelay = time.Nanosecond

// notStoredDelay is the shortest delay before the redelivery of a message whose dead
// letter could not be stored. The longest is AckWait: if the letter was stored after all,
// its duplicate must arrive within the duplicate window.
const notStoredDelay = time.Second

const flushTime = 5 * time.Second

type delivery struct {
	*handler
	msg        jetstream.Msg
	meta       *jetstream.MsgMetadata
	number     int             // of this delivery, from 1
	alive      context.Context // InProgress is sent until this context ends
	begun      int             // pulse.beats when the attempt began
	fnCalled   bool
	fnReturned bool
	failure    retry.Error // has a Reason if the attempt failed
}

// noReturn is the failure of an attempt until its result is known.
var noReturn = retry.Error{Err: retry.ErrNoReturn, Reason: retry.ErrMaxAttempts}

// count reads the message's identity and delivery number, unless it has done so before,
// and reports whether that succeeded. Reading them costs as much as all the rest of
// handling a message that succeeds.
func (d *delivery) count() bool {
	if d.meta != nil {
		return true
	}
	meta, err := d.msg.Metadata()
	if err != nil {
		d.report(d.msg, err)
		return false
	}
	d.meta, d.number = meta, int(min(meta.NumDelivered, math.MaxInt))
	return true
}

// id returns the seed of the delays. It is the same for every worker and delivery.
func (d *delivery) id() string {
	return d.meta.Stream + "/" + d.meta.Consumer + "/" + strconv.FormatUint(d.meta.Sequence.Stream, 10)
}

func (d *delivery) attempt() {
	d.alive = d.ctx
	d.pulse.start(d)
	once := d.once
	once.OnGiveUp = func(_ context.Context, e *retry.Error) { d.failure = *e }
	if d.Policy.OnAttempt != nil {
		once.OnAttempt = d.onAttempt
	}
	err := retry.Do(d.ctx, once, func(ctx context.Context) error {
		if d.fnCalled = true; d.watched {
			d.pulse.follow(d, ctx)
		}
		return d.fn(ctx, d.msg)
	})
	d.fnReturned = true
	if err == nil {
		d.failure = retry.Error{}
		return
	}
	d.pulse.follow(d, context.Background()) // storing a dead letter may take time
}

// onAttempt passes the delivery number to the policy's hook.
func (d *delivery) onAttempt(ctx context.Context, a retry.Attempt) (context.Context, func(retry.Attempt)) {
	a.Number, a.Waited = d.number, d.waited()
	waited := a.Waited
	ctx, done := d.Policy.OnAttempt(ctx, a)
	if done == nil {
		return ctx, nil
	}
	return ctx, func(a retry.Attempt) {
		a.Number, a.Waited = d.number, waited
		done(a)
	}
}

// settle sends the outcome to the server. It is deferred so that it also runs if fn panics.
func (d *delivery) settle() {
	defer d.pulse.stop(d) // even if a hook panics
	if d.failure.Reason == nil {
		d.succeeded()
		d.send(d.msg.Ack)
	} else if d.count() {
		d.fail()
	}
	if d.fnCalled && !d.fnReturned && d.JetStream != nil {
		// The panic may end the program.
		_ = d.JetStream.Conn().FlushTimeout(flushTime)
	}
}

// send stops the pulse first: an InProgress after the outcome would cancel the delay.
func (d *delivery) send(settle func() error) {
	d.pulse.stop(d)
	d.report(d.msg, settle())
}

func (d *delivery) fail() {
	err := d.failure.Err
	switch {
	case err == nil: // the Limiter failed, or ctx ended, before fn was called
		d.redeliver(d.failure.Reason, d.delay(d.number))
		return
	case d.tooMany():
		d.giveUp(&retry.Error{Err: err, Reason: retry.ErrMaxAttempts, Attempts: d.number})
		return
	}
	outcome := adapt.Settle(d.ctx, d.Policy, d.id(), d.number, d.judged(err))
	switch outcome.Action {
	case adapt.Redeliver:
		d.redeliver(err, outcome.Wait)
	case adapt.DeadLetter:
		outcome.Err.Err = err
		d.giveUp(outcome.Err)
	case adapt.GiveBack: // without a wait, this worker could get the message at once
		d.redeliver(err, d.delay(d.number))
	}
}

// judged returns err so that Settle reaches the verdict of Do. Do has removed what says that
// AttemptTimeout was exceeded, for which the policy may have a Classifier.
func (d *delivery) judged(err error) error {
	if d.failure.Reason != retry.ErrPermanent {
		return err
	}
	again := d.Policy.Classify(err)
	if again.GaveUp || again.Class == retry.ClassPermanent {
		return err
	}
	return retry.Permanent(err)
}

// succeeded makes the budget's deposit. The previous failure counts as transient, because another
// worker may have seen it.
func (d *delivery) succeeded() {
	if d.Policy.Budget != nil {
		adapt.Settle(d.ctx, d.Policy, "", d.number, nil)
	}
}

func (d *delivery) tooMany() bool { return d.MaxDeliveries > 0 && d.number > d.MaxDeliveries }

func (d *delivery) redeliver(err error, wait time.Duration) {
	if d.Policy.OnRetry != nil {
		failed := retry.Attempt{Number: d.number, Waited: d.waited(), Err: err, Verdict: d.Policy.Classify(err)}
		d.Policy.OnRetry(d.ctx, failed, wait)
	}
	d.send(func() error { return d.msg.NakWithDelay(max(leastDelay, wait)) })
}

func (d *delivery) giveUp(e *retry.Error) {
	if d.DeadLetter != "" {
		if err := d.storeDeadLetter(e); err != nil {
			d.report(d.msg, err)
			d.redeliver(e.Err, min(max(notStoredDelay, d.delay(d.number)), d.ackWait))
			return
		}
	}
	if d.Policy.OnGiveUp != nil {
		d.Policy.OnGiveUp(d.ctx, e)
	}
	d.send(func() error { return d.msg.TermWithReason(line(e.Error())) })
}

var errFailed = retry.Transient(errors.New("failed"))

// delay returns the policy's delay after a delivery, even if the policy allows no further
// delivery.
func (d *delivery) delay(number int) time.Duration {
	wait, _ := adapt.DelayFor(retry.Policy{Backoff: d.Policy.Backoff, MaxAttempts: retry.Unlimited}, d.id(), number, errFailed)
	return wait
}

func (d *delivery) waited() time.Duration {
	if d.number <= 1 {
		return 0
	}
	return d.delay(d.number - 1)
}

// line returns the text as one line of printable characters, for a header or the reason of a termination.
func line(text string) string {
	const most = 1024
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " ..."
	}
	return text
}
