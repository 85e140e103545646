package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// This file contains functions that turn a response, or its absence, into an error, as
// each SDK's client does before the SDK's retry mode gets the error. Policies do not do
// this: their users make the errors.

// hintOf returns the function with which an SDK reads a hint from headers; a result of
// 0 or less means no hint.
func hintOf(preset, service string) func(http.Header) time.Duration {
	since2026 := strings.Contains(preset, "-2026")
	switch {
	// The common presets follow the majority: only botocore understands 1_000 and numbers
	// of milliseconds that overflow; Go and Java ignore them.
	case preset == "aws-standard-2026", preset == "aws-adaptive-2026", strings.HasPrefix(preset, "aws-go-v2-") && since2026:
		return milliseconds(goMilliseconds)
	// The clients of STS and DynamoDB read the older mode's header.
	case strings.HasPrefix(preset, "aws-java-v2-") && since2026 && service != "sts" && service != "dynamodb":
		return milliseconds(javaInt)
	case strings.HasPrefix(preset, "aws-java-v2-"):
		return func(h http.Header) time.Duration { return duration(javaInt(h.Get("Retry-After")), time.Second) }
	case preset == "aws-js-v3-standard-late-cap":
		return lateCapHint
	case strings.HasPrefix(preset, "aws-js-v3-"):
		return javaScriptHint
	case since2026:
		return milliseconds(pythonInt)
	}
	return func(http.Header) time.Duration { return 0 }
}

func milliseconds(read func(string) float64) func(http.Header) time.Duration {
	return func(h http.Header) time.Duration { return duration(read(h.Get("X-Amz-Retry-After")), time.Millisecond) }
}

// duration saturates; negative numbers and NaN become 0.
func duration(n float64, unit time.Duration) time.Duration {
	switch ns := n * float64(unit); {
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns > 0:
		return time.Duration(ns)
	}
	return 0
}

// codeOf returns the error code that an SDK gives to a response without a code.
func codeOf(preset string, p *wireFormat, status int) string {
	if strings.HasPrefix(preset, "aws-java-v1-") && p != awsJSON {
		return fmt.Sprintf("%d %s", status, http.StatusText(status))
	}
	return ""
}

func sendErrorOf(preset string, err error) error {
	var failed *url.Error
	if strings.HasPrefix(preset, "aws-go-v2-") && errors.As(err, &failed) {
		return &sendError{err}
	}
	// urllib3 and Apache's client report a response that is not HTTP as a closed
	// connection. botocore's other modes retry any such error.
	if (preset == "aws-botocore-legacy" || strings.HasPrefix(preset, "aws-java-")) && strings.Contains(err.Error(), "malformed HTTP") {
		return io.EOF
	}
	return err
}

// sendError is like smithy-go's RequestSendError.
type sendError struct{ error }

func (e *sendError) Unwrap() error         { return e.error }
func (e *sendError) ConnectionError() bool { return true }

// checksumOf returns the error that an SDK's DynamoDB client returns for a response
// with a wrong checksum, or nil if the client does not check the checksum or ignores
// the mismatch.
func checksumOf(preset string, header http.Header, body []byte) error {
	sum := header.Get("X-Amz-Crc32")
	if sum == "" || sum == fmt.Sprint(crc32.ChecksumIEEE(body)) {
		return nil
	}
	switch {
	case strings.HasPrefix(preset, "aws-js-v3-"), strings.HasPrefix(preset, "aws-go-v2-"): // Go v2 ignores a mismatch
		return nil
	case preset == "aws-js-v2":
		return &serviceError{code: "CRC32CheckFailed"}
	case strings.HasPrefix(preset, "aws-java-v1-"):
		return io.ErrUnexpectedEOF // an IOException
	case strings.HasPrefix(preset, "aws-java-v2-"):
		return errors.New("Crc32MismatchException")
	}
	return &serviceError{code: "ChecksumError"}
}

var pythonInteger = regexp.MustCompile(`^[+-]?[0-9]+(_[0-9]+)*$`)

// pythonInt parses like Python's int(), which has no bounds.
func pythonInt(text string) float64 {
	if !pythonInteger.MatchString(text) {
		return 0
	}
	n, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return n
}

// goMilliseconds parses like strconv.ParseInt, and overflows like the product with
// time.Millisecond.
func goMilliseconds(text string) float64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return float64(time.Duration(n)*time.Millisecond) / float64(time.Millisecond)
}

// javaInt parses like Integer.parseInt.
func javaInt(text string) float64 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return float64(n)
}

var (
	javaScriptNumber  = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?$|^0x[0-9a-f]+$`)
	javaScriptSeconds = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
)

// javaScriptHint reads X-Amz-Retry-After (milliseconds) as Number() does, or else
// Retry-After (digits or a date). The SDK truncates hints to whole milliseconds, the
// resolution of a Date.
func javaScriptHint(h http.Header) time.Duration {
	if text := h.Get("X-Amz-Retry-After"); javaScriptNumber.MatchString(text) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			n = float64(hexadecimal(text))
		}
		return duration(math.Trunc(n), time.Millisecond)
	}
	if text := h.Get("Retry-After"); javaScriptSeconds.MatchString(text) {
		n, _ := strconv.ParseFloat(text, 64)
		return duration(math.Trunc(n*1000), time.Millisecond)
	}
	return dateHint(h)
}

func hexadecimal(text string) uint64 {
	n, _ := strconv.ParseUint(text, 0, 64)
	return n
}

// lateCapHint reads a hint as an older release does, which interprets a number of
// seconds as a date, usually in 1970.
func lateCapHint(h http.Header) time.Duration {
	if text := h.Get("Retry-After"); javaScriptSeconds.MatchString(text) {
		n, _ := strconv.ParseFloat(text, 64)
		return time.Until(time.Unix(int64(n), 0))
	}
	return dateHint(h)
}

func dateHint(h http.Header) time.Duration {
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return time.Until(at)
	}
	return 0
}
