package decoders

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

// The code of docs/configuration.md, unchanged.

type Config struct {
	Retry retryconfig.Policy `yaml:"retry"`
}

func readConfig(file []byte, args []string) (config Config, err error) {
	config.Retry.MaxAttempts = 5 // the default
	if err := yaml.Unmarshal(file, &config); err != nil {
		return config, err
	}
	if text := os.Getenv("APP_RETRY"); text != "" {
		if err := config.Retry.UnmarshalText([]byte(text)); err != nil {
			return config, fmt.Errorf("APP_RETRY: %w", err)
		}
	}
	flags := flag.NewFlagSet("app", flag.ContinueOnError)
	flags.TextVar(&config.Retry, "retry", config.Retry, "retry `policy`")
	return config, flags.Parse(args)
}

// TestGuide: the YAML of the page is what its code reads, and a flag overrides the
// environment, which overrides the file.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	var policies []string
	for _, part := range strings.Split(string(page), "```yaml\n")[1:] {
		file, _, _ := strings.Cut(part, "```")
		config, err := readConfig([]byte(file), nil)
		require.NoError(t, err, file)
		policies = append(policies, config.Retry.String())
	}
	assert.Equal(t, []string{
		"full base=50ms cap=20s attempts=5", "aws-standard-2.1 service=dynamodb attempts=6 budget=shared(reserve=1)",
	}, policies)

	file, args := []byte("retry: {elapsed: 1m}"), []string{"-retry", "aws-js-v2"}
	read := func(want string, args ...string) {
		t.Helper()
		config, err := readConfig(file, args)
		require.NoError(t, err)
		assert.Equal(t, want, config.Retry.String())
	}
	read("standard attempts=5 elapsed=1m")
	read("aws-js-v2", args...)
	t.Setenv("APP_RETRY", "no-delay attempts=2")
	read("no-delay attempts=2")
	read("aws-js-v2", args...)
	t.Setenv("APP_RETRY", "ful base=1s")
	_, err = readConfig(file, nil)
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.ErrorContains(t, err, `APP_RETRY: invalid retry policy "ful base=1s": unknown name "ful"; did you mean "full"?`)
}
