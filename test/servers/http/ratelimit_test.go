package http_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryhttp"
)

// listWait reads the RateLimit lists with httpsfv, as the draft says, and returns the time
// until every limit that is used up, or any if none is, has something available again. The window
// of a limit says so only if it is used up.
func listWait(t *testing.T, field, policy string) time.Duration {
	list, err := httpsfv.UnmarshalList([]string{field})
	require.NoError(t, err, field)
	policies, err := httpsfv.UnmarshalList([]string{policy})
	require.NoError(t, err, policy)
	var usedUp, all []time.Duration
	for _, m := range list {
		item := m.(httpsfv.Item)
		reset, ok := seconds(item, "t")
		if ok {
			all = append(all, reset)
		}
		for i := 0; i < len(policies) && !ok; i++ {
			if p := policies[i].(httpsfv.Item); p.Value == item.Value {
				reset, ok = seconds(p, "w")
				break
			}
		}
		if !ok {
			continue
		}
		if r, _ := item.Params.Get("r"); r == int64(0) {
			usedUp = append(usedUp, reset)
		}
	}
	switch {
	case len(usedUp) > 0:
		return slices.Max(usedUp)
	case len(all) > 0:
		return slices.Min(all)
	}
	return 0
}

// seconds also accepts a decimal, although the draft asks for an integer.
func seconds(item httpsfv.Item, param string) (time.Duration, bool) {
	switch n, _ := item.Params.Get(param); n := n.(type) {
	case int64:
		return time.Duration(n) * time.Second, n >= 0
	case float64:
		return time.Duration(n * float64(time.Second)), n >= 0
	}
	return 0, false
}

// TestRateLimitFields compares RetryAfter with the draft's rules on random fields that
// httpsfv reads.
func TestRateLimitFields(t *testing.T) {
	names := []string{`"a"`, `"b,c"`, `"d;t=1"`, `"e\""`, `"\\"`, `""`}
	params := []string{"r=0", "r=3", "t=5", "t=60", "t=soon", `t="7"`, "t=-1", "t=1.5", "pk=:aGk=:", `qu="x, y;t=9"`, "on", "off=?0", "*x=a/b"}
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	space := func() string { return pick([]string{"", "", " "}) }
	members := func(params []string) string {
		var list []string
		for range 1 + rng.IntN(4) {
			var member strings.Builder
			member.WriteString(pick(names))
			for range rng.IntN(5) {
				member.WriteString(";" + space() + pick(params))
			}
			list = append(list, member.String())
		}
		return strings.Join(list, pick([]string{",", ", ", "\t, "}))
	}
	waits := 0
	for range 100_000 {
		field, policy := members(params), members([]string{"q=9", "w=3", "w=20", "w=x", `comment="w=8"`})
		h := http.Header{"Ratelimit": {field}, "Ratelimit-Policy": {policy}}
		want := listWait(t, field, policy)
		got := retryhttp.RetryAfter(&http.Response{StatusCode: 429, Header: h}, time.Now())
		require.Equal(t, want, got, "%s\n%s", field, policy)
		if got > 0 {
			waits++
		}
	}
	assert.Greater(t, waits, 30_000, "fields that ask for a wait")
}
