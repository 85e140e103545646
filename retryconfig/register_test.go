package retryconfig_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

func TestRegister(t *testing.T) {
	name := fmt.Sprint("checkout-db-", time.Now().UnixNano()) // a name can be registered only once
	retryconfig.Register(retryconfig.Preset{Name: name, New: func(service string) (retry.Policy, error) {
		if service != "" {
			return retry.Policy{}, errors.New("it has no services")
		}
		return retry.Policy{MaxAttempts: 9, Budget: &retry.TokenBudget{}}, nil
	}})
	p, err := retryconfig.Parse(name + " timeout=2s")
	require.NoError(t, err)
	assert.Equal(t, retry.Policy{MaxAttempts: 9, AttemptTimeout: 2 * time.Second, Budget: &retry.TokenBudget{}}, p)
	assert.Equal(t, "standard attempts=9 timeout=2s budget=token", textOf(p), "without a function Is")
	_, err = retryconfig.Parse(name + " service=s3")
	assert.ErrorContains(t, err, "it has no services")
	_, err = retryconfig.Parse(name + " base=1s")
	assert.ErrorContains(t, err, `unknown key "base"; valid: service, attempts`)
	_, err = retryconfig.Parse(name + "x")
	assert.ErrorContains(t, err, ", "+name, "an error lists the presets")
	_, err = retryconfig.Parse("spread(" + name + "x)")
	assert.NotContains(t, fmt.Sprint(err), ", "+name, "except where no preset may be")
	for _, name := range []string{name, "full", "house", "", "a b", "a=b", "x(", "é"} {
		assert.Panics(t, func() { retryconfig.Register(retryconfig.Preset{Name: name, New: newHouse}) }, name)
	}
}

func TestRegisterLimiter(t *testing.T) {
	p, err := retryconfig.Parse("standard attempts=3 limiter=porter")
	require.NoError(t, err)
	assert.Equal(t, &foreignLimiter{}, p.Limiter)
	assert.Equal(t, "standard attempts=3 limiter=porter", textOf(p))
	for _, name := range []string{"porter", "none", "", "a b"} {
		assert.Panics(t, func() { retryconfig.RegisterLimiter(retryconfig.Limiter{Name: name}) }, name)
	}
}

// TestNotLinked: a text that needs the presets of the AWS SDKs says which import is missing.
func TestNotLinked(t *testing.T) {
	for _, text := range []string{"aws-standard-2026", "aws-js-v2 service=s3", "standard limiter=adaptive"} {
		_, err := retryconfig.Parse(text)
		assert.ErrorContains(t, err, "import github.com/gobackoff/retry/retryconfig/aws", text)
	}
	_, err := retryconfig.Parse("standard limiter=adaptve")
	assert.NotContains(t, fmt.Sprint(err), "import")
}

// TestDependencies: a program links no presets that it does not use, and no text.
func TestDependencies(t *testing.T) {
	const module = "github.com/gobackoff/retry"
	deps := func(pkg string) []string {
		out, err := exec.Command("go", "list", "-deps", module+pkg).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	assert.NotContains(t, deps(""), module+"/retryconfig")
	assert.NotContains(t, deps("/awspreset"), module+"/retryconfig")
	assert.NotContains(t, deps("/retryconfig"), module+"/awspreset")
	assert.Subset(t, deps("/retryconfig/aws"), []string{module + "/retryconfig", module + "/awspreset"})
}
