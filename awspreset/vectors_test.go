package awspreset_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/big"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// vectorChecks contains the check for each file in testdata/vectors. The checks depend only
// on the schema, so the files can be replaced.
var vectorChecks = map[string]func(t *testing.T, file string){
	"js-v2.json":                          vectors(checkJSDelay("")),
	"js-v2-dynamodb.json":                 vectors(checkJSDelay("dynamodb")),
	"js-v2-classification.json":           vectors(checkJSClass),
	"js-v2-exec.json":                     vectors(checkJSExec),
	"botocore-legacy.json":                vectors(checkBotocoreDelay),
	"botocore-legacy-dynamodb.json":       vectors(checkBotocoreDelay),
	"botocore-legacy-classification.json": vectors(checkBotocoreClass),
	"botocore-legacy-exec.json":           vectors(checkBotocoreExec(awspreset.BotocoreLegacy)),
	"java-v1.json":                        vectors(checkJavaDelay(awspreset.JavaV1Legacy, "")),
	"java-v1-dynamodb.json":               vectors(checkJavaDelay(awspreset.JavaV1Legacy, "dynamodb")),
	"java-v1-classification.json":         vectors(checkJavaClass),
	"java-v1-exec.json":                   vectors(checkJavaExec),
	"general-reference-polling.json":      vectors(checkPollingDelay),
	"general-reference-polling-loop.json": vectors(checkPollingLoop),
	"arch-blog.json":                      vectors(checkBlogDelay),
	"botocore-adaptive-rate.json":         vectors(checkAdaptiveTrace(awspreset.AdaptiveBotocore, 1, 1)),
	"botocore-cubic.json":                 vectors(checkCubicTrace),
	"botocore-token-bucket.json":          vectors(checkTokenBucketTrace),
	"go-v2-adaptive-rate.json":            vectors(checkAdaptiveTrace(awspreset.AdaptiveGoV2, 1, 1)),
	"java-v1-adaptive-rate.json":          vectors(checkAdaptiveTrace(awspreset.AdaptiveJavaV1, 1, ms)),
	"js-v3-2026-rate.json":                vectors(checkAdaptiveTrace(awspreset.AdaptiveJavaScriptV3, ms, 1)),
	"js-v3-flag-off-rate.json":            vectors(checkAdaptiveTrace(awspreset.AdaptiveJavaScriptV3, ms, 1)),
	"js-v3-pre2026-rate.json":             vectors(checkAdaptiveTrace(awspreset.AdaptiveJavaScriptV3Before43, ms, 1)),

	"js-v2-handle-request-with-retries.json": vectors(checkJSHandler),
	"js-v3-pre2026.json":                     vectors(checkJSDelayV3(awspreset.JavaScriptV3StandardLateCap)),
	"js-v3-flag-off.json":                    vectors(checkJSDelayV3(awspreset.JavaScriptV3Standard)),
	"js-v3-2026.json":                        vectors(checkJSDelayV3(awspreset.JavaScriptV3Standard2026)),
	"js-v3-pre2026-classification.json":      vectors(checkJSClassV3(awspreset.JavaScriptV3StandardLateCap)),
	"js-v3-flag-off-classification.json":     vectors(checkJSClassV3(awspreset.JavaScriptV3Standard)),
	"js-v3-2026-classification.json":         vectors(checkJSClassV3(awspreset.JavaScriptV3Standard2026)),
	"js-v3-pre2026-quota.json":               vectors(checkJSQuota(awspreset.JavaScriptV3StandardLateCap)),
	"js-v3-flag-off-quota.json":              vectors(checkJSQuota(awspreset.JavaScriptV3Standard)),
	"js-v3-2026-quota.json":                  vectors(checkJSQuota(awspreset.JavaScriptV3Standard2026)),
	"js-v3-2026-exec.json":                   vectors(checkJSExecV3),
	"botocore-standard-pre-1.34.107.json":    vectors(checkBotocoreStandardDelay(awspreset.BotocoreStandardLateCap)),
	"botocore-standard.json":                 vectors(checkBotocoreStandardDelay(awspreset.BotocoreStandard)),
	"botocore-standard-2026.json":            vectors(checkBotocoreStandardDelay(awspreset.BotocoreStandard2026Preview)),
	"botocore-standard-classification.json":  vectors(checkBotocoreStandardClass(awspreset.BotocoreStandardLateCap, awspreset.BotocoreStandard, awspreset.BotocoreStandard2026Preview)),
	"standard-2026.json":                     vectors(both(checkBotocoreStandardDelay(awspreset.Standard2026), checkBotocoreStandardDelay(awspreset.BotocoreStandard2026))),
	"standard-2026-classification.json":      vectors(checkBotocoreStandardClass(awspreset.Standard2026, awspreset.BotocoreStandard2026)),
	"standard-2026-quota.json":               vectors(both(checkBotocoreQuota(awspreset.Standard2026), checkBotocoreQuota(awspreset.BotocoreStandard2026))),

	"botocore-standard-quota.json":      vectors(checkBotocoreQuota(awspreset.BotocoreStandard)),
	"botocore-standard-2026-quota.json": vectors(checkBotocoreQuota(awspreset.BotocoreStandard2026Preview)),
	"botocore-standard-exec.json":       vectors(checkBotocoreExec(awspreset.BotocoreStandard)),
	"botocore-standard-2026-exec.json":  vectors(checkBotocoreExec(awspreset.BotocoreStandard2026Preview)),
	"go-v2.json":                        vectors(checkGoDelay(awspreset.GoV2Standard)),
	"go-v2-2026.json":                   vectors(checkGoDelay(awspreset.GoV2Standard2026)),
	"go-v2-classification.json":         vectors(checkGoClass),
	"go-v2-exec.json":                   vectors(checkGoExec(awspreset.GoV2Standard, awspreset.GoV2Adaptive)),
	"go-v2-2026-exec.json":              vectors(checkGoExec(awspreset.GoV2Standard2026, awspreset.GoV2Adaptive2026)),
	"java-v1-standard.json":             vectors(checkJavaDelay(awspreset.JavaV1Standard, "")),
	"java-v1-historic.json":             vectors(checkJavaHistoric),
	"java-v2.json":                      vectors(checkJavaDelayV2),
	"retry-mode-config.json":            vectors(checkEnv),
}

