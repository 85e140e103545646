package main

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

func TestStatuses(t *testing.T) {
	for _, test := range []struct {
		text string
		want statuses
	}{
		{"1", statuses{{from: 1, to: 1}}},
		{"1,5-7, 255", statuses{{from: 1, to: 1}, {from: 5, to: 7}, {from: 255, to: 255}}},
		{"timeout,signal", statuses{{sort: "timeout"}, {sort: "signal"}}},
		{"SIGINT,term", statuses{{sort: "SIGINT"}, {sort: "SIGTERM"}}},
	} {
		var list statuses
		require.NoError(t, list.Set(test.text), test.text)
		assert.Equal(t, test.want, list)
	}
	for _, text := range []string{"", "0", "0-5", "256", "7-5", "0-600", "-1", "x", "1,,2", "1-", "SIGNOTHING"} {
		assert.Error(t, new(statuses).Set(text), text)
	}
	for _, text := range []string{"", "x", "timeout", "7-5", "600"} {
		assert.Error(t, new(statuses).setNumbers(text), text)
	}
	var list statuses
	require.NoError(t, list.Set("1"))
	require.NoError(t, list.Set("2"), "a repeated flag adds to the list")
	assert.Len(t, list, 2)
}

// TestClassify covers outcomes that are hard to produce by running commands.
func TestClassify(t *testing.T) {
	written := func(stdout, stderr string) (o *outcome) {
		o = &outcome{exit: 1}
		o.stdout.add([]byte(stdout))
		o.stderr.add([]byte(stderr))
		return o
	}
	pattern := &match{retryOnOutput: regexp.MustCompile("(?m)^again$")}
	for _, test := range []struct {
		name    string
		match   *match
		outcome *outcome
		want    retry.Class
	}{
		{"a failure", &match{}, &outcome{exit: 1}, retry.ClassTransient},
		{"a timeout", &match{}, &outcome{exit: -1, limit: "timeout"}, retry.ClassTimeout},
		{"temporarily no process", &match{}, &outcome{exit: exitNotExecutable, temporary: true}, retry.ClassTransient},
		{"not found", &match{}, &outcome{exit: exitNotFound}, retry.ClassPermanent},
		{"lost input", &match{retryOn: statuses{{from: 1, to: 255}}}, &outcome{exit: 1, last: "lost"}, retry.ClassPermanent},
		{"retry is ending", &match{}, &outcome{exit: 1, ended: true}, retry.ClassPermanent},
		{"Ctrl-C", &match{}, &outcome{exit: 1, interrupted: true}, retry.ClassPermanent},
		{"pattern in stdout", pattern, written("x\nagain\n", ""), retry.ClassTransient},
		{"pattern in stderr", pattern, written("", "again"), retry.ClassTransient},
		{"pattern across streams", pattern, written("aga", "in"), retry.ClassPermanent},
		{"a status below 128+n", &match{stopOn: statuses{{from: 137, to: 137}}}, &outcome{exit: -1, signal: 9}, retry.ClassPermanent},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, test.match.Classify(test.outcome).Class)
		})
	}
}

// TestTail: the end of the output is kept, however the output is split.
func TestTail(t *testing.T) {
	var end tail
	for range 1000 {
		end.add(make([]byte, 1000))
	}
	end.add([]byte("last"))
	assert.Len(t, end.bytes(), tailSize)
	assert.Equal(t, "last", string(end.bytes()[tailSize-4:]))
	assert.LessOrEqual(t, cap(end.data), 4*tailSize)
}
