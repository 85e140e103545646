package retryhttp_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/test/linear"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) // 1793620800 s since 1970

const (
	aws       = "X-Amz-Retry-After"
	inMs      = "Retry-After-Ms"
	general   = "Retry-After"
	resetIn   = "RateLimit-Reset"
	remaining = "RateLimit-Remaining"
	forever   = time.Duration(math.MaxInt64)
	farOff    = forever - 1793620800*time.Second // from noon to the time one longest Duration after 1970
)

// retryAfters has cases beside the vectors of TestHintVectors.
var retryAfters = []struct {
	name    string
	status  int
	headers []string
	want    time.Duration
}{
	{"fraction", 503, []string{general, "1.5"}, 1500 * time.Millisecond},
	{"fraction of 0", 503, []string{general, "3.0"}, 3 * time.Second},
	{"dot at the end", 503, []string{general, "3."}, 3 * time.Second},
	{"dot at the beginning", 503, []string{general, ".5"}, 500 * time.Millisecond},
	{"dot alone", 503, []string{general, "."}, 0},
	{"two dots", 503, []string{general, "1.2.3"}, 0},
	{"spaces around", 503, []string{general, " 5\t"}, 5 * time.Second},
	{"space within", 503, []string{general, "5 6"}, 0},
	{"leading zeros", 503, []string{general, "007"}, 7 * time.Second},
	{"plus sign", 503, []string{general, "+5"}, 5 * time.Second},
	{"plus sign alone", 503, []string{general, "+"}, 0},
	{"two signs", 503, []string{general, "++5"}, 0},
	{"underscore", 503, []string{general, "1_0"}, 0},
	{"infinite", 503, []string{general, "Inf"}, 0},
	{"list", 503, []string{general, "5, 6"}, 6 * time.Second},
	{"list, the first is the longest", 503, []string{general, "6,5"}, 6 * time.Second},
	{"list with text", 503, []string{general, "soon, 5"}, 5 * time.Second},
	{"second line", 503, []string{general, "5", general, "6"}, 6 * time.Second},
	{"second line, a date", 503, []string{general, "5", general, "Mon, 02 Nov 2026 12:00:07 GMT"}, 7 * time.Second},

	{"just below 31 years", 503, []string{general, "999999999"}, 999999999 * time.Second},
	{"Unix time, now", 503, []string{general, "1793620800"}, 0},
	{"Unix time, later", 503, []string{general, "1793620807"}, 7 * time.Second},
	{"Unix time, past", 503, []string{general, "1743434408"}, 0},
	{"Unix time in milliseconds", 503, []string{inMs, "1793620800250"}, 250 * time.Millisecond},
	{"Unix time by the server's clock", 503, []string{general, "1793631607", "Date", "Mon, 02 Nov 2026 15:00:00 GMT"}, 7 * time.Second},
	{"overflow in nanoseconds", 503, []string{general, "9223372037"}, farOff},
	{"overflow of uint64", 503, []string{general, "99999999999999999999"}, farOff},
	{"overflow of float64", 503, []string{general, strings.Repeat("9", 400)}, farOff},
	{"overflow, then text", 503, []string{general, "99999999999999999999 weeks"}, 0},

	{"date", 503, []string{general, "Mon, 02 Nov 2026 12:00:07 GMT"}, 7 * time.Second},
	{"date of RFC 850", 503, []string{general, "Monday, 02-Nov-26 12:00:07 GMT"}, 7 * time.Second},
	{"date of asctime", 503, []string{general, "Mon Nov  2 12:00:07 2026"}, 7 * time.Second},
	{"date by the server's clock", 503, []string{general, "Mon, 02 Nov 2026 15:00:07 GMT", "Date", "Mon, 02 Nov 2026 15:00:00 GMT"}, 7 * time.Second},
	{"date, invalid server clock", 503, []string{general, "Mon, 02 Nov 2026 12:00:07 GMT", "Date", "today"}, 7 * time.Second},
	{"long past date", 503, []string{general, "Mon, 01 Jan 0001 00:00:00 GMT"}, 0},
	{"distant date", 503, []string{general, "Fri, 31 Dec 9999 23:59:59 GMT"}, forever},
	{"invalid date", 503, []string{general, "Mon, 32 Nov 2026 12:00:07 GMT"}, 0},
	{"date with a zone offset", 503, []string{general, "Mon, 02 Nov 2026 12:00:07 +0100"}, 0},
	{"date in milliseconds", 503, []string{inMs, "Mon, 02 Nov 2026 12:00:07 GMT"}, 0},

	{"milliseconds", 503, []string{inMs, "1500"}, 1500 * time.Millisecond},
	{"part of a millisecond", 503, []string{inMs, "0.5"}, 500 * time.Microsecond},
	{"milliseconds before seconds", 503, []string{inMs, "20", general, "3"}, 20 * time.Millisecond},
	{"0 milliseconds before seconds", 503, []string{inMs, "0", general, "3"}, 0},
	{"bad milliseconds before seconds", 503, []string{inMs, "soon", general, "3"}, 3 * time.Second},
	{"the AWS header", 503, []string{aws, "1500"}, 1500 * time.Millisecond},
	{"the AWS header comes first", 503, []string{aws, "20", inMs, "30", general, "3"}, 20 * time.Millisecond},

	{"reset, limited by status", 429, []string{resetIn, "30"}, 30 * time.Second},
	{"reset, limited by what remains", 403, []string{resetIn, "30", remaining, "0"}, 30 * time.Second},
	{"reset, not limited", 503, []string{resetIn, "30"}, 0},
	{"reset, something remains", 503, []string{resetIn, "30", remaining, "17"}, 0},
	{"reset at a Unix time", 429, []string{resetIn, "1793620830"}, 30 * time.Second},
	{"reset at a date", 429, []string{resetIn, "Mon, 02 Nov 2026 12:00:07 GMT"}, 7 * time.Second},
	{"reset in milliseconds (BigCommerce)", 429, []string{"X-Rate-Limit-Time-Reset-Ms", "15000", "X-Rate-Limit-Requests-Left", "0", "X-Rate-Limit-Time-Window-Ms", "30000"}, 15 * time.Second},
	{"reset in milliseconds, without a dash", 429, []string{"X-RateLimit-ResetMs", "1500"}, 1500 * time.Millisecond},
	{"reset in milliseconds, with an underscore", 429, []string{"X-RateLimit-Reset_ms", "1500"}, 1500 * time.Millisecond},
	{"Retry-After of a limit (bucket4j)", 429, []string{"X-Rate-Limit-Retry-After-Seconds", "30"}, 30 * time.Second},
	{"Retry-After of a limit in milliseconds", 429, []string{"X-RateLimit-Retry-After-Milliseconds", "1500"}, 1500 * time.Millisecond},
	{"window in milliseconds (HubSpot)", 429, []string{"X-HubSpot-RateLimit-Max", "100", "X-HubSpot-RateLimit-Remaining", "0", "X-HubSpot-RateLimit-Interval-Milliseconds", "10000"}, 10 * time.Second},
	{"window as a duration (Crossref)", 429, []string{"X-Rate-Limit-Limit", "50", "X-Rate-Limit-Remaining", "0", "X-Rate-Limit-Interval", "1s"}, time.Second},
	{"window, something remains", 429, []string{"X-RateLimit-Remaining", "5", "X-RateLimit-Window", "60"}, 0},
	{"reset and window", 429, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Window", "60", "X-RateLimit-Reset", "7"}, 7 * time.Second},
	{"reset in milliseconds, with a fraction", 429, []string{"RateLimit-Reset-Ms", "1500.5"}, 1500*time.Millisecond + 500*time.Microsecond},
	{"reset in milliseconds, something remains", 503, []string{"X-RateLimit-Reset-Msec", "1500", "X-RateLimit-Remaining", "17"}, 0},
	{"reset in milliseconds, nothing remains", 403, []string{"X-RateLimit-Reset-Milliseconds", "1500", "X-RateLimit-Remaining", "0"}, 1500 * time.Millisecond},
	{"reset in milliseconds since 1970", 429, []string{"X-RateLimit-Reset-Ms", "1793620830250"}, 30250 * time.Millisecond},
	{"reset of a limit on items", 429, []string{"X-RateLimit-Reset-Items", "15"}, 15 * time.Second},
	{"window (Docker Hub)", 429, []string{"RateLimit-Limit", "100;w=21600", remaining, "0;w=21600"}, 6 * time.Hour},
	{"window, something remains", 429, []string{"RateLimit-Limit", "100;w=21600", remaining, "7;w=21600"}, 0},
	{"windows", 429, []string{remaining, "0;w=60, 7;w=3600"}, time.Minute},
	{"window after a reset", 429, []string{remaining, "0;w=21600", resetIn, "30"}, 30 * time.Second},
	{"window after Retry-After", 429, []string{remaining, "0;w=21600", general, "3"}, 3 * time.Second},
	{"reset after Retry-After", 429, []string{resetIn, "30", general, "3"}, 3 * time.Second},
	{"reset after a bad Retry-After", 429, []string{resetIn, "30", general, "-3"}, 30 * time.Second},
}

func TestRetryAfter(t *testing.T) {
	for _, tt := range retryAfters {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			for i := 0; i < len(tt.headers); i += 2 {
				h.Add(tt.headers[i], tt.headers[i+1])
			}
			assert.Equal(t, tt.want, retryhttp.RetryAfter(&http.Response{StatusCode: tt.status, Header: h}, noon))
		})
	}
	assert.Zero(t, retryhttp.RetryAfter(&http.Response{}, noon), "no header at all")
}

