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

// FromEnv returns the policy for a service that two environment variables ask for:
//
//   - AWS_RETRY_MODE (legacy, standard or adaptive) selects the preset;
//   - AWS_MAX_ATTEMPTS, a whole number of at least 1, is the number of attempts, the first
//     included.
//
// If AWS_RETRY_MODE is unset, FromEnv uses preset. Otherwise, it uses the first of preset and
// others that is the behavior of that mode. In others, name the preset that the variable means in
// your other programs:
//
//	FromEnv(Standard21, service, BotocoreLegacy)           // boto3 since 1.44.0
//	FromEnv(BotocoreLegacy, service, BotocoreStandard20)   // boto3 before
//	FromEnv(Standard21, service, JavaV2Legacy)             // Java 2 since 2.58.0
//	FromEnv(JavaV2Legacy, service, JavaV2Standard20)       // Java 2 before
//	FromEnv(Standard21, service)                           // Go v2, which has no legacy mode
//
// If none of them is of that mode, the legacy mode is that of the same SDK, and the standard mode
// of a present SDK is [Standard21]. The adaptive mode is the standard mode with an
// [AdaptiveLimiter].
//
// Unset or empty variables change nothing. Any other value, or a mode for which there is no
// preset, is an error that matches [retry.ErrInvalid]; some SDKs ignore such a value
// instead. FromEnv reads the variables only during the call; it reads no other variable
// and no configuration file.
func FromEnv(preset Preset, service string, others ...Preset) (retry.Policy, error) {
	named := append([]Preset{preset}, others...)
	for _, p := range named {
		if err := p.Policy(service).Validate(); err != nil {
			return retry.Policy{}, err
		}
	}
	var faults []string
	mode := os.Getenv(awsModeVariable)
	if mode != "" {
		found, fault := presetIn(mode, named)
		if fault != "" {
			faults = append(faults, fmt.Sprintf("%s=%q %s", awsModeVariable, mode, fault))
		}
		preset = found
	}
	policy := preset.Policy(service)
	if mode == adaptive {
		policy.Limiter = limiterOf(named)
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

// The modes of AWS_RETRY_MODE. The adaptive mode has the preset of the standard mode.
const (
	legacy   = "legacy"
	standard = "standard"
	adaptive = "adaptive"
)

// presetIn returns the preset that a mode means to a program with the presets named. If there is
// none, it returns the first of them and what is wrong.
func presetIn(mode string, named []Preset) (_ Preset, fault string) {
	known := []string{legacy, standard, adaptive}
	if !slices.Contains(known, mode) {
		return named[0], "is not a mode" + meant(mode, known) + "; the modes are " + strings.Join(known, ", ")
	}
	own := mode
	if mode == adaptive {
		own = standard
	}
	for _, p := range named {
		if p.row().mode == own {
			return p, ""
		}
	}
	first := named[0].row()
	switch {
	case first.mode == "":
		return named[0], fmt.Sprintf("is not a mode of %v, whose SDK has only one", named[0])
	case own == standard && slices.ContainsFunc(named, Preset.isPresent):
		return Standard21, ""
	case own == legacy && first.sdk != "":
		for p := range All() {
			if p.row().sdk == first.sdk && p.row().mode == legacy {
				return p, ""
			}
		}
	}
	if own == legacy {
		return named[0], fmt.Sprintf("has no preset beside %v; if your SDK has this mode, name BotocoreLegacy or JavaV2Legacy as another argument of FromEnv", named[0])
	}
	return named[0], fmt.Sprintf("has no preset; %v has only the mode %s", named[0], first.mode)
}

// meant returns a question for a misspelled mode. The modes have different first letters.
func meant(typed string, known []string) string {
	for _, mode := range known {
		if strings.EqualFold(typed[:1], mode[:1]) {
			return " (did you mean " + mode + "?)"
		}
	}
	return ""
}

// isPresent reports whether present releases of the preset's SDK have the behavior 2.1.
func (p Preset) isPresent() bool { return p.row().mode != "" && p != JavaV1 }

// limiterOf returns the limiter of the adaptive mode of the SDK that the presets are of.
func limiterOf(named []Preset) *AdaptiveLimiter {
	if slices.ContainsFunc(named, func(p Preset) bool { return p.row().sdk == "botocore" }) {
		return &AdaptiveLimiter{InitialRate: 1}
	}
	return new(AdaptiveLimiter)
}