// excludedVectors are cases that this library does not reproduce.
var excludedVectors = []struct {
	files string // a pattern for path.Match
	match func(c map[string]any) bool
	why   string
}{
	{
		"java-v1*.json",
		func(c map[string]any) bool { n, ok := c["retry"].(float64); return ok && n < 0 },
		"a retry before the first: the SDK throws or shifts by a negative number; here the number of a retry is never negative",
	},
	{
		"java-v1-historic.json",
		func(c map[string]any) bool {
			return c["variant"] == "2015" && c["throttling"] == true && c["service"] == "default" ||
				c["variant"] == "2016" && c["throttling"] == false
		},
		"arithmetic of releases before 2018, which have no preset",
	},
	{
		"java-v2.json",
		func(c map[string]any) bool { return c["retry"].(float64) < 0 },
		"a delay before the first attempt; Do does not wait there",
	},
	{
		"js-v2-handle-request-with-retries.json",
		func(c map[string]any) bool { return strings.Contains(fmt.Sprint(c["options"]), "customBackoff") },
		"a user-defined function",
	},
	{
		"js-v2-handle-request-with-retries.json",
		func(c map[string]any) bool { return strings.Contains(fmt.Sprint(c["name"]), "Retry-After -1") },
		"a negative wait, which the SDK passes to its timer",
	},
	{
		"js-v3-*-classification.json",
		func(c map[string]any) bool { return c["node_code"] == "ECONNABORTED" },
		"the SDK does not retry a connection aborted by its own system; here it is a lost connection",
	},
	{
		"js-v3-pre2026-classification.json",
		func(c map[string]any) bool { return c["node_code"] == "EAI_AGAIN" },
		"a temporary DNS failure is classified as in later releases",
	},
	{
		"retry-mode-config.json",
		func(c map[string]any) bool {
			options, _ := c["client_config"].(map[string]any)
			env := fmt.Sprint(c["env"])
			return c["config_file"] != nil || len(options) > 0 || strings.Contains(env, "DEFAULTS_MODE") || strings.Contains(env, "2026")
		},
		"settings other than the two variables",
	},
	{
		"js-v2-exec.json",
		func(c map[string]any) bool {
			// The SDK counts the retry before it checks the delay.
			retries, _ := c["retry_count"].(float64)
			delays, _ := c["delays_ms"].([]any)
			return strings.Contains(fmt.Sprint(c["config"]), "customBackoff") && int(retries) > len(delays)
		},
		"a customBackoff that returns a negative number ends the call; a Backoff cannot",
	},
}

