package retrykeep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/dur"
	"github.com/gobackoff/retry/internal/errfacts"
)

// ErrEnded is the error of a session that returned nil, for example because the server
// closed the connection in an orderly way. It is transient.
var ErrEnded = errors.New("the session ended")

const (
	defaultBase   = time.Second
	defaultCap    = time.Minute
	defaultUseful = time.Minute
	defaultSpread = 30 * time.Second
)

// A Keeper connects again whenever its connection ends. The zero value does so until the
// session fails for good. Its waits are random: the first is at most 1 s, and the bound doubles
// after each failure, up to 1 min.
//
// Use one Keeper for each connection. Its methods are safe for concurrent use. It must not be
// copied, nor its fields changed, after first use.
type Keeper struct {
	// Policy says how long to wait and which failures are final. Three fields have other
	// meanings than for [retry.Do]:
	//
	//   - Backoff: nil means full jitter with a base of 1 s and a cap of 1 min.
	//   - MaxAttempts: 0 means no bound. Otherwise, it bounds the number of sessions, counted
	//     from the last useful one, which is the first. MaxElapsed bounds the time since the
	//     end of that session, or else since Run began.
	//   - AttemptTimeout limits the time until the session calls up. If the session has not
	//     done so by then, its context is canceled. Set it if connecting may hang. 0 means no
	//     limit.
	//
	// Its hooks see each session as an attempt. Set no Budget that other calls use, too: when
	// they have used it up, Run gives up.
	Policy retry.Policy

	// Useful is how long a connection must live, after the session has called up, to count as
	// useful. After a useful session, the waits start again with the first one. A connection
	// that ends sooner counts as a failure, like one that was never made. 0 means a minute; a
	// negative Useful is invalid.
	Useful time.Duration

	// Spread is the longest random wait after a useful session. For many clients of one server,
	// set it to their number divided by the connections per second that the server can accept.
	// If the delay of the Policy is longer, it is used instead, and hints apply as usual. 0
	// means 30 s; below 0, there is only the Policy's delay.
	Spread time.Duration

	// OnChange, if not nil, is called after each change of the State, in order. ctx is that
	// of Run. It should not block.
	OnChange func(ctx context.Context, s State)

	changing sync.Mutex // held while OnChange runs

	mu      sync.Mutex // guards what follows
	state   State
	running bool
	wake    context.CancelFunc // ends the current wait; nil: there is none
	asked   bool               // skip the next wait
	current *connection        // of the session; nil: there is none
}

// Run calls session again and again until ctx ends, session fails for good, or the Policy
// gives up. It always returns an error: that of the session if it failed for good, and
// otherwise a [*retry.Error], which matches the reason, such as context.Canceled, and the
// error of the last session.
//
// session connects, calls up once the connection works, and returns when the connection has
// ended. It should return soon after its context has ended, which happens when ctx ends,
// when AttemptTimeout is exceeded, and when session returns. A session that returns nil has
// ended with [ErrEnded]. up may be called from any goroutine; only the first call counts. A
// session that does not call up was never connected.
//
// These failures are final: an error marked with [retry.Permanent], and an error that the
// Policy's Classifier calls permanent, such as a status 401. There are four exceptions:
//
//   - After a useful session, an error that [retry.DefaultClassifier] calls permanent is not
//     final. If the cause remains, the next session fails with the same error before it is
//     useful, and that is final.
//   - context.Canceled is not final as long as ctx is not done. Nor is any error of a session
//     that the Keeper has ended: see [Keeper.Reconnect]. The error of such a session is joined
//     with the reason.
//   - An error that is unrepeatable for the Classifier is not final, because a session may
//     always be repeated.
//   - If a retry loop within session gave up, its last failure decides.
//
// Run returns an error that matches [retry.ErrInvalid], without calling session, if an
// argument is nil, a field is invalid or another Run of the same Keeper has not returned.
func (k *Keeper) Run(ctx context.Context, session func(ctx context.Context, up func()) error) error {
	if ctx == nil || session == nil {
		return fmt.Errorf("retrykeep: %w call: the context or the session is nil", retry.ErrInvalid)
	}
	if err := k.Validate(); err != nil {
		return err
	}
	if !k.start() {
		return fmt.Errorf("retrykeep: %w call: the Keeper is already running", retry.ErrInvalid)
	}
	r := &run{keeper: k, policy: k.policy(), session: session}
	defer r.stop(ctx)
	policy := r.policy
	policy.AttemptTimeout = 0 // of the session, not of the connection's life
	policy.Backoff = retry.BackoffFunc(r.delay)
	policy.Clock = clock{r.policy.Clock, k}
	policy = policy.With(retry.Hooks{OnRetry: r.waits})
	err := retry.Do(ctx, policy, r.attempt)
	if _, gaveUp := err.(*retry.Error); !gaveUp && r.failure != nil {
		return r.failure
	}
	return err
}

