package retrykeep

import "time"

// State tells what a [Keeper] does.
type State struct {
	Phase Phase     // Stopped, Connecting, Connected or Waiting
	Since time.Time // when the phase began

	// Attempt is the number of sessions since the last useful one, including the current
	// one. 1 is the first.
	Attempt int

	Next time.Time // when the next session begins, if the Phase is Waiting

	// Err is why the last session ended. It is nil before the end of the first, and
	// [retry.ErrNoReturn] if the session panicked.
	Err    error
	Lived  time.Duration // how long its connection lived; 0 if it was never up
	Useful bool          // whether that was long enough (see Keeper.Useful), or the Keeper has ended it
}

// A Phase is what a [Keeper] is doing.
type Phase int

// The phases. A Keeper that runs goes from Waiting to Connecting, from there to Connected if
// the connection works, and from either back to Waiting.
const (
	Stopped    Phase = iota // Run has not been called, or has returned
	Connecting              // the session has begun and has not called up
	Connected               // the session has called up
	Waiting                 // for the next session
)

// String returns the phase in lower case.
func (p Phase) String() string {
	switch p {
	case Stopped:
		return "stopped"
	case Connecting:
		return "connecting"
	case Connected:
		return "connected"
	case Waiting:
		return "waiting"
	}
	return "unknown"
}

func (s *State) begin(now time.Time) {
	if s.Useful {
		s.Attempt = 0
	}
	s.Phase, s.Since, s.Next = Connecting, now, time.Time{}
	s.Attempt++
}

func (s *State) connect(now time.Time) {
	s.Phase, s.Since = Connected, now
}

// end describes the session that has ended, if there was one.
func (s *State) end(next Phase, now time.Time, r *run) {
	s.Phase, s.Since, s.Next = next, now, time.Time{}
	if r.failure != nil {
		s.Err, s.Lived, s.Useful = r.failure, r.lived, r.useful
	}
}