func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "vectors", "*.json"))
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(file))
		if vectorChecks[filepath.Base(file)] == nil {
			t.Errorf("%s: no check for this file", file)
		}
	}
	for name, check := range vectorChecks {
		if !slices.Contains(names, name) {
			t.Errorf("%s: missing in testdata/vectors", name)
			continue
		}
		t.Run(name, func(t *testing.T) { check(t, name) })
	}
}

func vectors[C any](check func(C) error) func(t *testing.T, file string) {
	return func(t *testing.T, file string) {
		text, err := os.ReadFile(filepath.Join("testdata", "vectors", file))
		require.NoError(t, err)
		var content struct {
			Count  *int
			Params json.RawMessage // fields of all cases
			Cases  []json.RawMessage
		}
		require.NoError(t, json.Unmarshal(text, &content), file)
		require.NotEmpty(t, content.Cases, file)
		if content.Count != nil {
			require.Len(t, content.Cases, *content.Count, file)
		}
		excluded := 0
		for _, raw := range content.Cases {
			if why := exclusion(t, file, raw); why != "" {
				excluded++
				continue
			}
			var c C
			err := json.Unmarshal([]byte(cmp.Or(string(content.Params), "{}")), &c)
			if err == nil {
				err = json.Unmarshal(raw, &c)
			}
			if err == nil {
				err = check(c)
			}
			if err != nil {
				t.Errorf("%s: case %.300s\n\t%v", file, raw, err)
			}
		}
		require.Less(t, excluded, len(content.Cases), file)
		t.Logf("%s: %d cases checked, %d excluded", file, len(content.Cases)-excluded, excluded)
	}
}

func both[C any](one, other func(C) error) func(C) error {
	return func(c C) error { return errors.Join(one(c), other(c)) }
}

func exclusion(t *testing.T, file string, raw json.RawMessage) string {
	var c map[string]any
	require.NoError(t, json.Unmarshal(raw, &c), file)
	for _, e := range excludedVectors {
		if ok, err := path.Match(e.files, file); err == nil && ok && e.match(c) {
			return e.why
		}
	}
	return ""
}

// number may also be the string "Infinity" or "NaN", because JSON has no such numbers.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	x, err := strconv.ParseFloat(string(bytes.Trim(text, `"`)), 64)
	*n = number(x)
	return err
}

func (n number) times(unit time.Duration) time.Duration {
	return time.Duration(math.Round(float64(n) * float64(unit)))
}

// onlyRandom returns the only random number, or 0 for rules without jitter.
func onlyRandom(random []float64) float64 {
	if len(random) == 0 {
		return 0
	}
	return random[0]
}

// afterRetry returns the failed attempt before retry n, where the first retry is 0.
func afterRetry(n int64, class retry.Class) retry.Attempt {
	return retry.Attempt{Number: int(min(n, math.MaxInt-1)) + 1, Verdict: retry.Verdict{Class: class}}
}

// wholeNanosecond is the slack for truncation to a Duration.
const wholeNanosecond = 1.0

// agree compares a delay with an SDK's. They may differ by less than slack nanoseconds plus
// the resolution of a float64, which exceeds a nanosecond above 2⁵³ ns. Delays in the SDKs
// are unbounded; here the longest is 2⁶³-1 ns.
func agree(got time.Duration, sdk number, unit time.Duration, slack float64) error {
	if math.IsNaN(float64(sdk)) {
		return mustBe("delay", got, 0) // 0 · ∞, for which the SDK does not wait
	}
	if math.IsInf(float64(sdk), 1) {
		return mustBe("delay", got, math.MaxInt64)
	}
	exact := new(big.Rat).SetFloat64(float64(sdk))
	exact.Mul(exact, new(big.Rat).SetInt64(int64(unit)))
	return near(got, exact, slack)
}

func near(got time.Duration, exact *big.Rat, slack float64) error {
	largest := new(big.Rat).SetInt64(math.MaxInt64)
	rounding := new(big.Rat).Mul(exact, new(big.Rat).SetFloat64(0x1p-52))
	if new(big.Rat).Sub(exact, rounding).Cmp(largest) > 0 {
		return mustBe("delay", got, math.MaxInt64)
	}
	if exact.Cmp(largest) > 0 {
		exact = largest
	}
	diff := new(big.Rat).SetInt64(int64(got))
	diff.Sub(diff, exact).Abs(diff)
	if diff.Cmp(rounding.Add(rounding, new(big.Rat).SetFloat64(slack))) >= 0 {
		return fmt.Errorf("delay is %d ns, want %s ns", got, exact.FloatString(3))
	}
	return nil
}

