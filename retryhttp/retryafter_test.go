package retryhttp_test

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/retryhttp"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) // 1793620800 s since 1970

const (
	aws       = "X-Amz-Retry-After"
	inMs      = "Retry-After-Ms"
	general   = "Retry-After"
	resetIn   = "RateLimit-Reset"
	remaining = "RateLimit-Remaining"
	forever   = time.Duration(math.MaxInt64)
	farOff    = forever - 1793620800*time.Second // noon to the end of a Duration since 1970
)

var retryAfters = []struct {
	name    string
	status  int
	headers []string
	want    time.Duration
}{
	{"none", 503, nil, 0},
	{"seconds", 503, []string{general, "3"}, 3 * time.Second},
	{"0 seconds", 503, []string{general, "0"}, 0},
	{"fraction", 503, []string{general, "1.5"}, 1500 * time.Millisecond},
	{"fraction of 0", 503, []string{general, "3.0"}, 3 * time.Second},
	{"dot at the end", 503, []string{general, "3."}, 3 * time.Second},
	{"dot at the beginning", 503, []string{general, ".5"}, 500 * time.Millisecond},
	{"dot alone", 503, []string{general, "."}, 0},
	{"two dots", 503, []string{general, "1.2.3"}, 0},
	{"spaces around", 503, []string{general, " 5\t"}, 5 * time.Second},
	{"space within", 503, []string{general, "5 6"}, 0},
	{"leading zeros", 503, []string{general, "007"}, 7 * time.Second},
	{"negative", 503, []string{general, "-1"}, 0},
	{"plus sign", 503, []string{general, "+5"}, 5 * time.Second},
	{"plus sign alone", 503, []string{general, "+"}, 0},
	{"two signs", 503, []string{general, "++5"}, 0},
	{"exponent", 503, []string{general, "1e3"}, 0},
	{"hexadecimal", 503, []string{general, "0x10"}, 0},
	{"underscore", 503, []string{general, "1_0"}, 0},
	{"infinite", 503, []string{general, "Inf"}, 0},
	{"no number", 503, []string{general, "NaN"}, 0},
	{"word", 503, []string{general, "soon"}, 0},
	{"empty", 503, []string{general, ""}, 0},
	{"list", 503, []string{general, "5, 6"}, 6 * time.Second},
	{"list, the first is the longest", 503, []string{general, "6,5"}, 6 * time.Second},
	{"list with a word", 503, []string{general, "soon, 5"}, 5 * time.Second},
	{"second line", 503, []string{general, "5", general, "6"}, 6 * time.Second},
	{"second line, a date", 503, []string{general, "5", general, "Mon, 02 Nov 2026 12:00:07 GMT"}, 7 * time.Second},

	{"just not 31 years", 503, []string{general, "999999999"}, 999999999 * time.Second},
	{"the time of day, now", 503, []string{general, "1793620800"}, 0},
	{"the time of day, later", 503, []string{general, "1793620807"}, 7 * time.Second},
	{"the time of day, past", 503, []string{general, "1743434408"}, 0},
	{"the time of day in milliseconds", 503, []string{inMs, "1793620800250"}, 250 * time.Millisecond},
	{"the time of day by the server's clock", 503, []string{general, "1793631607", "Date", "Mon, 02 Nov 2026 15:00:00 GMT"}, 7 * time.Second},
	{"overflow in nanoseconds", 503, []string{general, "9223372037"}, farOff},
	{"overflow of uint64", 503, []string{general, "99999999999999999999"}, farOff},
	{"overflow of float64", 503, []string{general, strings.Repeat("9", 400)}, farOff},
	{"overflow, then a word", 503, []string{general, "99999999999999999999 weeks"}, 0},

	{"date", 503, []string{general, "Mon, 02 Nov 2026 12:00:07 GMT"}, 7 * time.Second},
	{"date of RFC 850", 503, []string{general, "Monday, 02-Nov-26 12:00:07 GMT"}, 7 * time.Second},
	{"date of asctime", 503, []string{general, "Mon Nov  2 12:00:07 2026"}, 7 * time.Second},
	{"date by the server's clock", 503, []string{general, "Mon, 02 Nov 2026 15:00:07 GMT", "Date", "Mon, 02 Nov 2026 15:00:00 GMT"}, 7 * time.Second},
	{"date, the server's clock is none", 503, []string{general, "Mon, 02 Nov 2026 12:00:07 GMT", "Date", "today"}, 7 * time.Second},
	{"date past", 503, []string{general, "Mon, 02 Nov 2026 11:59:59 GMT"}, 0},
	{"date long past", 503, []string{general, "Mon, 01 Jan 0001 00:00:00 GMT"}, 0},
	{"date far off", 503, []string{general, "Fri, 31 Dec 9999 23:59:59 GMT"}, forever},
	{"date that is none", 503, []string{general, "Mon, 32 Nov 2026 12:00:07 GMT"}, 0},
	{"date with the offset of a zone", 503, []string{general, "Mon, 02 Nov 2026 12:00:07 +0100"}, 0},
	{"date in milliseconds", 503, []string{inMs, "Mon, 02 Nov 2026 12:00:07 GMT"}, 0},

	{"milliseconds", 503, []string{inMs, "1500"}, 1500 * time.Millisecond},
	{"part of a millisecond", 503, []string{inMs, "0.5"}, 500 * time.Microsecond},
	{"milliseconds before seconds", 503, []string{inMs, "20", general, "3"}, 20 * time.Millisecond},
	{"0 milliseconds before seconds", 503, []string{inMs, "0", general, "3"}, 0},
	{"bad milliseconds before seconds", 503, []string{inMs, "soon", general, "3"}, 3 * time.Second},
	{"AWS's own", 503, []string{aws, "1500"}, 1500 * time.Millisecond},
	{"AWS's own before all", 503, []string{aws, "20", inMs, "30", general, "3"}, 20 * time.Millisecond},

	{"reset, limited by status", 429, []string{resetIn, "30"}, 30 * time.Second},
	{"reset, limited by what remains", 403, []string{resetIn, "30", remaining, "0"}, 30 * time.Second},
	{"reset, not limited", 503, []string{resetIn, "30"}, 0},
	{"reset, something remains", 503, []string{resetIn, "30", remaining, "17"}, 0},
	{"reset at a time of day", 429, []string{resetIn, "1793620830"}, 30 * time.Second},
	{"reset at a date", 429, []string{resetIn, "Mon, 02 Nov 2026 12:00:07 GMT"}, 7 * time.Second},
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

// FuzzRetryAfter: no header makes a wait negative, and what is plainly a number
// is taken for just that, in the order of the headers.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "0", "17", "1.25", "-5", "1e3", " 3", "1793620807", "99999999999999999999", "Mon, 02 Nov 2026 12:00:07 GMT"} {
		f.Add(s, s, s, s, s, s, 429)
		f.Add("", "x", s, "", s, "0", 503)
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
			if n, err := strconv.ParseUint(header.value, 10, 20); err == nil { // few enough to be no time of day
				assert.Equal(t, time.Duration(n)*header.unit, got)
				return
			}
			if header.value != "" {
				return // which may be understood, or not
			}
		}
		if got > 0 {
			assert.True(t, status == 429 || strings.TrimSpace(left) == "0", "only RateLimit-Reset is left to ask for a wait")
		}
	})
}