// FuzzRetryAfter: no header makes a wait negative, and the first header decides if its
// value is a plain number.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "0", "17", "1.25", "-5", "1e3", " 3", "1793620807", "99999999999999999999", "Mon, 02 Nov 2026 12:00:07 GMT"} {
		f.Add(s, s, s, s, s, s, 429)
		f.Add("", "x", s, "", s, "0", 503)
		f.Add("", "", "", s, "", "1", 430)
		f.Add("", "", "", s, "", "1", 529)
		f.Add("", "", "", s, "", "1", 420)
	}
	f.Fuzz(func(t *testing.T, awsMs, ms, seconds, resets, date, left string, status int) {
		resp := &http.Response{StatusCode: status, Header: http.Header{}}
		for name, value := range map[string]string{aws: awsMs, inMs: ms, general: seconds, resetIn: resets, "Date": date, remaining: left} {
			resp.Header.Set(name, value)
		}
		got := retryhttp.RetryAfter(resp, noon)
		assert.GreaterOrEqual(t, got, time.Duration(0))
		assert.Equal(t, got, retryhttp.RetryAfter(resp, noon))
		for _, header := range []struct {
			value string
			unit  time.Duration
		}{{awsMs, time.Millisecond}, {ms, time.Millisecond}, {seconds, time.Second}} {
			if n, err := strconv.ParseUint(header.value, 10, 20); err == nil { // too small to be a time
				assert.Equal(t, time.Duration(n)*header.unit, got)
				return
			}
			if header.value != "" {
				return // may be valid or not
			}
		}
		if got > 0 {
			throttled := slices.Contains([]int{420, 429, 430, 529}, status)
			assert.True(t, throttled || strings.Contains(left, "0"), "there is a wait although no limit is used up")
		}
	})
}

