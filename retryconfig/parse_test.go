package retryconfig_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

// TestTextSeparators: commas, semicolons and line breaks separate words as spaces do.
func TestTextSeparators(t *testing.T) {
	want, err := retryconfig.Parse("capped(full base=1s) cap=1m attempts=4")
	require.NoError(t, err)
	for _, text := range []string{"capped(full,base=1s),cap=1m,attempts=4", "capped ( full; base=1s );\n\tcap=1m; attempts=4 "} {
		got, err := retryconfig.Parse(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestTextDepth(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat("capped(", n) + "no-delay" + strings.Repeat(") cap=1s", n)
	}
	for text, ok := range map[string]bool{
		deep(15): true,
		deep(16): false,
		"when-throttled(" + deep(14) + " | " + deep(14) + ")": true, // rules side by side add no depth
	} {
		p, err := retryconfig.Parse(text)
		if !ok {
			assert.ErrorContains(t, err, "rules are nested more than 16 deep")
		} else if assert.NoError(t, err) {
			assert.Equal(t, text+" attempts=3", textOf(p))
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"ful base=1s", `unknown name "ful"; did you mean "full"?`},
		{"hose", `did you mean "house"?`},
		{"full base=1s limiter=x", `unknown limiter "x"`},
		{"full base=50", `base=50 needs a unit, as in 50ms or 50s`},
		{"full base=0", `base=0 needs a unit`},
		{"full base=1s cap=0s", `cap=0s would mean the default; omit it`},
		{"exponential base=1s factor=0", `factor=0 would mean the default`},
		{"full base=1s elapsed=0s", `elapsed=0s would mean none; write none`},
		{"full base=1s hint=window(width=0s)", `width=0s would mean the default`},
		{"full base=fast", `base=fast is not a duration such as 50ms, 20s or 1m30s`},
		{"full bse=50ms", `unknown key "bse"; did you mean "base"?`},
		{"base=50ms", `key "base" needs the name of a rule, such as full`},
		{"house base=50ms", `unknown key "base"; valid: service, capacity, attempts, elapsed, timeout, hint, budget, limiter`},
		{"house service=", `"service=" is not of the form key=value`},
		{"house service=cellar", `house has no service "cellar"`},
		{"house service=kitchen service=cellar", `key "service" is given twice`},
		{"full base=1s service=s3", `unknown key "service"; valid: base, cap, factor, attempts`},
		{"full base=50ms base=60ms", `key "base" is given twice`},
		{"full base=50ms quickly", `"quickly" is not of the form key=value`},
		{"full base=", `"base=" is not of the form key=value`},
		{"full =50ms", `"=50ms" is not of the form key=value`},
		{"full base=1s factor=two", `factor=two is not a number`},
		{"full base=1s attempts=0", `attempts=0: one attempt is the least; write attempts=1 for no retry`},
		{"none attempts=3", `none means one attempt, not 3; more attempts without a wait are "no-delay attempts=3"`},
		{"off attempts=unlimited", `off means one attempt, not unlimited;`},
		{"when-throttled(full | none)", `none is no rule for waits; a rule without a wait is no-delay`},
		{"full base=1s attempts=2.5", `attempts=2.5 is not a whole number`},
		{"full base=1s attempts=-1", `attempts=-1: write attempts=unlimited`},
		{"full base=1s elapsed=60", `elapsed=60 needs a unit`},
		{"full base=1s timeout=x", `timeout=x is not a duration`},
		{"full base=1s hint=maybe", `unknown hint "maybe"; valid: at-least, or-give-up, window, ignore`},
		{"full base=1s hint=ignore(max=1m)", `unknown key "max"; valid: none`},
		{"full base=1s hint=or-give-up(max=9)", `hint: max=9 needs a unit, as in 9ms or 9s`},
		{"decorrelated base=1s redraw=often", `redraw=often is neither true nor false`},
		{"schedule delays=1s/2", `delays=2 needs a unit, as in 2ms or 2s`},
		{"schedule", `Schedule: has no delays`},
		{"capped", `capped has rules in parentheses: 0, instead of 1`},
		{"capped(full base=1s", `")" is missing after "capped("`},
		{"capped()", `a rule is missing before ); valid: standard, no-delay, constant, exponential, linear, fibonacci, schedule, full, equal, decorrelated, jittered, spread, capped, when-throttled`},
		{"capped(full base=1s | no-delay)", `capped has rules in parentheses: 2, instead of 1`},
		{"no-delay(full base=1s)", `no-delay has rules in parentheses: 1, instead of 0`},
		{"house(full base=1s)", `unknown name "house"`},
		{"capped(house)", `unknown name "house"; valid: standard, no-delay,`},
		{"capped(full base=1s attempts=3)", `unknown key "attempts"; valid: base, cap, factor`},
		{"when-throttled(no-delay)", `when-throttled has rules in parentheses: 1, instead of 2`},
		{"no-delay delay=1s", `unknown key "delay"; valid: attempts`},
		{"capped(no-delay delay=1s)", `unknown key "delay"; valid: none`},
		{"(", `a rule is missing before (`},
		{"spread(", `a rule is missing before the end; valid: standard, no-delay,`},
		{"full base=1s elapsed=inf", `elapsed=inf is not a duration`},
		{"full base=1s hint=or-give-up(max=-5s)", `Hint: HintOrGiveUp: Max -5s is negative`},
		{"full base=1s )", `")" is not of the form key=value`},
		{strings.Repeat("capped(", 100), `rules are nested more than 16 deep`},
		{"full base=5s cap=1s", `Base 5s is above Cap 1s`},
		{"fibonacci", `Base is 0, which never waits`},
		{"full base=100ns", `Base 100ns is below 1µs`},
		{"full attempts=unlimited", `Backoff grows without a Cap`},
		{"full base=1s elapsed=-1s", `elapsed is negative (-1s)`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := retryconfig.Parse(tt.text)
			require.ErrorContains(t, err, tt.want)
			assert.ErrorIs(t, err, retry.ErrInvalid)
			assert.True(t, strings.HasPrefix(err.Error(), "invalid retry policy "), "%v", err)
		})
	}
}

// FuzzParse: no text makes the parser panic, and an accepted text keeps its
// meaning when printed.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "full base=50ms cap=20s attempts=5 elapsed=1m", "house attempts=6", "no-delay hint=or-give-up(max=1m)",
		"when-throttled(capped(spread(exponential base=1s factor=1.5) fraction=0.1) cap=1m | schedule delays=1s/2s) timeout=1s",
		"jittered(decorrelated base=1s redraw=true) share=0.5 attempts=unlimited", "capped(((|", "constant delay=1µs;linear",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := retryconfig.Parse(text)
		if err != nil {
			return
		}
		printed := textOf(p)
		again, err := retryconfig.Parse(printed)
		if err != nil {
			t.Fatalf("%q prints as %q, which is an error: %v", text, printed, err)
		}
		if reprinted := textOf(again); reprinted != printed {
			t.Fatalf("%q prints as %q and then as %q", text, printed, reprinted)
		}
	})
}
