package retryaws

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

const (
	own     = "X-Amz-Retry-After"
	general = "Retry-After"
	forever = time.Duration(math.MaxInt64)
)

var hintTests = []struct {
	name    string
	headers []string
	want    time.Duration
}{
	{"none", nil, 0},
	{"milliseconds", []string{own, "1500"}, 1500 * time.Millisecond},
	{"seconds", []string{general, "3"}, 3 * time.Second},
	{"AWS's own first", []string{own, "20", general, "3"}, 20 * time.Millisecond},
	{"AWS's own 0 first", []string{own, "0", general, "3"}, 0},
	{"AWS's own is no number", []string{own, "soon", general, "3"}, 3 * time.Second},
	{"AWS's own is empty", []string{own, "", general, "3"}, 3 * time.Second},
	{"word", []string{general, "abc"}, 0},
	{"negative", []string{general, "-5"}, 0},
	{"sign", []string{general, "+5"}, 0},
	{"exponent", []string{general, "1e3"}, 0},
	{"fraction", []string{general, "1.5"}, 0},
	{"hexadecimal", []string{general, "0x10"}, 0},
	{"space", []string{general, " 5"}, 0},
	{"leading zeros", []string{general, "007"}, 7 * time.Second},
	{"above uint64", []string{general, "99999999999999999999"}, forever / time.Second * time.Second},
	{"above uint64, and then no number", []string{general, "99999999999999999999 weeks"}, 0},
	{"above int64 in nanoseconds", []string{own, "9223372036855"}, forever / time.Millisecond * time.Millisecond},
	{"seconds since 1970", []string{general, "1793620800"}, 1793620800 * time.Second},
	{"date", []string{general, "Mon, 02 Nov 2026 12:00:07 GMT"}, 7 * time.Second},
	{"date of RFC 850", []string{general, "Monday, 02-Nov-26 12:00:07 GMT"}, 7 * time.Second},
	{"date of asctime", []string{general, "Mon Nov  2 12:00:07 2026"}, 7 * time.Second},
	{"date by the server's clock", []string{general, "Mon, 02 Nov 2026 15:00:07 GMT", "Date", "Mon, 02 Nov 2026 15:00:00 GMT"}, 7 * time.Second},
	{"date, the server's clock is none", []string{general, "Mon, 02 Nov 2026 12:00:07 GMT", "Date", "today"}, 7 * time.Second},
	{"date past", []string{general, "Mon, 02 Nov 2026 11:59:59 GMT"}, 0},
	{"date long past", []string{general, "Mon, 01 Jan 0001 00:00:00 GMT"}, 0},
	{"date far off", []string{general, "Fri, 31 Dec 9999 23:59:59 GMT"}, forever},
	{"no date", []string{general, "Mon, 32 Nov 2026 12:00:07 GMT"}, 0},
}

func TestHintIn(t *testing.T) {
	for _, tt := range hintTests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			for i := 0; i < len(tt.headers); i += 2 {
				h.Set(tt.headers[i], tt.headers[i+1])
			}
			assert.Equal(t, tt.want, hintIn(h, noon))
		})
	}
}

// FuzzHint: no header makes a hint negative, and what is a plain number is
// taken for just that.
func FuzzHint(f *testing.F) {
	for _, s := range []string{"", "0", "17", "-5", "1e3", "99999999999999999999", "20000000000000000000A", "Mon, 02 Nov 2026 12:00:07 GMT"} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, milliseconds, seconds, date string) {
		h := http.Header{own: {milliseconds}, general: {seconds}, "Date": {date}}
		got := hintIn(h, noon)
		assert.GreaterOrEqual(t, got, time.Duration(0))
		if n, plain := plainNumber(milliseconds); plain {
			assert.Equal(t, time.Duration(n)*time.Millisecond, got)
		} else if n, plain := plainNumber(seconds); plain && !allDigits(milliseconds) {
			assert.Equal(t, time.Duration(n)*time.Second, got)
		}
	})
}

// plainNumber is what strconv makes of digits that are surely few enough.
func plainNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && allDigits(s) && n <= math.MaxInt32
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// TestWithHint: errors without an answer, as the SDK may build them by halves,
// stay what they are.
func TestWithHint(t *testing.T) {
	var none *smithyhttp.ResponseError
	answered := func(h http.Header) error {
		return &smithy.OperationError{Err: &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{Header: h}},
			Err:      io.ErrUnexpectedEOF,
		}}}
	}
	for name, err := range map[string]error{
		"nil":                 nil,
		"another error":       io.EOF,
		"nil error":           none,
		"nil error, in AWS's": &awshttp.ResponseError{},
		"no answer":           &smithyhttp.ResponseError{Err: io.EOF},
		"empty answer":        &smithyhttp.ResponseError{Response: &smithyhttp.Response{}, Err: io.EOF},
		"no headers":          answered(nil),
		"no hint":             answered(http.Header{general: {"-1"}}),
	} {
		assert.True(t, withHint(err) == err, name) // the same error, which for some has no text
	}

	err := answered(http.Header{general: {"3"}})
	hinted := withHint(err)
	assert.ErrorIs(t, hinted, io.ErrUnexpectedEOF)
	assert.EqualError(t, hinted, err.Error())
	assert.Equal(t, 3*time.Second, retry.Policy{}.Classify(hinted).Hint)
}