func TestHints(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name   string
		header string
		rule   retry.HintRule
		want   time.Duration
	}{
		{"none", "", nil, 500 * ms}, // the standard rule's first delay after throttling is below 1 s
		{"below the delay", "Retry-After-Ms: 1", nil, 500 * ms},
		{"up to a tenth later", "Retry-After: 2", nil, 2100 * ms}, // Rand is 0.5
		{"custom rule", "Retry-After: 2", retry.HintAtLeast{Exact: true}, 2000 * ms},
		{"the window of AWS", "X-Amz-Retry-After: 9000", awspreset.HintWindow{}, 5500 * ms},
		{"ignored", "Retry-After: 2", retry.HintIgnore{}, 500 * ms},
		{"a date by the server's clock", "Retry-After: Mon, 02 Nov 2026 12:00:07 GMT", nil, 7350 * ms},
		{"longest", "Retry-After: 60", nil, 63 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := &script{replies: []reply{{429, tt.header, nil}, {status: 200}}}
			p := quick()
			clock := &retrytest.Clock{Start: noon}
			p.Clock, p.Hint = clock, tt.rule
			_, err := (&retryhttp.Transport{Base: base, Policy: p}).RoundTrip(request(t, "GET", ""))
			require.NoError(t, err)
			assert.Equal(t, []time.Duration{tt.want}, clock.Waits())
		})
	}
	t.Run("without a source of random numbers", func(t *testing.T) {
		base := &script{replies: []reply{{429, "Retry-After: 10", nil}, {status: 200}}}
		clock := &retrytest.Clock{}
		_, err := (&retryhttp.Transport{Base: base, Policy: retry.Policy{Clock: clock}}).RoundTrip(request(t, "GET", ""))
		require.NoError(t, err)
		assert.GreaterOrEqual(t, clock.Waits()[0], 10*time.Second)
		assert.LessOrEqual(t, clock.Waits()[0], 11*time.Second)
	})
}

