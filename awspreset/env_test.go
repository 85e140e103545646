package awspreset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

func TestFromEnv(t *testing.T) {
	type presets = []awspreset.Preset
	const (
		standard21, botocore20, go20, js20 = awspreset.Standard21, awspreset.BotocoreStandard20, awspreset.GoV2Standard20, awspreset.JavaScriptV3Standard20
		botocoreLegacy, javaLegacy         = awspreset.BotocoreLegacy, awspreset.JavaV2Legacy
	)
	tests := []struct {
		presets        presets
		service        string
		mode, attempts string
		want           string // the policy's text or part of the error
	}{
		{presets{standard21}, "", "", "", "aws-standard-2.1"},
		{presets{standard21}, "dynamodb", "", "7", "aws-standard-2.1 service=dynamodb attempts=7"},
		{presets{standard21}, "", "adaptive", "", "aws-standard-2.1 limiter=adaptive"},
		{presets{standard21}, "", "standard", "1", "aws-standard-2.1 attempts=1"},

		// today's boto3 and Java 2
		{presets{standard21, botocoreLegacy}, "", "", "", "aws-standard-2.1"},
		{presets{standard21, botocoreLegacy}, "", "standard", "", "aws-standard-2.1"},
		{presets{standard21, botocoreLegacy}, "", "legacy", "2", "aws-botocore-legacy attempts=2"},
		{presets{standard21, botocoreLegacy}, "", "adaptive", "", "aws-standard-2.1 limiter=adaptive-botocore"},
		{presets{standard21, javaLegacy}, "dynamodb", "legacy", "", "aws-java-v2-legacy service=dynamodb"},
		{presets{standard21, javaLegacy}, "", "adaptive", "", "aws-standard-2.1 limiter=adaptive"},
		{presets{botocoreLegacy}, "", "", "", "aws-botocore-legacy"},
		{presets{botocoreLegacy}, "", "standard", "", "aws-standard-2.1"},
		{presets{botocoreLegacy}, "", "adaptive", "", "aws-standard-2.1 limiter=adaptive-botocore"},
		{presets{javaLegacy}, "", "standard", "", "aws-standard-2.1"},

		// the releases before
		{presets{botocoreLegacy, botocore20}, "", "", "", "aws-botocore-legacy"},
		{presets{botocoreLegacy, botocore20}, "", "standard", "", "aws-botocore-standard-2.0"},
		{presets{botocoreLegacy, botocore20}, "", "adaptive", "", "aws-botocore-standard-2.0 limiter=adaptive-botocore"},
		{presets{botocore20}, "", "legacy", "", "aws-botocore-legacy"},
		{presets{awspreset.JavaV2Standard20}, "", "legacy", "", "aws-java-v2-legacy"},
		{presets{go20}, "", "adaptive", "", "aws-go-v2-standard-2.0 limiter=adaptive"},
		{presets{awspreset.JavaV1}, "", "legacy", "", "aws-java-v1"},
		{presets{awspreset.JavaScriptV2}, "", "", "2", "aws-js-v2 attempts=2"},
		{presets{awspreset.GoV1}, "", "", "2", "aws-go-v1 attempts=2"},

		{presets{standard21}, "", "legacy", "", `AWS_RETRY_MODE="legacy" has no preset beside aws-standard-2.1; if your SDK has this mode, name BotocoreLegacy or JavaV2Legacy`},
		{presets{go20}, "", "legacy", "", `AWS_RETRY_MODE="legacy" has no preset beside aws-go-v2-standard-2.0`},
		{presets{js20}, "", "legacy", "", `AWS_RETRY_MODE="legacy" has no preset beside aws-js-v3-standard-2.0`},
		{presets{go20}, "", "Standard", "", `AWS_RETRY_MODE="Standard" is not a mode (did you mean standard?); the modes are legacy, standard, adaptive`},
		{presets{standard21}, "", "adaptve", "", `AWS_RETRY_MODE="adaptve" is not a mode (did you mean adaptive?); the modes are`},
		{presets{standard21}, "", "2.1", "", `AWS_RETRY_MODE="2.1" is not a mode; the modes are`},
		{presets{awspreset.JavaV1}, "", "standard", "", `AWS_RETRY_MODE="standard" has no preset; aws-java-v1 has only the mode legacy`},
		{presets{awspreset.JavaScriptV2}, "", "standard", "", `AWS_RETRY_MODE="standard" is not a mode of aws-js-v2, whose SDK has only one`},
		{presets{standard21}, "", "", "0", `AWS_MAX_ATTEMPTS="0" is not a whole number of at least 1`},
		{presets{standard21}, "", "", "-1", `AWS_MAX_ATTEMPTS="-1" is not a whole number of at least 1`},
		{presets{standard21}, "", "", "3 ", `AWS_MAX_ATTEMPTS="3 " is not a whole number of at least 1`},
		{presets{standard21}, "", "", "99999999999999999999", `AWS_MAX_ATTEMPTS="99999999999999999999" is not`},
		{presets{standard21}, "", "no", "no", `AWS_MAX_ATTEMPTS="no" is not`},
		{presets{standard21}, "", "no", "no", `AWS_RETRY_MODE="no" is not a mode`},
		{presets{200}, "", "", "", "(200) is not a preset"},
		{presets{standard21, 200}, "", "", "", "(200) is not a preset"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%v mode=%s attempts=%s", tt.presets, tt.mode, tt.attempts), func(t *testing.T) {
			t.Setenv("AWS_RETRY_MODE", tt.mode)
			t.Setenv("AWS_MAX_ATTEMPTS", tt.attempts)
			p, err := awspreset.FromEnv(tt.presets[0], tt.service, tt.presets[1:]...)
			if strings.HasPrefix(tt.want, "aws-") {
				require.NoError(t, err)
				assert.Equal(t, tt.want, textOf(p))
				return
			}
			require.ErrorIs(t, err, retry.ErrInvalid)
			assert.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

type envCase struct {
	SDK         string
	Env         map[string]string
	Service     string
	Mode        string
	Attempts    *int `json:"total_max_attempts_configured"`
	MaxAttempts *int `json:"max_attempts"`
	Error       string
}

// TestEnv: FromEnv reads the variables as the SDKs do. Cases with other settings are left out.
func TestEnv(t *testing.T) {
	text, err := os.ReadFile("testdata/env.json")
	require.NoError(t, err)
	var file struct {
		Cases []struct {
			envCase
			File    any            `json:"config_file"`
			Options map[string]any `json:"client_config"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &file))
	for _, c := range file.Cases {
		env := fmt.Sprint(c.Env)
		if c.File == nil && len(c.Options) == 0 && !strings.Contains(env, "DEFAULTS_MODE") && !strings.Contains(env, "2026") {
			assert.NoError(t, checkEnv(c.envCase), "%s %s", c.SDK, env)
		}
	}
}

// checkEnv checks FromEnv. Here, values that some SDKs accept and others refuse are
// errors.
func checkEnv(c envCase) error {
	preset := awspreset.BotocoreLegacy
	switch {
	case strings.HasPrefix(c.SDK, "@aws-sdk"):
		preset = awspreset.JavaScriptV3Standard20
	case strings.HasPrefix(c.SDK, "aws-sdk-go-v2"):
		preset = awspreset.GoV2Standard20
	}
	for _, name := range []string{"AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS"} {
		old, was := os.LookupEnv(name)
		os.Unsetenv(name)
		if was {
			defer os.Setenv(name, old)
		} else {
			defer os.Unsetenv(name)
		}
	}
	for name, value := range maps.All(c.Env) {
		os.Setenv(name, value)
	}
	if value, set := c.Env["AWS_RETRY_MODE"]; set && value == "" {
		c.Error = "" // an error in botocore; here empty means unset
	}
	p, err := awspreset.FromEnv(preset, c.Service)
	if c.Error != "" || c.SDK[0] == '@' && c.Env["AWS_RETRY_MODE"] == "legacy" || refusedSomewhere(c.Env) {
		return mustBe("whether the error is one of the environment", errors.Is(err, retry.ErrInvalid), true)
	}
	if err != nil {
		return err
	}
	if c.Attempts != nil {
		err = mustBe("number of attempts", p.MaxAttempts, *c.Attempts)
	}
	if c.MaxAttempts != nil {
		err = mustBe("number of attempts", p.MaxAttempts, *c.MaxAttempts)
	}
	if c.Mode != "" && !strings.Contains(textOf(p), c.Mode) {
		err = errors.Join(err, fmt.Errorf("policy is %s, want mode %s", textOf(p), c.Mode))
	}
	return err
}

func refusedSomewhere(env map[string]string) bool {
	switch env["AWS_MAX_ATTEMPTS"] {
	case "0", "-1", "x":
		return true
	}
	return env["AWS_RETRY_MODE"] == "Standard"
}