func agreeAll(got []time.Duration, sdk []number, unit time.Duration) error {
	if len(got) != len(sdk) {
		return fmt.Errorf("waits are %v, want %v of %v", got, sdk, unit)
	}
	for i := range got {
		if err := agree(got[i], sdk[i], unit, wholeNanosecond); err != nil {
			return fmt.Errorf("wait %d: %w", i+1, err)
		}
	}
	return nil
}

// exceptions contains the Go equivalents of the SDKs' exceptions.
var exceptions = map[string]error{
	// aws-sdk-js: codes of Node.js and of the SDK itself.
	"ECONNRESET":             readError(os.NewSyscallError("read", syscall.ECONNRESET)),
	"ECONNREFUSED":           dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
	"ENOTFOUND":              &net.DNSError{Err: "no such host", Name: "service", IsNotFound: true},
	"TimeoutError":           readError(os.ErrDeadlineExceeded),
	"RequestAbortedError":    canceled{},                // by the caller
	"AbortError":             errorOfCode("AbortError"), // by the caller, in version 3
	"EPIPE":                  readError(syscall.EPIPE),
	"ETIMEDOUT":              readError(os.ErrDeadlineExceeded),
	"EHOSTUNREACH":           dialError(syscall.EHOSTUNREACH),
	"ENETUNREACH":            dialError(syscall.ENETUNREACH),
	"EAI_AGAIN":              &net.DNSError{Err: "server misbehaving", Name: "service", IsTemporary: true},
	"EPROTO":                 requestError(x509.UnknownAuthorityError{}),
	"CERT_HAS_EXPIRED":       requestError(x509.CertificateInvalidError{Reason: x509.Expired}),
	"fetch":                  dialError(syscall.ECONNREFUSED), // a browser that cannot connect
	"ERR_HTTP2_STREAM_ERROR": errors.New("stream error: stream ID 1; CANCEL"),

	// botocore.
	"ConnectionError":         readError(os.NewSyscallError("read", syscall.ECONNRESET)),
	"EndpointConnectionError": dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
	"ConnectTimeoutError":     dialError(os.ErrDeadlineExceeded),
	"ReadTimeoutError":        readError(os.ErrDeadlineExceeded),
	"ConnectionClosedError":   requestError(io.EOF), // closed before a response
	"SSLError":                requestError(x509.UnknownAuthorityError{}),
	"ProxyConnectionError":    &net.OpError{Op: "proxyconnect", Net: "tcp", Err: syscall.ECONNREFUSED},
	"IncompleteReadError":     errors.New("incomplete read"),      // after the call, while the caller reads a stream
	"ResponseStreamingError":  requestError(errors.New("stream")), // a subclass of HTTPClientError
	"HTTPClientError":         requestError(errors.New("client")),
	"ValueError":              errors.New("value out of range"),
	"ChecksumError":           errorOfCode("ChecksumError"),    // see Classifier
	"CRC32CheckFailed":        errorOfCode("CRC32CheckFailed"), // in aws-sdk-js

	// aws-sdk-java: the direct causes of its exceptions.
	"IOException":             readError(os.NewSyscallError("read", syscall.ECONNRESET)),
	"SocketException":         readError(os.NewSyscallError("read", syscall.ECONNRESET)),
	"SocketTimeoutException":  readError(os.ErrDeadlineExceeded),
	"ConnectTimeoutException": dialError(os.ErrDeadlineExceeded),
	"ConnectException":        dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
	"UnknownHostException":    &net.DNSError{Err: "no such host", Name: "service", IsNotFound: true},
	"SSLHandshakeException":   requestError(x509.UnknownAuthorityError{}),
	"NoHttpResponseException": requestError(io.EOF),              // closed before a response
	"EOFException":            requestError(io.ErrUnexpectedEOF), // truncated body
	"RuntimeException":        errors.New("bug"),                 // even if its own cause is an IOException
	"no cause":                errors.New("client failed"),
}

func exception(name string) (error, error) {
	err, ok := exceptions[name]
	if !ok {
		return nil, fmt.Errorf("no Go equivalent of %q in the table", name)
	}
	return err, nil
}

func checkClass(c retry.Classifier, err error, retryable bool) (retry.Class, error) {
	class := c.Classify(err).Class
	if class == retry.ClassUnknown || (class != retry.ClassPermanent) != retryable {
		return class, fmt.Errorf("class is %v, want retryable %v", class, retryable)
	}
	return class, nil
}

func checkThrottled(class retry.Class, throttling *bool) error {
	if throttling == nil {
		return nil
	}
	return mustBe(fmt.Sprintf("whether class %v is throttled", class), class == retry.ClassThrottled, *throttling)
}

