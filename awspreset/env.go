package awspreset

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gobackoff/retry"
)

const (
	awsModeVariable     = "AWS_RETRY_MODE"
	awsAttemptsVariable = "AWS_MAX_ATTEMPTS"
)

// FromEnv returns the policy of a preset for a service after applying two
// environment variables:
//
//   - AWS_RETRY_MODE (legacy, standard or adaptive) selects the preset for that mode
//     of the same SDK: with a preset of botocore, for example, legacy means [BotocoreLegacy]
//     and standard means [BotocoreStandard20]. adaptive means standard with an
//     [AdaptiveLimiter];
//   - AWS_MAX_ATTEMPTS, a whole number of at least 1, is the number of attempts,
//     the first included.
//
// Unset or empty variables change nothing. Any other value, or a mode for which the SDK has
// no preset, is an error that matches [retry.ErrInvalid]; some SDKs ignore such a value
// instead. FromEnv reads the variables only during the call; it reads no other variable
// and no configuration file.
func FromEnv(preset Preset, service string) (retry.Policy, error) {
	if err := preset.Policy(service).Validate(); err != nil {
		return retry.Policy{}, err
	}
	var faults []string
	mode := os.Getenv(awsModeVariable)
	if mode != "" {
		found, known := preset.inMode(mode)
		if known != "" {
			faults = append(faults, fmt.Sprintf("%s=%q is not a mode of %v; %s", awsModeVariable, mode, preset, known))
		}
		preset = found
	}
	policy := preset.Policy(service)
	if mode == adaptive {
		policy.Limiter = preset.limiter()
	}
	if text := os.Getenv(awsAttemptsVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			faults = append(faults, fmt.Sprintf("%s=%q is not a whole number of at least 1", awsAttemptsVariable, text))
		}
		policy.MaxAttempts = n
	}
	if err := invalid("environment", faults); err != nil {
		return retry.Policy{}, err
	}
	return policy, nil
}

const adaptive = "adaptive"

// inMode returns the preset of the same SDK for a mode. If there is none, it returns p and a
// text that names the existing modes.
func (p Preset) inMode(mode string) (_ Preset, known string) {
	own := p.row()
	var modes []string
	for other := range All() {
		row := other.row()
		if row.sdk != own.sdk || row.mode == "" {
			continue
		}
		modes = append(modes, row.mode)
		if row.mode == "standard" {
			modes = append(modes, adaptive)
		}
		if slices.Contains(modes, mode) {
			return other, ""
		}
	}
	if modes == nil {
		return p, "it has only one"
	}
	return p, "its modes are " + strings.Join(modes, ", ")
}

// limiter returns the limiter of the SDK's adaptive mode.
func (p Preset) limiter() *AdaptiveLimiter {
	if p.row().sdk == "botocore" {
		return &AdaptiveLimiter{InitialRate: 1}
	}
	return new(AdaptiveLimiter)
}
