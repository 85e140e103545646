package retryconfig_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

// TestLists: the separators of a list, and what follows it.
func TestLists(t *testing.T) {
	const want = "full base=1s attempts=3 timeout=2s retry-on=450,530 stop-on=ABORTED"
	for _, text := range []string{
		"full base=1s retry-on=450,530 stop-on=aborted timeout=2s",
		"full,base=1s,retry-on=450,530,stop-on=Aborted,timeout=2s",
		"full base=1s retry-on=450/530 timeout=2s stop-on=ABORTED",
		"full base=1s; retry-on=450, 530, 450; timeout=2s; stop-on=ABORTED",
		want,
	} {
		p, err := retryconfig.Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, textOf(p))
	}
	p, err := retryconfig.Parse("schedule delays=1s,2s,4s hint=ignore")
	require.NoError(t, err)
	assert.Equal(t, "schedule delays=1s/2s/4s attempts=4 hint=ignore", textOf(p))
}

func TestCodes(t *testing.T) {
	p, err := retryconfig.Parse("retry-on=450,530,5XX,DeadlineExceeded,40p01 stop-on=429,502-504")
	require.NoError(t, err)
	assert.Equal(t, retry.Codes{
		Retry: []string{"450", "530", "5xx", "DEADLINE_EXCEEDED", "40P01"}, Stop: []string{"429", "502-504"},
	}, p.Classifier)

	p, err = retryconfig.Parse("aws-standard-2.1 service=dynamodb retry-on=404 attempts=6")
	require.NoError(t, err)
	assert.IsType(t, awspreset.Classifier{}, p.Classifier.(retry.Codes).Else)
	assert.Equal(t, "aws-standard-2.1 service=dynamodb attempts=6 retry-on=404", textOf(p))
}

// TestCodesOfMappings: a mapping changes the lists that it names, and a Classifier of the
// program still decides about all other errors.
func TestCodesOfMappings(t *testing.T) {
	own := retry.PermanentIf(errOp)
	p := retryconfig.Policy{Policy: retry.Policy{Classifier: own}}
	for _, step := range []struct {
		document string
		want     retry.Classifier
	}{
		{`{"retry-on": [450, "530"]}`, retry.Codes{Retry: []string{"450", "530"}, Else: own}},
		{`{"stop-on": "429, 503"}`, retry.Codes{Retry: []string{"450", "530"}, Stop: []string{"429", "503"}, Else: own}},
		{`{"rule": "full", "base": "1s"}`, retry.Codes{Retry: []string{"450", "530"}, Stop: []string{"429", "503"}, Else: own}},
		{`{"retry-on": "none"}`, retry.Codes{Stop: []string{"429", "503"}, Else: own}},
		{`"full base=1s retry-on=404"`, retry.Codes{Retry: []string{"404"}, Else: own}},
		{`"full base=1s"`, own},
	} {
		require.NoError(t, json.Unmarshal([]byte(step.document), &p), step.document)
		assert.Equal(t, step.want, p.Classifier, step.document)
	}
}

func TestUnknownCodes(t *testing.T) {
	for word, want := range map[string]string{
		"UNAVALABLE": `retry-on: "UNAVALABLE" is not a code; did you mean UNAVAILABLE?`,
		"14":         `retry-on: "14" is not a code; write gRPC's by name: UNAVAILABLE`,
		"200":        `retry-on: "200" is a status of success; failures begin at 400`,
		"600":        `retry-on: "600" is not a status of HTTP; they end at 599`,
		"999":        `"999" is not a status of HTTP`,
		"500-600":    `"500-600" is not a code`,
		"6xx":        `"6xx" is not a code`,
		"8006":       `retry-on: "8006" is not a code; a SQLSTATE has five characters, and needs quotes in YAML: "08006"`,
		"4001":       `needs quotes in YAML: "40001"`,
		"5x":         `retry-on: "5x" is not a code; codes are HTTP statuses (503, 5xx, 502-504), names of gRPC (UNAVAILABLE) and SQLSTATEs (40001)`,
	} {
		_, err := retryconfig.Parse("retry-on=" + word)
		assert.ErrorContains(t, err, want)
		assert.ErrorIs(t, err, retry.ErrInvalid)
	}
	_, err := retryconfig.Parse("retry-on=503 stop-on=503,429")
	assert.ErrorContains(t, err, "503 is to be retried and not to be retried")
}

// A statusError is a response of a client library.
type statusError int

func (e statusError) Error() string   { return fmt.Sprint("status ", int(e)) }
func (e statusError) StatusCode() int { return int(e) }

// TestCodesOfDo: an operation whose error says a status.
func TestCodesOfDo(t *testing.T) {
	for text, want := range map[string]int{
		"no-delay attempts=3":                          1,
		"no-delay attempts=3 retry-on=404":             3,
		"no-delay attempts=3 retry-on=4xx stop-on=404": 1,
		"no-delay attempts=3 retry-on=405,UNAVAILABLE": 1,
	} {
		p, err := retryconfig.Parse(text)
		require.NoError(t, err)
		calls := 0
		err = retry.Do(t.Context(), p, func(context.Context) error {
			calls++
			return fmt.Errorf("load: %w", statusError(404))
		})
		assert.Error(t, err)
		assert.Equal(t, want, calls, text)
	}
}
