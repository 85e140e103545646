// Package aws registers the presets of package awspreset with package retryconfig, so that
// a configuration can contain
//
//	aws-standard-2026 service=dynamodb attempts=6
//
// It also registers awspreset.AdaptiveLimiter, as limiter=adaptive. Import it for its effect:
//
//	import _ "github.com/gobackoff/retry/retryconfig/aws"
package aws

import (
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

func init() {
	for preset := range awspreset.All() {
		retryconfig.Register(retryconfig.Preset{
			Name: preset.String(),
			New:  func(service string) (retry.Policy, error) { return preset.Policy(service), nil },
			Is:   func(p retry.Policy) (service string, ok bool) { return serviceOf(preset, p) },
		})
	}
	for name, successor := range map[string]awspreset.Preset{
		"aws-botocore-standard-2026-preview": awspreset.BotocoreStandard2026,
		"aws-botocore-adaptive-2026-preview": awspreset.BotocoreAdaptive2026,
		"aws-go-v2-standard-repaired":        awspreset.GoV2Standard2026,
		"aws-go-v2-adaptive-repaired":        awspreset.GoV2Adaptive2026,
	} {
		retryconfig.Register(retryconfig.Preset{Name: name, Successor: successor.String()})
	}
	retryconfig.RegisterLimiter(retryconfig.Limiter{
		Name: "adaptive",
		New:  func() retry.Limiter { return new(awspreset.AdaptiveLimiter) },
		Is: func(limiter retry.Limiter) bool {
			l, ok := limiter.(*awspreset.AdaptiveLimiter)
			return ok && l != nil && l.Common()
		},
	})
}

// serviceOf returns the service of a policy of the preset. A Classifier that is invalid or
// corrects clock skew is not a preset's.
func serviceOf(preset awspreset.Preset, p retry.Policy) (service string, ok bool) {
	c, ok := p.Classifier.(awspreset.Classifier)
	ok = ok && c == awspreset.Classifier{Preset: preset, Service: c.Service} && c.Validate() == nil
	return c.Service, ok
}