// Validate reports invalid fields, and those of the Policy, in an error that matches
// [retry.ErrInvalid].
func (k *Keeper) Validate() error {
	if k.Useful < 0 {
		return fmt.Errorf("retrykeep: %w Keeper: Useful is negative (%v)", retry.ErrInvalid, k.Useful)
	}
	return k.policy().Validate()
}

// Effective returns the Policy with what its zero fields mean for a Keeper, for logs and for
// retryconfig.Text.
func (k *Keeper) Effective() retry.Policy {
	p := k.policy()
	if p.Hint == nil {
		p.Hint = retry.HintAtLeast{}
	}
	if p.Budget == nil {
		p.Budget = retry.NoBudget{}
	}
	return p
}

// policy returns the Policy with the defaults of a Keeper.
func (k *Keeper) policy() retry.Policy {
	p := k.Policy
	if p.Backoff == nil {
		p.Backoff = retry.FullJitter{Base: defaultBase, Cap: defaultCap}
	}
	if p.MaxAttempts == 0 {
		p.MaxAttempts = retry.Unlimited
	}
	if p.Classifier == nil {
		p.Classifier = retry.DefaultClassifier{}
	}
	if p.Clock == nil {
		p.Clock = retry.SystemClock{}
	}
	return p
}

func (k *Keeper) useful() time.Duration {
	if k.Useful == 0 {
		return defaultUseful
	}
	return k.Useful
}

func (k *Keeper) spread() time.Duration {
	if k.Spread == 0 {
		return defaultSpread
	}
	return max(0, k.Spread)
}

// A run is one call of Run. Its fields belong to the goroutine of Run.
type run struct {
	keeper  *Keeper
	policy  retry.Policy
	session func(context.Context, func()) error
	failure error         // of the last session
	lived   time.Duration // the life of its connection
	useful  bool          // whether that was long enough
	left    bool          // the Keeper has ended it
	atOnce  bool          // no wait follows
	spread  bool          // the wait that follows is one after a useful session
	owed    bool          // such a wait was left out before the session
}

// attempt runs one session. It never returns nil.
func (r *run) attempt(ctx context.Context) error {
	k := r.keeper
	r.failure, r.lived, r.useful, r.left = retry.ErrNoReturn, 0, false, false // if it panics
	c := &connection{run: r, ctx: ctx}
	c.session, c.cancel = context.WithCancelCause(context.WithValue(ctx, connectionKey{}, c))
	defer c.cancel(nil)
	k.change(ctx, func(s *State) bool {
		k.asked = false
		k.current = c
		s.begin(r.policy.Clock.Now())
		return true
	})
	if limit := r.policy.AttemptTimeout; limit > 0 {
		late := time.AfterFunc(limit, func() {
			if c.expire() {
				c.cancel(nil)
			}
		})
		defer late.Stop()
	}
	defer c.end() // even if the session panics
	err := r.session(c.session, c.up)
	if err == nil {
		err = ErrEnded
	}
	r.failure = err
	c.end()
	r.decideWait()
	if c.stage == expired && ctx.Err() == nil {
		err = &errfacts.Overtime{Err: err, Limit: r.policy.AttemptTimeout}
	}
	verdict := r.verdict(err)
	if c.left != nil {
		err = fmt.Errorf("%w: %w", c.left, err)
		r.failure = err
	}
	return retry.WithVerdict(err, verdict)
}

// decideWait decides which wait follows the session. If a wait after a useful session is left out,
// it follows after the next failure: all clients of the server may have come at this moment.
func (r *run) decideWait() {
	r.atOnce = r.left || r.useful && isInvited(r.failure)
	r.spread = !r.atOnce && (r.useful || r.owed)
	r.owed = r.atOnce
}

// A connection is that of one session.
type connection struct {
	run     *run
	ctx     context.Context // of Run
	session context.Context // of the session
	cancel  context.CancelCauseFunc

	// The following are guarded by Keeper.mu until the end.
	stage stage
	since time.Time                   // it is up
	left  error                       // why the Keeper has ended the session; nil: it has not
	ping  func(context.Context) error // asks whether it works; nil: nobody knows how
	asked chan struct{}               // ping is to be called; nil: there was none
}

type stage int

const (
	opening stage = iota
	opened
	expired // AttemptTimeout was exceeded first
	over
)

// up is called by the session, in any goroutine.
func (c *connection) up() {
	k := c.run.keeper
	k.change(c.ctx, func(s *State) bool {
		if c.stage != opening {
			return false
		}
		c.stage, c.since = opened, c.run.policy.Clock.Now()
		k.asked = false
		s.connect(c.since)
		return true
	})
}

// expire reports whether the session is too late.
func (c *connection) expire() bool {
	c.run.keeper.mu.Lock()
	defer c.run.keeper.mu.Unlock()
	if c.stage != opening {
		return false
	}
	c.stage = expired
	return true
}