type playback struct {
	waits    []time.Duration
	attempts int
	last     error // of the script
	err      error // of the call
	balances []float64
}

func play(p retry.Policy, outcomes []error, random func() float64) playback {
	clock, op := &retrytest.Clock{}, retrytest.Script(outcomes...)
	p.Clock, p.Rand = clock, random
	var r playback
	r.err = retry.Do(context.Background(), p, func(ctx context.Context) error {
		r.balances = append(r.balances, balance(p))
		r.last = op.Run(ctx)
		return r.last
	})
	r.waits, r.attempts = clock.Waits(), op.Calls()
	return r
}

func (r playback) ended(ok bool) error {
	switch {
	case ok && r.err != nil:
		return fmt.Errorf("call failed: %w", r.err)
	case !ok && r.err == nil:
		return errors.New("call succeeded, want a failure")
	case !ok && !errors.Is(r.err, r.last):
		return fmt.Errorf("call returned %w, want the last failure %w", r.err, r.last)
	}
	return nil
}

func (r playback) gaveUp(maxAttempts, budget bool) error {
	return errors.Join(
		mustBe("whether the number of attempts ended the call", errors.Is(r.err, retry.ErrMaxAttempts), maxAttempts),
		mustBe("whether the quota ended the call", errors.Is(r.err, retry.ErrBudget), budget))
}

// recorded returns a source that replays the random numbers in us and, after them,
// returns the constant then for the given number of attempts.
func recorded(us []float64, then float64, attempts int) func() float64 {
	return retrytest.Replay(slices.Concat(us, slices.Repeat([]float64{then}, attempts))...)
}

// response is the service's response in a trace, or the failure to get one.
type response struct {
	Status       *int
	Code         *string
	Headers      map[string]string
	NetworkError string `json:"network_error"` // aws-sdk-js, aws-sdk-go-v2
	ErrorName    string `json:"error_name"`    // of the network error in aws-sdk-js
	Exception    string // botocore, aws-sdk-java
}

// scriptOf takes the exception for bad checksums, or "" if the SDK does not check them.
func scriptOf(responses []response, badChecksum, message string, hint dialect) (script []error, err error) {
	for _, r := range responses {
		var failed error
		sum := r.Headers["x-amz-crc32"]
		switch {
		case r.NetworkError != "" || r.Exception != "":
			failed, err = exception(cmp.Or(r.ErrorName, r.NetworkError, r.Exception))
		case r.Status == nil || *r.Status >= 300:
			failed = withHint(serviceError(r.Status, r.Code, message), hint(r.Headers))
		case badChecksum != "" && sum != "" && sum != strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte("{}"))), 10):
			failed, err = exception(badChecksum)
		}
		if err != nil {
			return nil, err
		}
		script = append(script, failed)
	}
	return script, nil
}

type hinted struct {
	error
	after time.Duration
}

func (e hinted) Unwrap() error { return e.error }

func (e hinted) RetryAfter() time.Duration { return e.after }

func withHint(err error, after time.Duration) error {
	if after <= 0 {
		return err
	}
	return hinted{err, after}
}

// A dialect reads a hint from headers as an SDK does; 0 means none.
type dialect func(headers map[string]string) time.Duration

func noHint(map[string]string) time.Duration { return 0 }

// wholeHint refuses negative numbers, as all SDKs do.
func wholeHint(text string, unit func(int64) time.Duration) time.Duration {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return unit(n)
}

func isLongPoll(operation string) bool {
	switch strings.ToLower(strings.ReplaceAll(operation, "_", "")) {
	case "receivemessage", "getactivitytask", "pollforactivitytask", "pollfordecisiontask":
		return true
	}
	return false
}

func fill(b retry.Budget, to float64) {
	p := retry.Policy{Budget: b}
	for balance(p) > to && b.TryWithdraw(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassThrottled}}) {
	}
	for before := -1.0; balance(p) < to && balance(p) > before; {
		before = balance(p)
		b.Deposit(retry.Attempt{}, true)
	}
}

func classOf(throttling bool) retry.Class {
	if throttling {
		return retry.ClassThrottled
	}
	return retry.ClassTransient
}

func afterHint(p retry.Policy, a retry.Attempt, u float64, hint time.Duration) time.Duration {
	delay := p.Backoff.Delay(a, u)
	if hint > 0 {
		delay, _ = p.Hint.Wait(delay, hint)
	}
	return delay
}
