package ratelimit

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

// A State is what a response says about one limit.
type State struct {
	// Name tells the limits of a server apart, such as "requests" and "tokens". It is ""
	// for a server's only limit. A limit whose Name contains "token" counts tokens; every
	// other limit counts calls.
	Name string

	Limit     float64       // calls or units in a window, or the size of a bucket; 0: unknown
	Remaining float64       // what is left of it, 0 or more
	Reset     time.Duration // until all of it is available again; 0 or less: now
	Window    time.Duration // the length of the window; 0: unknown
}

const (
	maxStates = 8   // of one response
	maxName   = 100 // bytes of a Name
)

// Read returns what the headers of a response, or the metadata of a gRPC response, say about
// limits. Names of headers may have any case. now is the time of the response; a valid Date in
// the header replaces it, so the clocks of client and server need not agree.
//
// Read understands these headers. NAME stands for the Name of the State:
//
//	RateLimit, RateLimit-Policy      both forms of the IETF draft: "NAME";r=1;t=2 with
//	                                 "NAME";q=3;w=4, and limit=3, remaining=1, reset=2
//	…RateLimit…NAME…                 headers whose names have the words limit or max,
//	                                 remaining, reset or retry-after, and window,
//	                                 interval or period, such as X-RateLimit-Limit,
//	                                 x-ratelimit-remaining-tokens and
//	                                 anthropic-ratelimit-tokens-reset
//	X-RateLimit-Resource             the NAME of a limit that has no other
//
// A reset is a number of seconds, or of milliseconds if the name ends with Ms or Milliseconds, a time
// since 1970 in seconds or milliseconds, a duration such as 6m0s, or a date. Without a reset, Reset is
// the window, which what remains may have, too, as in Docker Hub's 76;w=21600. If the header with the
// limit itself is missing, the State's Limit is 0.
//
// If headers tell of two limits with the same NAME, such as those with and without X-, Read returns
// the one of which less remains. If the same number remains of both, it returns the one that is
// reset later. A limit with a value that is missing, negative or not a number is left out, and so
// is a limit on bytes or on concurrent requests. Read returns at most eight States, ordered by
// Name. It takes time linear in the length of the header.
func Read(header map[string][]string, now time.Time) []State {
	if !errfacts.Mentions(header) {
		return nil
	}
	return statesOf(errfacts.Limits(header, errfacts.ServerTime(header, now)))
}

// statesOf returns the limits of which enough is known.
func statesOf(limits []errfacts.Limit) []State {
	var states []State
	for _, l := range limits {
		known := l.Size != 0 && l.Remaining >= 0 && l.End() >= 0
		if known && len(l.Name) <= maxName && l.Unit != "content-bytes" && l.Unit != "concurrent-requests" {
			states = append(states, State{l.Name, max(0, l.Size), l.Remaining, l.End(), max(0, l.Window)})
		}
	}
	slices.SortFunc(states, order)
	states = slices.CompactFunc(states, func(a, b State) bool { return a.Name == b.Name })
	return states[:min(len(states), maxStates)]
}

// order orders States by Name, those with the same one so that the strictest is the first.
func order(a, b State) int {
	return cmp.Or(
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.Remaining, b.Remaining), cmp.Compare(b.Reset, a.Reset),
		cmp.Compare(a.Limit, b.Limit), cmp.Compare(b.Window, a.Window), // so that it is the same one each time
	)
}

// duration returns a number of seconds, at most the longest Duration.
func duration(seconds float64) time.Duration {
	if seconds*float64(time.Second) >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(seconds * float64(time.Second))
}
