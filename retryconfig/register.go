package retryconfig

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gobackoff/retry"
)

// A Preset is a policy with a name in the text form.
type Preset struct {
	// Name has letters, digits, "-", "_" and ".".
	Name string

	// New returns a new policy for each text with the name. service is the value of the
	// text's service key, or "". New must refuse a service that it does not know.
	New func(service string) (retry.Policy, error)

	// Is reports whether p is a policy that New has returned, perhaps with changes, and
	// for which service. It must be true only if the policy has the Classifier that New
	// sets, because the name stands for it. The policy then prints as the name and the
	// changes, if it still has the same Backoff. nil means that it prints as its rule.
	Is func(p retry.Policy) (service string, ok bool)

	// Successor is the preset that errors recommend instead of one that is gone, for which
	// New and Is are not called.
	Successor string
}

// A Limiter is a kind of [retry.Limiter] with a name in the text form: limiter=NAME.
type Limiter struct {
	Name string                          // has letters, digits, "-", "_" and "."
	New  func() retry.Limiter            // returns a new limiter
	Is   func(l retry.Limiter) (ok bool) // reports whether l is equal to what New returns, except for its state
}

// Register makes a preset available to [Parse] and [Text]. Call it from an init function.
// It panics if the name is malformed or taken.
func Register(p Preset) {
	mustBeName(p.Name)
	registered.Lock()
	defer registered.Unlock()
	isRule := slices.ContainsFunc(rules, func(r named[retry.Backoff]) bool { return r.name == p.Name })
	if isRule || slices.ContainsFunc(registered.presets, func(q Preset) bool { return p.Name == q.Name }) {
		panic("retryconfig: the name " + p.Name + " is taken")
	}
	registered.presets = append(registered.presets, p)
}

// RegisterLimiter is [Register] for a kind of limiter.
func RegisterLimiter(l Limiter) {
	mustBeName(l.Name)
	registered.Lock()
	defer registered.Unlock()
	if l.Name == none || slices.ContainsFunc(registered.limiters, func(k Limiter) bool { return l.Name == k.Name }) {
		panic("retryconfig: the name " + l.Name + " is taken")
	}
	registered.limiters = append(registered.limiters, l)
}

func mustBeName(name string) {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
		panic("retryconfig: " + strconv.Quote(name) + " is not a valid name")
	}
}

var registered struct {
	sync.Mutex
	presets  []Preset
	limiters []Limiter
}

// presets returns the registered presets.
func presets() []Preset {
	registered.Lock()
	defer registered.Unlock()
	return slices.Clip(registered.presets)
}

// limiters returns the registered kinds of limiters.
func limiters() []Limiter {
	registered.Lock()
	defer registered.Unlock()
	return slices.Clip(registered.limiters)
}

func presetNamed(name string) (Preset, bool) {
	for _, p := range presets() {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

func presetNames() []string {
	var names []string
	for _, p := range presets() {
		if p.Successor == "" {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// presetOf returns the preset that p is from, and the service.
func presetOf(p retry.Policy) (preset Preset, service string, ok bool) {
	for _, preset := range presets() {
		if preset.Is == nil {
			continue
		}
		if service, ok := preset.Is(p); ok {
			return preset, service, true
		}
	}
	return Preset{}, "", false
}
