package ratelimit

import (
	"context"
	"slices"
	"time"
)

const (
	maxLevels  = 32   // that a Limiter knows
	maxRoutes  = 1000 // whose limits it knows
	minSilence = 10 * time.Second
)

type routeKey struct{}

// WithRoute names the route of a call, such as its method and the pattern of its path. A call
// waits for those limits of which responses to its own route have told, so a quiet route does not
// wait for the limit of a busy one. A route that is not known yet waits for the limits of most
// other routes. Without WithRoute, the name is "".
func WithRoute(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, routeKey{}, name)
}

func routeOf(ctx context.Context) string {
	name, _ := ctx.Value(routeKey{}).(string)
	return name
}

// A route is what the responses to the calls of one route have told.
type route struct {
	calls, units float64 // begun
	heard        bool
	levels       []*level // of which its responses tell
	slow         int      // since when learned was on, when it was last refused
	dry          int      // the dry time of learned in which it was last refused
	weighed      int      // those of all routes when learned counted one of this
	good, bad    float64  // successes and refusals among the last hundred of all, as learned counts
}

// route returns what is known of a route.
func (l *Limiter) route(name string) *route {
	r := l.routes[name]
	if r != nil {
		return r
	}
	for other, old := range l.routes { // any one
		if len(l.routes) < maxRoutes {
			break
		}
		l.drop(old)
		delete(l.routes, other)
	}
	if l.routes == nil {
		l.routes = map[string]*route{}
	}
	r = &route{}
	l.routes[name] = r
	return r
}

// drop forgets what a route has been told.
func (l *Limiter) drop(r *route) {
	for _, d := range r.levels {
		d.routes--
	}
	if r.heard {
		l.known--
	}
}

// A bound is what a call waits for.
type bound struct {
	levels []*level
	slowed bool // also for the learned rate
	dried  bool // and for the end of its hints
}

func (b bound) equal(other bound) bool {
	return b.slowed == other.slowed && b.dried == other.dried && slices.Equal(b.levels, other.levels)
}

// boundBy returns what the calls of a route wait for.
func (l *Limiter) boundBy(r *route) bound {
	if r.heard {
		return bound{r.levels, l.learned.slows(r), l.learned.dries(r)}
	}
	by := bound{slowed: l.learned.slowed >= 2, dried: l.learned.dried >= 2}
	if l.known >= 2 {
		by.levels = slices.DeleteFunc(slices.Clone(l.levels), func(d *level) bool { return 2*d.routes <= l.known })
	}
	return by
}

// told returns the level that a State of a response is about.
func (l *Limiter) told(r *route, b Begun, s State) *level {
	own := slices.IndexFunc(r.levels, func(d *level) bool { return d.is(s) })
	if own >= 0 && !r.levels[own].another(r, b, s) {
		return r.levels[own]
	}
	if own >= 0 { // it is two limits
		r.levels[own].routes--
		r.levels = slices.Delete(slices.Clone(r.levels), own, own+1)
	}
	at := slices.IndexFunc(l.levels, func(d *level) bool { return d.is(s) && !d.another(r, b, s) })
	if at < 0 {
		at = l.newLevel(s)
	}
	d := l.levels[at]
	begun, since := r.calls, r.calls-b.calls
	if d.inTokens {
		begun, since = r.units, r.units-b.units
	}
	switch {
	case d.routes == 0:
		d.begun = begun
	case !b.counted(d):
		d.begun += max(0, since)
	}
	d.routes++
	r.levels = append(slices.Clone(r.levels), d)
	return d
}

// newLevel adds a level, instead of the one that was heard least recently if there are too many.
func (l *Limiter) newLevel(s State) int {
	d := newLevel(s)
	if len(l.levels) < maxLevels {
		l.levels = append(l.levels, d)
		return len(l.levels) - 1
	}
	oldest := 0
	for i, other := range l.levels {
		if other.heard.Before(l.levels[oldest].heard) {
			oldest = i
		}
	}
	old := l.levels[oldest]
	for _, r := range l.routes {
		if at := slices.Index(r.levels, old); at >= 0 {
			r.levels = slices.Delete(slices.Clone(r.levels), at, at+1)
		}
	}
	l.levels[oldest] = d
	return oldest
}

// untell removes the limits of which a response should have told if they still held. They have not
// been heard of for a whole window, or the call succeeded although nothing was left, and another
// limit has their name.
func (l *Limiter) untell(r *route, told []*level, b Begun, ok bool) {
	untold := func(d *level) bool {
		if slices.Contains(told, d) {
			return false
		}
		silent := b.at.Sub(d.heard) > max(d.window, minSilence)
		replaced := slices.ContainsFunc(told, func(other *level) bool { return other.id.Name == d.id.Name })
		return silent || ok && replaced && d.left < d.cost(b.cost)
	}
	for _, d := range r.levels {
		if untold(d) {
			d.routes--
		}
	}
	if slices.ContainsFunc(r.levels, untold) {
		r.levels = slices.DeleteFunc(slices.Clone(r.levels), untold)
	}
}
