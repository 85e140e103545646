package request

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ask(t *testing.T, change map[string]any) response {
	t.Helper()
	q := map[string]any{
		"What": "waits", "Policy": "full base=100ms attempts=4 budget=throttle", "Clients": 12,
		"Rate": 70, "Capacity": 100, "Outage": "stall", "Seconds": 2, "Failures": 0.01,
	}
	maps.Copy(q, change)
	text, err := json.Marshal(q)
	require.NoError(t, err)
	var r response
	require.NoError(t, json.Unmarshal([]byte(Handle(string(text))), &r))
	return r
}

// The page begins with the system that the commands simulate.
func TestDefaults(t *testing.T) {
	script, err := os.ReadFile("../app.js")
	require.NoError(t, err)
	value := func(name string) string {
		found := regexp.MustCompile(name + `: "([^"]*)"`).FindSubmatch(script)
		require.NotNil(t, found, name)
		return string(found[1])
	}
	number := func(name string) float64 {
		x, err := strconv.ParseFloat(value(name), 64)
		require.NoError(t, err)
		return x
	}
	q := request{Rate: number("rate"), Capacity: number("capacity"), Seconds: number("seconds"), Failures: number("failures")}
	require.NoError(t, q.Outage.UnmarshalText([]byte(value("outage"))))
	got, err := q.system()
	require.NoError(t, err)
	want, err := lab.Storm{}.WithDefaults()
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestHandle(t *testing.T) {
	for what, pictures := range map[string]int{"waits": 0, "contention": 2, "storm": 2} {
		r := ask(t, map[string]any{"What": what})
		assert.Empty(t, r.Error)
		require.Len(t, r.Pictures, pictures, what)
		assert.Contains(t, r.HTML, "<table>")
		assert.NotContains(t, r.HTML, "download")
		if what != "waits" {
			assert.Contains(t, string(r.Pictures[0]), `{"kind":"lines"`)
			assert.Equal(t, []string{"full base=100ms attempts=4 budget=throttle"}, r.Own)
			assert.Contains(t, r.HTML, `<tr><th scope="row">▶ full base=100ms attempts=4 budget=throttle</th>`)
		}
	}
	plain, gated := ask(t, map[string]any{"What": "storm"}), ask(t, map[string]any{"What": "storm", "Gate": true})
	assert.Contains(t, gated.HTML, "admission gate")
	assert.NotEqual(t, plain.Pictures, gated.Pictures)
	rows := strings.Count(ask(t, map[string]any{"What": "storm", "Policy": "none"}).HTML, `scope="row"`)
	assert.Equal(t, 2, rows, "each policy once")
	assert.Empty(t, ask(t, map[string]any{"What": "contention", "Clients": 2}).Error)
}

// The page ends with the policy that advise chooses, and why.
func TestAdvice(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for some seconds")
	}
	r := ask(t, map[string]any{"What": "advice"})
	require.Empty(t, r.Error)
	v, err := lab.Advice{Storm: lab.Storm{Rate: 70, Workers: 1}, Outages: 32}.Run(t.Context())
	require.NoError(t, err)
	assert.Contains(t, r.HTML, `<p class="headline">`+v.Policy+"</p>")
	assert.Contains(t, r.HTML, fmt.Sprintf("%.1f\u00a0%% of the calls succeed", 100*v.Rows[0].Success.Mean))
	assert.Contains(t, r.HTML, "without retries")
}

func TestHandleRefuses(t *testing.T) {
	for want, change := range map[string]map[string]any{
		`unknown name "ful"`:           {"Policy": "ful base=1s"},
		"no policy":                    {"Policy": ""},
		`unknown request "x"`:          {"What": "x"},
		"clients: 501":                 {"What": "contention", "Clients": 501},
		"clients: 1 is":                {"What": "contention", "Clients": 1},
		"rate: 0":                      {"What": "storm", "Rate": 0},
		"capacity: 1e+06":              {"What": "storm", "Capacity": 1e6},
		"failures: -1":                 {"What": "storm", "Failures": -1},
		"seconds: 31":                  {"What": "storm", "Seconds": 31},
		`unknown outage "fire"`:        {"What": "storm", "Outage": "fire"},
		"Failures: 1 is":               {"What": "storm", "Failures": 1},
		"cannot unmarshal string into": {"Rate": "many"},
	} {
		r := ask(t, change)
		assert.Contains(t, r.Error, want)
		assert.Empty(t, r.Pictures)
	}
}
