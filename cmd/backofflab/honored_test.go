package main

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func randomPolicy(rng *rand.Rand) string {
	pick := func(texts ...string) string { return texts[rng.IntN(len(texts))] }
	rule := pick(
		"none", "constant delay=20ms", "exponential base=10ms cap=1s", "linear base=10ms step=10ms cap=1s", "fibonacci base=10ms cap=1s",
		"schedule delays=10ms/20ms/50ms", "full base=10ms cap=1s", "equal base=10ms cap=1s", "decorrelated base=5ms cap=1s",
		"jittered(fibonacci base=10ms cap=1s) share=0.5", "spread(constant delay=50ms) fraction=0.2", "capped(full base=50ms) cap=60ms",
		"when-throttled(constant delay=1s | no-delay)", "standard", "aws-standard-2.1", "aws-standard-2.1 limiter=adaptive", "aws-standard-2.1 service=dynamodb",
	)
	keys := []string{
		pick("", "attempts=1", "attempts=3", "attempts=7", "attempts=unlimited"), pick("", "", "elapsed=300ms", "elapsed=5s"),
		pick("", "", "timeout=35ms", "timeout=1s"), pick("", "", "hint=ignore", "hint=or-give-up(max=1m)"),
		pick("", "budget=none", "budget=shared", "budget=shared(reserve=1)", "budget=shared(reserve=20)"),
		pick("", "", "limiter=adaptive", "limiter=none"),
		pick("", "", "", "", "", "", "", "", "", "first=1s", "hint=plus", "budget=aws", "slots=5ms"), // not part of any policy
	}
	return strings.Join(strings.Fields(rule+" "+strings.Join(keys, " ")), " ")
}

// Every subcommand honors a policy or refuses it with a one-line error.
func TestHonoredOrRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	honored := 0
	for range 200 {
		text := randomPolicy(rng)
		p, err := retryconfig.Parse(text)
		if err == nil {
			honored++
		}
		status, _, stderr := backofflab(t.Context(), "explain", text)
		assert.Equal(t, err == nil, status == 0, "%s: %s", text, stderr)
		small := []string{"-trials", "1", "-policy", text}
		row := check(t, text, p, err == nil, append([]string{"contention", "-clients", "8"}, small...)...)
		if err == nil {
			atMost(t, text, p, number64(t, row[3])/8)
		}
		storm := append([]string{"-rate", "20", "-capacity", "100", "-processes", "3", "-from", "5s", "-to", "6s", "-horizon", "25s", "-deadline", "3s"}, small...)
		row = check(t, text, p, err == nil, append([]string{"storm"}, storm...)...)
		if err == nil {
			atMost(t, text, p, number64(t, row[5]))
		}
	}
	assert.Greater(t, honored, 100)
	assert.Less(t, honored, 190)
}

// check expects CSV with a row of the policy's full name, which it returns, or a one-line error.
func check(t *testing.T, text string, p retry.Policy, valid bool, args ...string) (row []string) {
	t.Helper()
	status, stdout, stderr := backofflab(t.Context(), append(args, "-csv", "-")...)
	what := fmt.Sprintf("%s of %q: %s", args[0], text, stderr)
	if !valid {
		assert.Equal(t, misused, status, what)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), what)
		return nil
	}
	require.Zero(t, status, what)
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	require.NoError(t, err, what)
	name := retryconfig.Policy{Policy: p}.String()
	own := slices.IndexFunc(rows, func(row []string) bool { return row[0] == name }) // beside the references
	require.Positive(t, own, what)
	return rows[own]
}

func atMost(t *testing.T, text string, p retry.Policy, attempts float64) {
	t.Helper()
	assert.LessOrEqual(t, attempts, float64(p.Attempts()), text)
}

func number64(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return x
}
