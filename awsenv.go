package retry

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The environment variables that [FromAWSEnv] reads.
const (
	awsModeVariable     = "AWS_RETRY_MODE"
	awsAttemptsVariable = "AWS_MAX_ATTEMPTS"
)

// FromAWSEnv returns the policy of a profile for a service (see
// [AWSProfile.Policy]) as the environment of the process changes it, now and
// only now:
//
//   - AWS_RETRY_MODE, which is legacy, standard or adaptive, chooses the
//     profile of that mode, of the same SDK and generation; an SDK has one
//     legacy mode for all generations;
//   - AWS_MAX_ATTEMPTS, a whole number of at least 1, is the number of
//     attempts, the first included.
//
// A variable that is not set, or empty, changes nothing. Any other value is an
// error that matches [ErrInvalid], as is a mode for which there is no such
// profile; the SDKs differ in what they do then, and some take no notice. The
// SDKs' configuration files are not read, and no other variable is.
func FromAWSEnv(profile AWSProfile, service string) (Policy, error) {
	if err := profile.Policy(service).Validate(); err != nil {
		return Policy{}, err
	}
	var faults []string
	if mode := os.Getenv(awsModeVariable); mode != "" {
		var known string
		if profile, known = profile.inMode(mode); known != "" {
			faults = append(faults, fmt.Sprintf("%s=%q is no mode of %v; %s", awsModeVariable, mode, profile, known))
		}
	}
	policy := profile.Policy(service)
	if text := os.Getenv(awsAttemptsVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			faults = append(faults, fmt.Sprintf("%s=%q is not a whole number of at least 1", awsAttemptsVariable, text))
		}
		policy.MaxAttempts = n
	}
	if err := invalid("environment", faults); err != nil {
		return Policy{}, err
	}
	return policy, nil
}

// inMode returns the profile of the same SDK and generation in another mode.
// If there is none it returns p and what there is.
func (p AWSProfile) inMode(mode string) (_ AWSProfile, known string) {
	own := p.row()
	var modes []string
	for other := range AWSProfiles() {
		row := other.row()
		// The legacy modes are what they were in all generations.
		if row.sdk != own.sdk || row.generation != own.generation && row.mode != "legacy" || row.mode == "" {
			continue
		}
		if row.mode == mode {
			return other, ""
		}
		modes = append(modes, row.mode)
	}
	if modes == nil {
		return p, "it has but one"
	}
	return p, "its modes are " + strings.Join(modes, ", ")
}