// end measures the life of the connection.
func (c *connection) end() {
	r := c.run
	r.keeper.mu.Lock()
	defer r.keeper.mu.Unlock()
	r.keeper.current = nil
	switch c.stage {
	case opening:
		c.stage = over
	case opened:
		c.stage = over
		r.left = c.left != nil
		r.lived = max(0, r.policy.Clock.Now().Sub(c.since))
		r.useful = r.left || r.lived >= r.keeper.useful()
	}
}

// delay is the Backoff of the policy.
func (r *run) delay(a retry.Attempt, u float64) time.Duration {
	wait := r.policy.Backoff.Delay(a, u)
	switch {
	case wait < 0: // no session follows
		return wait
	case r.atOnce:
		return 0
	case r.spread:
		return max(wait, dur.Saturate(u*float64(r.keeper.spread()), r.keeper.spread()))
	}
	return wait
}

// verdict says what the end of a session means. If a retry loop in it gave up, such as one around
// its handshake, the loop's last failure decides.
func (r *run) verdict(err error) retry.Verdict {
	v := retry.Policy{Classifier: retry.ClassifierFunc(r.classify)}.Classify(err)
	if v.GaveUp {
		v.GaveUp, v.Unrepeatable = false, false
	}
	v.Progress = v.Progress || r.useful
	return v
}

// classify is the Classifier of the policy.
func (r *run) classify(err error) retry.Verdict {
	v := r.policy.Classifier.Classify(err)
	v.Unrepeatable = false
	if v.Class != retry.ClassPermanent {
		return v
	}
	facts := errfacts.Read(err)
	byDefault := retry.DefaultClassifier{}.Classify(err).Class == retry.ClassPermanent
	if facts.Canceled || r.left || r.useful && byDefault || isInvited(err) {
		v.Class = retry.ClassTransient
	}
	return v
}

// waits is a hook: the session has ended, and a wait follows.
func (r *run) waits(ctx context.Context, _ retry.Attempt, wait time.Duration) {
	r.keeper.change(ctx, func(s *State) bool {
		now := r.policy.Clock.Now()
		s.end(Waiting, now, r)
		s.Next = now.Add(wait)
		return true
	})
}

func (r *run) stop(ctx context.Context) {
	r.keeper.change(ctx, func(s *State) bool {
		s.end(Stopped, r.policy.Clock.Now(), r)
		r.keeper.running = false
		return true
	})
}

// start reports whether no other Run is in progress.
func (k *Keeper) start() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running {
		return false
	}
	k.running, k.asked = true, false
	k.state = State{Phase: Waiting}
	return true
}

// change updates the state and passes it to OnChange, unless update returns false.
func (k *Keeper) change(ctx context.Context, update func(*State) bool) {
	k.changing.Lock()
	defer k.changing.Unlock()
	s, changed := k.update(update)
	if changed && k.OnChange != nil {
		k.OnChange(ctx, s)
	}
}

func (k *Keeper) update(update func(*State) bool) (State, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed := update(&k.state)
	return k.state, changed
}

// State returns the state of the connection.
func (k *Keeper) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

// RetryNow ends the current wait, even one that the server asked for. Call it when a user asks
// for it. During an attempt, it skips the wait that follows if the attempt fails. It has no effect
// on a connection that is up (see [Keeper.Reconnect]), or if the Keeper is not running.
// A wait that was cut short counts toward MaxElapsed with its full length.
func (k *Keeper) RetryNow() {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.wake != nil:
		k.wake()
	case k.state.Phase == Connecting || k.state.Phase == Waiting:
		k.asked = true
	}
}

// clock is the Policy's Clock with waits that RetryNow ends.
type clock struct {
	retry.Clock
	keeper *Keeper
}

func (c clock) Unwrap() retry.Clock { return c.Clock }

func (c clock) Sleep(ctx context.Context, d time.Duration) error {
	interruptible, wake := context.WithCancel(ctx)
	defer wake()
	if c.keeper.skips(wake) {
		return ctx.Err()
	}
	defer c.keeper.awake()
	if d > dur.Slice {
		go c.wakeByWall(interruptible, d, wake)
	}
	err := c.Clock.Sleep(interruptible, d)
	if err != nil && interruptible.Err() != nil {
		return ctx.Err()
	}
	return err
}

// wakeByWall ends a wait that is over by the wall clock. A SystemClock does that by itself, and
// other Clocks may not.
func (c clock) wakeByWall(ctx context.Context, d time.Duration, wake context.CancelFunc) {
	due := c.Now().Round(0).Add(d)
	err := dur.Sleep(ctx, d, c.Now)
	if err == nil && !c.Now().Round(0).Before(due) {
		wake()
	}
}

// skips reports whether the wait that begins was ended before. Otherwise, RetryNow calls wake.
func (k *Keeper) skips(wake context.CancelFunc) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked {
		k.asked = false
		return true
	}
	k.wake = wake
	return false
}

func (k *Keeper) awake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wake = nil
}
