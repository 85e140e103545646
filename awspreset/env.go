package awspreset

import (
	"fmt"
	"os"
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
//     of the same SDK and generation; all generations of an SDK share one legacy mode;
//   - AWS_MAX_ATTEMPTS, a whole number of at least 1, is the number of attempts,
//     the first included.
//
// Unset or empty variables change nothing. Any other value, or a mode that the SDK
// lacks, is an error that matches [retry.ErrInvalid]; some SDKs ignore such a value
// instead. FromEnv reads the variables only during the call; it reads no other variable
// and no configuration file.
func FromEnv(preset Preset, service string) (retry.Policy, error) {
	if err := preset.Policy(service).Validate(); err != nil {
		return retry.Policy{}, err
	}
	var faults []string
	if mode := os.Getenv(awsModeVariable); mode != "" {
		var known string
		if preset, known = preset.inMode(mode); known != "" {
			faults = append(faults, fmt.Sprintf("%s=%q is not a mode of %v; %s", awsModeVariable, mode, preset, known))
		}
	}
	policy := preset.Policy(service)
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

// inMode returns the preset of the same SDK and generation for a mode. If there is
// none, it returns p and a text that names the existing modes.
func (p Preset) inMode(mode string) (_ Preset, known string) {
	own := p.row()
	var modes []string
	for other := range All() {
		row := other.row()
		// The legacy modes never changed.
		if row.sdk != own.sdk || row.generation != own.generation && row.mode != "legacy" || row.mode == "" {
			continue
		}
		if row.mode == mode {
			return other, ""
		}
		modes = append(modes, row.mode)
	}
	if modes == nil {
		return p, "it has only one"
	}
	return p, "its modes are " + strings.Join(modes, ", ")
}