func TestRetryAfterIsBounded(t *testing.T) {
	value := "7" + strings.Repeat(", 0", 2729) // 8 KiB - 4
	for _, field := range []string{"Retry-After: ", `RateLimit: "a";r=0;t=`} {
		of := func(value string) time.Duration {
			return retryhttp.RetryAfter(&http.Response{StatusCode: 429, Header: header([]string{field + value})}, exampleTime)
		}
		assert.Equal(t, 7*time.Second, of("7"))
		assert.Zero(t, of("7"+strings.Repeat(", 0", 3000)))
	}
	at := func(values ...string) time.Duration {
		return retryhttp.RetryAfter(&http.Response{Header: http.Header{"Retry-After": values}}, exampleTime)
	}
	assert.Equal(t, 7*time.Second, at(value, "00"))
	assert.Zero(t, at(value, "000"), "the values together, and a comma between them, are one byte too long")
}

// TestRetryAfterIsLinear: what a server sends cannot keep a client busy.
func TestRetryAfterIsLinear(t *testing.T) {
	numbered := func(format string) func(int) []string {
		return func(size int) []string {
			var text strings.Builder
			for i := 0; text.Len() < size; i++ {
				fmt.Fprintf(&text, format, i)
			}
			return []string{text.String()}
		}
	}
	repeated := func(text string) func(int) []string {
		return func(size int) []string { return []string{strings.Repeat(text, size/len(text))} }
	}
	for name, lines := range map[string]func(size int) []string{
		"members":            numbered(`"%x",`),
		"empty members":      repeated(","),
		"empty strings":      repeated(`"",`),
		"parameters":         numbered(`;p%x=1`),
		"the same parameter": func(size int) []string { return []string{`"a"` + strings.Repeat(";r", size/2)} },
		"keys":               numbered("k%x=1,"),
		"quotes":             repeated(`"`),
		"backslashes":        func(size int) []string { return []string{`"` + strings.Repeat(`\`, size)} },
		"escaped quotes":     func(size int) []string { return []string{`"` + strings.Repeat(`\"`, size/2) + `"`} },
		"spaces":             func(size int) []string { return []string{"1" + strings.Repeat(" ", size) + "x"} },
		"digits":             repeated("7"),
		"fraction":           func(size int) []string { return []string{"0." + strings.Repeat("7", size)} },
		"duration":           repeated("1h"),
		"dates":              repeated("Mon, 02 Nov 2026 12:00:30 GMT, "),
		"date and fraction":  func(size int) []string { return []string{"2026-11-02T12:00:30." + strings.Repeat("7", size) + "Z"} },
		"lines":              func(size int) []string { return slices.Repeat([]string{"x,"}, size/2) },
		"empty lines":        func(size int) []string { return make([]string, size) },
	} {
		fields := []string{
			"Date", "X-Amz-Retry-After", "Retry-After-Ms", "X-Ms-Retry-After-Ms", "Retry-After", "Ratelimit", "Ratelimit-Policy",
			"Ratelimit-Reset", "X-Ratelimit-Reset", "X-Ratelimit-Reset-After", "X-Ratelimit-Remaining", "X-Ratelimit-Reset-Tokens", "X-Ratelimit-Reset-Ms",
			"Anthropic-Ratelimit-Tokens-Reset", "X-Should-Retry",
		}
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{8000, 1 << 20} { // the longest field that is read, and one that is not
				linear.Check(t, size, func(size int) func() {
					h, values := http.Header{}, lines(size)
					for _, field := range fields {
						h[field] = values
					}
					return func() { _ = retryhttp.CheckStatus(&http.Response{StatusCode: 429, Header: h}) }
				})
			}
		})
	}
}
