package awspreset

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/dur"
	"github.com/gobackoff/retry/internal/errfacts"
)

// RetryAfter returns how long a response asks to wait, as the preset's SDK reads its headers,
// or 0 if they have no hint for this SDK. header returns the first value of a header, like
// the method Get of an http.Header. now is the client's time, for headers that contain a date.
//
// The SDKs read different headers: [Standard21] x-amz-retry-after, in milliseconds;
// [JavaV2Legacy] and [JavaV2Standard20] Retry-After, in seconds; [GoV1] the same if the status
// is 429 or 503; [JavaScriptV3Standard20] x-amz-retry-after or else Retry-After, in seconds or
// as a date. The others read none.
//
// Package retryaws calls RetryAfter. In an operation of your own, mark the error with the
// result:
//
//	return retry.After(err, preset.RetryAfter(resp.StatusCode, resp.Header.Get, time.Now()))
func (p Preset) RetryAfter(status int, header func(name string) string, now time.Time) time.Duration {
	const milliseconds, seconds = "X-Amz-Retry-After", "Retry-After"
	switch p {
	case GoV1:
		if status != 429 && status != 503 {
			return 0
		}
		return hintIn(time.Second, wholeNumber(header(seconds), 64))
	case JavaV2Legacy, JavaV2Standard20:
		return hintIn(time.Second, wholeNumber(header(seconds), 32))
	case JavaScriptV3Standard20:
		if n, ok := javaScriptNumber(header(milliseconds)); ok {
			return hintIn(time.Millisecond, math.Trunc(n))
		}
		return javaScriptRetryAfter(header(seconds), now)
	case BotocoreLegacy, BotocoreStandard20, GoV2Standard20, JavaV1, JavaScriptV2:
		return 0
	}
	n := wholeNumber(header(milliseconds), 64)
	if n > float64(math.MaxInt64/time.Millisecond) {
		return 0 // as in Go and Java; botocore takes it for a long wait
	}
	return hintIn(time.Millisecond, n)
}

// wholeNumber returns a decimal number, or 0 if the text is not one of that many bits.
func wholeNumber(text string, bits int) float64 {
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0
	}
	return float64(n)
}

// hintIn saturates. Negative numbers and NaN become 0.
func hintIn(unit time.Duration, n float64) time.Duration {
	if !(n > 0) {
		return 0
	}
	return dur.Saturate(n*float64(unit), math.MaxInt64)
}

// javaScriptNumber reads a number as JavaScript's Number() does.
func javaScriptNumber(text string) (float64, bool) {
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		n, err := strconv.ParseUint(digits, 16, 64)
		return float64(n), err == nil
	}
	if strings.Trim(text, "+-.0123456789e") != "" {
		return 0, false // Go reads words and underscores, too
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil || errfacts.Is(err, strconv.ErrRange)
}

// javaScriptRetryAfter reads a number of seconds with or without decimals, or a date. The SDK
// truncates hints to whole milliseconds.
func javaScriptRetryAfter(text string, now time.Time) time.Duration {
	if whole, decimals, dot := strings.Cut(text, "."); isDigits(whole) && (!dot || isDigits(decimals)) {
		n, _ := strconv.ParseFloat(text, 64) // an error means that it is too large, and Inf
		return hintIn(time.Millisecond, math.Trunc(n*1000))
	}
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if at, err := time.Parse(layout, text); err == nil {
			return max(0, at.Sub(now))
		}
	}
	return 0
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// hintAdded waits for the hint in addition to the delay, as the AWS SDK for Go v1 does, but
// for an hour at most.
type hintAdded struct{}

func (hintAdded) Wait(delay, hint time.Duration) (time.Duration, bool) {
	return dur.Add(delay, min(hint, time.Hour)), true
}

func (hintAdded) String() string { return "added" }

var _ retry.HintRule = hintAdded{}

// HintWindow is a [retry.HintRule]. It waits for max(delay, min(hint, delay + Width)), as the SDKs
// do for x-amz-retry-after since November 2026.
type HintWindow struct {
	Width time.Duration // 0 or less: 5 s
}

// Wait implements [retry.HintRule].
func (r HintWindow) Wait(delay, hint time.Duration) (time.Duration, bool) {
	width := r.Width
	if width <= 0 {
		width = 5 * time.Second
	}
	return max(delay, min(hint, dur.Add(delay, width))), true
}

// Validate reports a negative Width.
func (r HintWindow) Validate() error {
	if r.Width < 0 {
		return fmt.Errorf("%w retry hint rule: HintWindow: Width %v is negative", retry.ErrInvalid, r.Width)
	}
	return nil
}
