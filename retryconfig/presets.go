package retryconfig

import (
	"slices"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// A preset is a policy with a name in the text form.
type preset struct {
	name string

	// policy returns a new policy for each text with the name. service is the value of the
	// text's service key, or "".
	policy func(service string) (retry.Policy, error)

	// is reports whether p is a policy of the preset, perhaps with changes, and for which
	// service. The policy then prints as the name and the changes, if it still has the same
	// Backoff.
	is func(p retry.Policy) (service string, ok bool)
}

var presets = awsPresets()

func awsPresets() (list []preset) {
	for p := range awspreset.All() {
		list = append(list, preset{
			name:   p.String(),
			policy: func(service string) (retry.Policy, error) { return p.Policy(service), nil },
			is: func(policy retry.Policy) (service string, ok bool) {
				c, ok := policy.Classifier.(awspreset.Classifier)
				// A Classifier that is invalid or corrects clock skew is not a preset's.
				ok = ok && c == awspreset.Classifier{Preset: p, Service: c.Service} && c.Validate() == nil
				if !ok {
					return "", false
				}
				known := p.Policy(c.Service).Classifier.(awspreset.Classifier)
				return known.Service, true
			},
		})
	}
	return list
}

// A limiter is a kind of [retry.Limiter] with a name in the text form: limiter=NAME.
type limiter struct {
	name string
	make func() retry.Limiter
	is   func(l retry.Limiter) (ok bool) // reports whether l is equal to what make returns, except for its state
}

var limiters = []limiter{adaptive("adaptive", 0), adaptive("adaptive-botocore", 1)}

func adaptive(name string, initialRate float64) limiter {
	return limiter{
		name: name,
		make: func() retry.Limiter { return &awspreset.AdaptiveLimiter{InitialRate: initialRate} },
		is: func(l retry.Limiter) bool {
			own, ok := l.(*awspreset.AdaptiveLimiter)
			return ok && own != nil && own.InitialRate == initialRate
		},
	}
}

func presetNamed(name string) (preset, bool) {
	for _, p := range presets {
		if p.name == name {
			return p, true
		}
	}
	return preset{}, false
}

func presetNames() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	slices.Sort(names)
	return names
}

// presetOf returns the preset that a policy is from, and the service.
func presetOf(policy retry.Policy) (p preset, service string, ok bool) {
	for _, p := range presets {
		if service, ok := p.is(policy); ok {
			return p, service, true
		}
	}
	return preset{}, "", false
}
