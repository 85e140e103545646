package errfacts

// A Fate is what is known about the server after a request that failed. This is the only place
// that decides it from an error; what is known from the way in which a request was sent comes
// before it.
type Fate uint8

const (
	Uncertain   Fate = iota // it may have executed the request
	Unsent                  // nothing of the request left
	Unprocessed             // it received the request and did not act on it
	Answered                // it responded
)

// Fate returns what the facts say about the server.
func (f *Facts) Fate() Fate {
	switch {
	case f.Unsent:
		return Unsent
	case f.unprocessed, IsUnprocessed(f.Status):
		return Unprocessed
	case f.IsResponse():
		return Answered
	}
	return Uncertain
}

// unsent records that no connection was made, or that a client says that nothing was sent. Below
// a response, it is about a request that the server itself made.
func (f *Facts) unsent() { f.now.unsent = f.now.unsent || !f.IsResponse() }

// A NotSent is the error of a client that says that nothing of the request was sent.
type NotSent struct{ Err error }

func (e *NotSent) Error() string { return e.Err.Error() }

// Unwrap returns the client's error.
func (e *NotSent) Unwrap() error { return e.Err }

// SaysUnsent reports whether err is or wraps a [NotSent]. Joined errors do not count, because one
// of them may be about a request that was sent.
func SaysUnsent(err error) bool {
	for e := range Chain(err) {
		if _, ok := e.(*NotSent); ok {
			return true
		}
	}
	return false
}
