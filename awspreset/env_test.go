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
	tests := []struct {
		preset         awspreset.Preset
		service        string
		mode, attempts string
		want           string // the policy's text or part of the error
	}{
		{awspreset.Standard21, "", "", "", "aws-standard-2.1"},
		{awspreset.Standard21, "dynamodb", "", "7", "aws-standard-2.1 service=dynamodb attempts=7"},
		{awspreset.Standard21, "", "adaptive", "", "aws-standard-2.1 limiter=adaptive"},
		{awspreset.Standard21, "", "standard", "1", "aws-standard-2.1 attempts=1"},
		{awspreset.BotocoreStandard20, "", "legacy", "", "aws-botocore-legacy"},
		{awspreset.BotocoreLegacy, "", "standard", "", "aws-botocore-standard-2.0"},
		{awspreset.BotocoreLegacy, "", "adaptive", "", "aws-botocore-standard-2.0 limiter=adaptive-botocore"},
		{awspreset.GoV2Standard20, "", "adaptive", "", "aws-go-v2-standard-2.0 limiter=adaptive"},
		{awspreset.JavaV2Standard20, "", "legacy", "", "aws-java-v2-legacy"},
		{awspreset.JavaV1, "", "legacy", "", "aws-java-v1"},
		{awspreset.JavaScriptV2, "", "", "2", "aws-js-v2 attempts=2"},
		{awspreset.GoV1, "", "", "2", "aws-go-v1 attempts=2"},

		{awspreset.Standard21, "", "legacy", "", `AWS_RETRY_MODE="legacy" is not a mode of aws-standard-2.1; its modes are standard, adaptive`},
		{awspreset.GoV2Standard20, "", "Standard", "", `AWS_RETRY_MODE="Standard" is not a mode of aws-go-v2-standard-2.0; its modes are standard, adaptive`},
		{awspreset.JavaV1, "", "standard", "", `AWS_RETRY_MODE="standard" is not a mode of aws-java-v1; its modes are legacy`},
		{awspreset.JavaScriptV2, "", "standard", "", `AWS_RETRY_MODE="standard" is not a mode of aws-js-v2; it has only one`},
		{awspreset.Standard21, "", "", "0", `AWS_MAX_ATTEMPTS="0" is not a whole number of at least 1`},
		{awspreset.Standard21, "", "", "-1", `AWS_MAX_ATTEMPTS="-1" is not a whole number of at least 1`},
		{awspreset.Standard21, "", "", "3 ", `AWS_MAX_ATTEMPTS="3 " is not a whole number of at least 1`},
		{awspreset.Standard21, "", "", "99999999999999999999", `AWS_MAX_ATTEMPTS="99999999999999999999" is not`},
		{awspreset.Standard21, "", "no", "no", `AWS_MAX_ATTEMPTS="no" is not`},
		{awspreset.Standard21, "", "no", "no", `AWS_RETRY_MODE="no" is not a mode`},
		{awspreset.Preset(200), "", "", "", "(200) is not a preset"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%v mode=%s attempts=%s", tt.preset, tt.mode, tt.attempts), func(t *testing.T) {
			t.Setenv("AWS_RETRY_MODE", tt.mode)
			t.Setenv("AWS_MAX_ATTEMPTS", tt.attempts)
			p, err := awspreset.FromEnv(tt.preset, tt.service)
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
