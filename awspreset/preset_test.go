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
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

func TestPresetText(t *testing.T) {
	for preset := range awspreset.All() {
		for _, service := range []string{"", "dynamodb", "dynamodbstreams", "s3"} {
			p := preset.Policy(service)
			text := preset.String()
			if service != "" {
				text += " service=" + service
			}
			t.Run(text, func(t *testing.T) {
				require.NoError(t, p.Validate())
				assert.Equal(t, text, p.String())
				parsed, err := retry.ParsePolicy(text)
				require.NoError(t, err)
				assert.Equal(t, text, parsed.String())
				assert.Equal(t, p.MaxAttempts, parsed.MaxAttempts)
				assert.Equal(t, p.Backoff, parsed.Backoff)
				assert.Equal(t, p.Classifier, parsed.Classifier)
				assert.Equal(t, p.Hint, parsed.Hint)
				assert.Equal(t, p.Budget, parsed.Budget)
				assert.IsType(t, p.Limiter, parsed.Limiter)
				changed := p
				changed.LongPoll = true
				assert.Equal(t, p.String()+" longpoll=true", changed.String())
				changed.Classifier = awspreset.Classifier{Preset: preset, Service: service, CorrectsClockSkew: true}
				assert.NotContains(t, changed.String(), preset.String(), "with another classifier")
				p.Backoff = retry.NoDelay{}
				assert.NotContains(t, p.String(), preset.String(), "with another rule")
			})
		}
	}
}

func TestPresetUnknown(t *testing.T) {
	for number, unknown := range map[string]awspreset.Preset{
		"31": awspreset.JavaScriptV3Adaptive2026 + 1, "200": awspreset.Preset(200),
	} {
		assert.Equal(t, "aws-preset("+number+")", unknown.String())
		assert.NotEmpty(t, unknown.Source())
		p := unknown.Policy("")
		require.ErrorIs(t, p.Validate(), retry.ErrInvalid)
		assert.ErrorContains(t, p.Validate(), "aws-preset("+number+") is no preset")
		assert.Equal(t, awspreset.Standard2026.Policy("").Backoff, p.Backoff, "it is safe to run all the same")
		assert.Equal(t, retry.ClassThrottled, p.Classifier.Classify(errorOfCode("SlowDown")))
	}
}

// TestPresetLimiters: each adaptive preset has the limiter of its own SDK.
func TestPresetLimiters(t *testing.T) {
	common := func() *awspreset.AdaptiveLimiter { return &awspreset.AdaptiveLimiter{} }
	limiters := map[string]func() *awspreset.AdaptiveLimiter{
		"aws-adaptive-2026": common, "aws-java-v2-": common, "aws-botocore-": awspreset.AdaptiveBotocore,
		"aws-go-v2-": awspreset.AdaptiveGoV2, "aws-java-v1-": awspreset.AdaptiveJavaV1, "aws-js-v3-": awspreset.AdaptiveJavaScriptV3,
	}
	for preset := range awspreset.All() {
		limiter, ok := preset.Policy("").Limiter.(*awspreset.AdaptiveLimiter)
		require.Equal(t, strings.Contains(preset.String(), "adaptive"), ok, "%v", preset)
		for prefix, made := range limiters {
			if ok && strings.HasPrefix(preset.String(), prefix) {
				assert.Equal(t, made().Rules(), limiter.Rules(), "%v", preset)
			}
		}
	}
}

func TestServiceName(t *testing.T) {
	for _, service := range []string{"", "dynamodb", "s3", "route53", "rds-data", "not-known"} {
		assert.NoError(t, awspreset.Standard2026.Policy(service).Validate(), service)
	}
	for _, service := range []string{"DynamoDB", "dynamo db", "sqs ", "a=b", "s3(", "Ä"} {
		err := awspreset.Standard2026.Policy(service).Validate()
		require.ErrorIs(t, err, retry.ErrInvalid)
		assert.ErrorContains(t, err, fmt.Sprintf("%q does not name a service as the AWS CLI does", service))
	}
}

func TestPresetBackoffKeepsTheContract(t *testing.T) {
	for preset := range awspreset.All() {
		t.Run(preset.String(), func(t *testing.T) { retrytest.TestBackoff(t, preset.Policy("").Backoff) })
	}
}

// TestPresetQuotaIsPerPolicy also has the number of presets without one.
func TestPresetQuotaIsPerPolicy(t *testing.T) {
	without := 0
	for preset := range awspreset.All() {
		p, other := preset.Policy(""), preset.Policy("")
		copied := p
		if p.Budget == nil {
			without++
			continue
		}
		require.True(t, p.Budget.TryWithdraw(retry.Attempt{Number: 1, Class: retry.ClassTransient}))
		assert.Less(t, balance(p), 500.0, preset)
		assert.Equal(t, balance(p), balance(copied), preset)
		assert.Equal(t, 500.0, balance(other), preset)
	}
	assert.Equal(t, 2, without)
}

// TestPresetRefunds has what a success brings to the quotas that are not a
// plain TokenBudget, also from many goroutines.
func TestPresetRefunds(t *testing.T) {
	tests := []struct {
		preset          awspreset.Preset
		first, retried  float64 // the balance after a success from 400
		above, afterBad float64 // after a success from 500, and a permanent failure from 400
	}{
		{awspreset.Standard2026, 401, 414, 500, 400},
		{awspreset.GoV2Standard, 401, 406, 500, 400},
		{awspreset.GoV2Adaptive, 400, 405, 500, 400},
		{awspreset.GoV2AdaptiveRepaired, 401, 406, 500, 400},
		{awspreset.GoV2Adaptive2026, 400, 414, 500, 400},
		{awspreset.JavaScriptV3Standard, 401, 410, 500, 400},
		{awspreset.JavaScriptV3StandardLateCap, 500, 500, 501, 400},
	}
	for _, tt := range tests {
		t.Run(tt.preset.String(), func(t *testing.T) {
			after := func(from float64, last retry.Class, ok bool) float64 {
				p := tt.preset.Policy("")
				for balance(p) > from {
					require.True(t, p.Budget.TryWithdraw(retry.Attempt{Number: 1, Class: retry.ClassThrottled}))
				}
				p.Budget.Deposit(last, ok)
				return balance(p)
			}
			assert.Equal(t, tt.first, after(400, retry.ClassUnknown, true))
			assert.Equal(t, tt.retried, after(400, retry.ClassTransient, true))
			assert.Equal(t, tt.above, after(500, retry.ClassUnknown, true))
			assert.Equal(t, tt.afterBad, after(400, retry.ClassTransient, false))

			p := tt.preset.Policy("")
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 100 {
						if p.Budget.TryWithdraw(retry.Attempt{Number: 1, Class: retry.ClassTransient}) {
							p.Budget.Deposit(retry.ClassTransient, true)
						}
					}
				})
			}
			wg.Wait()
			assert.GreaterOrEqual(t, balance(p), 500.0)
		})
	}
}

// TestPresetClassifierBeyondVectors has the rules of the SDKs that no golden
// vector shows.
func TestPresetClassifierBeyondVectors(t *testing.T) {
	js := func(service string) retry.Classifier {
		return awspreset.Classifier{Preset: awspreset.JavaScriptV2, Service: service}
	}
	bad := 400
	tests := []struct {
		classifier retry.Classifier
		code       string
		want       retry.Class
	}{
		{js(""), "XMLParserError", retry.ClassTransient},
		{js("sqs"), "InvalidChecksum", retry.ClassTransient},
		{js(""), "InvalidChecksum", retry.ClassPermanent},
		{js("sts"), "IDPCommunicationErrorException", retry.ClassTransient},
		{js("sts"), "InvalidIdentityToken", retry.ClassTransient},
		{js(""), "InvalidIdentityToken", retry.ClassPermanent},
		{js("dynamodb"), "CRC32CheckFailed", retry.ClassTransient},
		{js("s3"), "CRC32CheckFailed", retry.ClassPermanent},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.classifier.Classify(serviceError(&bad, &tt.code, "")), "%+v %s", tt.classifier, tt.code)
	}
	for preset := range awspreset.All() {
		c := preset.Policy("").Classifier
		for _, err := range []error{errors.New("says nothing of itself"), context.Canceled, cancelled{}} {
			assert.Equal(t, retry.ClassPermanent, c.Classify(err), "%T, %v", c, err)
		}
	}
}

// TestPresetNetworkFailures: what the network does to an answer is retried as
// the SDK does; what the service says outweighs it.
func TestPresetNetworkFailures(t *testing.T) {
	const (
		permanent = retry.ClassPermanent
		transient = retry.ClassTransient
		timeout   = retry.ClassTimeout
	)
	tests := []struct {
		name               string
		err                error
		js, botocore, java retry.Class
	}{
		{"closed", io.EOF, transient, transient, transient},
		{"closed after a good status", errors.Join(statusedError(200), io.EOF), transient, transient, transient},
		{"closed after a bad status", errors.Join(statusedError(400), io.EOF), permanent, permanent, permanent},
		{"closed after a code", errors.Join(codedError{"NoSuchKey"}, io.EOF), permanent, permanent, permanent},
		{"cut short", io.ErrUnexpectedEOF, transient, transient, transient},
		{"cut short after a good status", errors.Join(statusedError(200), io.ErrUnexpectedEOF), transient, transient, transient},
		{"cut short after a bad status", errors.Join(statusedError(400), codedError{"Throttling"}, io.ErrUnexpectedEOF), retry.ClassThrottled, retry.ClassThrottled, retry.ClassThrottled},
		{"no answer in time", os.ErrDeadlineExceeded, timeout, timeout, timeout},
		{"status 429", statusedError(429), retry.ClassThrottled, retry.ClassThrottled, retry.ClassThrottled},
		{"status 500", statusedError(500), transient, transient, transient},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.js, awspreset.Classifier{Preset: awspreset.JavaScriptV2}.Classify(tt.err), "JavaScript, %s", tt.name)
		assert.Equal(t, tt.botocore, awspreset.Classifier{Preset: awspreset.BotocoreLegacy}.Classify(tt.err), "botocore, %s", tt.name)
		assert.Equal(t, tt.java, awspreset.Classifier{Preset: awspreset.JavaV1Legacy}.Classify(tt.err), "Java, %s", tt.name)
	}
}

// TestServiceRules has the codes that an SDK retries for one service, or with
// one option, and that no vector has.
func TestServiceRules(t *testing.T) {
	aws := func(p awspreset.Preset, service string) awspreset.Classifier {
		return awspreset.Classifier{Preset: p, Service: service}
	}
	skew := func(p awspreset.Preset) awspreset.Classifier {
		return awspreset.Classifier{Preset: p, CorrectsClockSkew: true}
	}
	const permanent, transient = retry.ClassPermanent, retry.ClassTransient
	tests := []struct {
		classifier awspreset.Classifier
		code       string
		want       retry.Class
	}{
		{aws(awspreset.Standard2026, "dynamodb"), "ReplicatedWriteConflictException", transient},
		{aws(awspreset.JavaScriptV3Standard, "dynamodb"), "ReplicatedWriteConflictException", transient},
		{aws(awspreset.Standard2026, "dynamodb"), "AccessDenied", permanent},
		{aws(awspreset.Standard2026, "sts"), "IDPCommunicationErrorException", transient},
		{aws(awspreset.Standard2026, "s3"), "ReplicatedWriteConflictException", permanent},
		{aws(awspreset.JavaV2Legacy, "dynamodb"), "ReplicatedWriteConflictException", transient},
		{aws(awspreset.JavaV2Legacy, "dynamodb"), "AccessDenied", permanent},
		{aws(awspreset.JavaV2Legacy, "s3"), "ReplicatedWriteConflictException", permanent},
		{aws(awspreset.JavaV2Standard2026, "sts"), "IDPCommunicationError", transient},
		{aws(awspreset.JavaV2Standard2026, "sts"), "AccessDenied", permanent},
		{aws(awspreset.JavaV2Standard, "sts"), "IDPCommunicationError", permanent},
		{aws(awspreset.GoV2Standard, "sts"), "IDPCommunicationError", transient},
		{aws(awspreset.GoV2Standard2026, "sts"), "AccessDenied", permanent},
		{aws(awspreset.GoV2Standard, "s3"), "IDPCommunicationError", permanent},
		{aws(awspreset.GoV2Standard, ""), "AccessDeniedException", permanent},
		{skew(awspreset.GoV2Standard), "AccessDeniedException", transient},
		{skew(awspreset.GoV2Standard), "RequestInTheFuture", transient},
		{skew(awspreset.GoV2Standard), "ValidationException", permanent},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.classifier.Classify(codedError{tt.code}), "%+v, %s", tt.classifier, tt.code)
	}
}

// The golden vectors are inputs and outputs of the SDKs' own code, as
// testdata/vectors/README.md describes. The checks below know their schema and
// not their number or values, so the files can be replaced by others.

// vectorChecks has the check for each file in testdata/vectors.
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

// excludedVectors are the cases that this library does not reproduce, and why
// not. They are the only ones that are not checked.
var excludedVectors = []struct {
	files string // as in path.Match
	match func(c map[string]any) bool
	why   string
}{
	{
		"java-v1*.json",
		func(c map[string]any) bool { n, ok := c["retry"].(float64); return ok && n < 0 },
		"a retry before the first: the SDK throws, or shifts by a negative number; here no attempt number makes n negative",
	},
	{
		"java-v1-historic.json",
		func(c map[string]any) bool {
			return c["variant"] == "2015" && c["throttling"] == true && c["service"] == "default" ||
				c["variant"] == "2016" && c["throttling"] == false
		},
		"arithmetic of releases from before 2018, for which there is no preset",
	},
	{
		"java-v2.json",
		func(c map[string]any) bool { return c["retry"].(float64) < 0 },
		"the delay before the first attempt, which is none",
	},
	{
		"js-v2-handle-request-with-retries.json",
		func(c map[string]any) bool { return strings.Contains(fmt.Sprint(c["options"]), "customBackoff") },
		"a function of the user's",
	},
	{
		"js-v2-handle-request-with-retries.json",
		func(c map[string]any) bool { return strings.Contains(fmt.Sprint(c["name"]), "Retry-After -1") },
		"a wait of less than nothing, which the SDK hands to its timer",
	},
	{
		"js-v3-*-classification.json",
		func(c map[string]any) bool { return c["node_code"] == "ECONNABORTED" },
		"the SDK does not retry a connection that its own system has given up; here it counts as any broken connection",
	},
	{
		"js-v3-pre2026-classification.json",
		func(c map[string]any) bool { return c["node_code"] == "EAI_AGAIN" },
		"DNS has no answer yet: here it counts as in later releases",
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
			// The SDK counts the retry before it looks at the delay.
			retries, _ := c["retry_count"].(float64)
			delays, _ := c["delays_ms"].([]any)
			return strings.Contains(fmt.Sprint(c["config"]), "customBackoff") && int(retries) > len(delays)
		},
		"a customBackoff that returns a negative number ends the call: a Backoff only says how long to wait, a HintRule may give up",
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

// vectors makes a check of all cases of a file from that of one case.
func vectors[C any](check func(C) error) func(t *testing.T, file string) {
	return func(t *testing.T, file string) {
		text, err := os.ReadFile(filepath.Join("testdata", "vectors", file))
		require.NoError(t, err)
		var content struct {
			Count  *int
			Params json.RawMessage // fields that all cases have
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

// both makes one check of two.
func both[C any](one, other func(C) error) func(C) error {
	return func(c C) error { return errors.Join(one(c), other(c)) }
}

// exclusion returns why a case is not checked, or "".
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

// number is a number of JavaScript or Python in JSON, where the strings
// "Infinity" and "NaN" stand for what JSON does not have.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	x, err := strconv.ParseFloat(string(bytes.Trim(text, `"`)), 64)
	*n = number(x)
	return err
}

// times returns n units as a Duration.
func (n number) times(unit time.Duration) time.Duration {
	return time.Duration(math.Round(float64(n) * float64(unit)))
}

// onlyRandom returns the case's random number; cases of rules without jitter have none.
func onlyRandom(random []float64) float64 {
	if len(random) == 0 {
		return 0
	}
	return random[0]
}

// afterRetry is the failed attempt that retry n, 0 for the first, follows.
func afterRetry(n int64, class retry.Class) retry.Attempt {
	return retry.Attempt{Number: int(min(n, math.MaxInt-1)) + 1, Class: class}
}

// wholeNanosecond is what truncation to a Duration may take away.
const wholeNanosecond = 1.0

// agree compares a delay with that of an SDK which computes in floating point
// and does not round. They differ by less than slack nanoseconds, and by the
// resolution of the two float64 they come from: it is more than a nanosecond
// in delays of more than 2⁵³ of them. The SDKs know no largest delay; here it
// is 2⁶³-1 ns.
func agree(got time.Duration, sdk number, unit time.Duration, slack float64) error {
	if math.IsNaN(float64(sdk)) {
		return mustBe("delay", got, 0) // 0 · ∞, which the SDK takes for 0 before it waits
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

func mustBe[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v, want %v", what, got, want)
	}
	return nil
}

// agreeAll compares the waits of a call with the SDK's.
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

// Delays.

type jsDelay struct {
	Retry   int64
	Random  []float64
	BaseMS  number `json:"base_ms"`
	DelayMS number `json:"delay_ms"`
}

func checkJSDelay(service string) func(jsDelay) error {
	return func(c jsDelay) error {
		got := jsBackoff(awspreset.JavaScriptV2.Policy(service), c.BaseMS).Delay(afterRetry(c.Retry, retry.ClassTransient), onlyRandom(c.Random))
		return agree(got, c.DelayMS, time.Millisecond, wholeNanosecond)
	}
}

// jsBackoff is the preset's rule, with the base that a user of the SDK has set.
func jsBackoff(p retry.Policy, baseMS number) retry.Backoff {
	if b, ok := p.Backoff.(retry.FullJitter); ok && b.Base == baseMS.times(time.Millisecond) {
		return p.Backoff
	}
	return retry.FullJitter{Base: baseMS.times(time.Millisecond)}
}

type botocoreDelay struct {
	Attempt int64
	Random  []float64
	Base    any     // seconds, or "rand": random seconds from 0 to 1
	Growth  float64 `json:"growth_factor"`
	DelayS  number  `json:"delay_s"`
	Error   string
}

func checkBotocoreDelay(c botocoreDelay) error {
	var rule retry.Backoff
	exact := new(big.Rat).SetInt64(int64(time.Second))
	switch base := c.Base.(type) {
	case string:
		if err := mustBe("base", base, "rand"); err != nil {
			return err
		}
		rule = awspreset.BotocoreLegacy.Policy("").Backoff
		if c.Growth != 2 {
			rule = retry.FullJitter{Base: time.Second, Factor: c.Growth}
		}
		exact.Mul(exact, new(big.Rat).SetFloat64(onlyRandom(c.Random)))
	case float64:
		rule = awspreset.BotocoreLegacy.Policy("dynamodb").Backoff
		if own := number(base).times(time.Second); rule != (retry.Exponential{Base: own}) || c.Growth != 2 {
			rule = retry.Exponential{Base: own, Factor: c.Growth}
		}
		exact.Mul(exact, new(big.Rat).SetFloat64(base))
	}
	got := rule.Delay(retry.Attempt{Number: int(c.Attempt), Class: retry.ClassTransient}, onlyRandom(c.Random))
	switch c.Error {
	case "":
		return agree(got, c.DelayS, time.Second, wholeNanosecond)
	case "ValueError":
		// botocore refuses a base that is not positive; here it means no wait.
		return mustBe("delay", got, 0)
	case "OverflowError":
		// Python cannot make a float of growth ** n; here the delay saturates.
		growth := new(big.Int).Exp(big.NewInt(int64(c.Growth)), big.NewInt(c.Attempt-1), nil)
		return near(got, exact.Mul(exact, new(big.Rat).SetInt(growth)), wholeNanosecond)
	}
	return fmt.Errorf("unknown error %q", c.Error)
}

type javaDelay struct {
	Retry      int64
	Random     []float64
	Throttling bool
	Strategy   string // of the SDK; without one it is that of the preset
	BaseMS     int64  `json:"base_ms"`
	MaxMS      int64  `json:"max_ms"`
	DelayMS    int64  `json:"delay_ms"`
	Error      string
}

func checkJavaDelay(preset awspreset.Preset, service string) func(javaDelay) error {
	return func(c javaDelay) error {
		if c.Error != "" {
			return fmt.Errorf("unknown error %q", c.Error)
		}
		rule, class := preset.Policy(service).Backoff, retry.ClassTransient
		if c.Throttling {
			class = retry.ClassThrottled
		}
		if c.Strategy != "" {
			var err error
			if rule, err = javaRule(c.Strategy, c.BaseMS, c.MaxMS); err != nil {
				return err
			}
		}
		got := rule.Delay(afterRetry(c.Retry, class), onlyRandom(c.Random))
		return mustBe("delay", got, time.Duration(c.DelayMS)*time.Millisecond)
	}
}

// javaRule returns the rule of a strategy of the SDK for Java v1.
func javaRule(strategy string, baseMS, maxMS int64) (retry.Backoff, error) {
	base, limit := time.Duration(baseMS)*time.Millisecond, time.Duration(maxMS)*time.Millisecond
	switch strategy {
	case "FullJitter":
		return awspreset.JavaFull(base, limit), nil
	case "EqualJitter":
		return awspreset.JavaEqual(base, limit), nil
	}
	return nil, fmt.Errorf("unknown strategy %q", strategy)
}

type pollingDelay struct {
	Retry         int64
	MaxIntervalMS int64 `json:"max_wait_interval_ms"`
	ExpMS         int64 `json:"wait_time_exp_ms"`
	DelayMS       int64 `json:"delay_ms"`
}

// checkPollingDelay compares the waits of a Java sample: none before the first
// poll, 2ⁿ · 100 ms with a cap before the others.
func checkPollingDelay(c pollingDelay) error {
	if c.Retry <= 0 {
		// There is no rule to ask: Do does not wait before the first attempt.
		return mustBe("the sample's delay", c.DelayMS, 0)
	}
	limit := milliseconds(c.MaxIntervalMS)
	want := milliseconds(c.DelayMS)
	exact := new(big.Int).Lsh(big.NewInt(100), uint(c.Retry))
	if exact.Cmp(big.NewInt(c.ExpMS)) != 0 {
		want = limit // the sample's long overflows; here the delay saturates
	}
	rule := retry.Exponential{Base: 200 * time.Millisecond, Cap: limit}
	return mustBe("delay", rule.Delay(afterRetry(c.Retry-1, retry.ClassUnknown), 0), want)
}

// milliseconds converts a number of them, saturating.
func milliseconds(n int64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

type blogDelay struct {
	Strategy  string
	Base, Cap number // in the simulator's unit of time, a millisecond here
	Retry     int64
	Random    []float64
	Delay     number
	Delays    []number // of one chain, each drawn from the one before
}

func checkBlogDelay(c blogDelay) error {
	base, limit := c.Base.times(time.Millisecond), c.Cap.times(time.Millisecond)
	// The simulator adds and multiplies a few times more than it has to.
	const slack = wholeNanosecond + 1e-4
	var rule retry.Backoff
	switch c.Strategy {
	case "ExpoBackoff":
		rule = retry.Exponential{Base: base, Cap: limit}
	case "ExpoBackoffEqualJitter":
		rule = retry.EqualJitter{Base: base, Cap: limit}
	case "ExpoBackoffFullJitter":
		rule = retry.FullJitter{Base: base, Cap: limit}
	case "ExpoBackoffDecorr":
		rule = retry.DecorrelatedJitter{Base: base, Cap: limit}
		a, inherited := retry.Attempt{}, 0.0
		if len(c.Delays) == 0 || len(c.Delays) != len(c.Random) {
			return fmt.Errorf("%d random numbers and %d delays", len(c.Random), len(c.Delays))
		}
		for i, u := range c.Random {
			a.Number, a.Waited = i+1, rule.Delay(a, u)
			inherited = slack + 3*u*inherited // what truncation took before counts 3u times
			if err := agree(a.Waited, c.Delays[i], time.Millisecond, inherited); err != nil {
				return fmt.Errorf("delay %d: %w", i+1, err)
			}
		}
		return nil
	default:
		return fmt.Errorf("unknown strategy %q", c.Strategy)
	}
	return agree(rule.Delay(afterRetry(c.Retry, retry.ClassTransient), onlyRandom(c.Random)), c.Delay, time.Millisecond, slack)
}

// Errors.

// Parts of the errors of a service. The classifiers ask for methods, so an
// error must not have one for something that the case does not have.
type (
	scripted   struct{}
	hasStatus  struct{ status int }
	hasCode    struct{ code string }
	hasMessage struct{ message string }
	cancelled  struct{ scripted }
)

func (scripted) Error() string          { return "failure by script" }
func (e hasStatus) HTTPStatusCode() int { return e.status }
func (e hasCode) ErrorCode() string     { return e.code }
func (e hasMessage) ErrorMessage() string {
	return e.message
}
func (cancelled) CanceledError() bool { return true }

func serviceError(status *int, code *string, message string) error {
	switch {
	case status != nil && code != nil && message != "":
		return &struct {
			scripted
			hasStatus
			hasCode
			hasMessage
		}{hasStatus: hasStatus{*status}, hasCode: hasCode{*code}, hasMessage: hasMessage{message}}
	case status != nil && code != nil:
		return &struct {
			scripted
			hasStatus
			hasCode
		}{hasStatus: hasStatus{*status}, hasCode: hasCode{*code}}
	case status != nil:
		return &struct {
			scripted
			hasStatus
		}{hasStatus: hasStatus{*status}}
	case code != nil:
		return &struct {
			scripted
			hasCode
		}{hasCode: hasCode{*code}}
	}
	return errors.New("failure by script")
}

func errorOfCode(code string) error { return serviceError(nil, &code, "") }

func readError(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
func dialError(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

// requestError is how net/http reports err.
func requestError(err error) error { return &url.Error{Op: "Post", URL: "https://service/", Err: err} }

// exceptions are the Go equivalents of what the SDKs throw themselves.
var exceptions = map[string]error{
	// aws-sdk-js: the codes of Node.js, and two of its own.
	"ECONNRESET":             readError(os.NewSyscallError("read", syscall.ECONNRESET)),      // the same errno
	"ECONNREFUSED":           dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED)), // the same errno
	"ENOTFOUND":              &net.DNSError{Err: "no such host", Name: "service", IsNotFound: true},
	"TimeoutError":           readError(os.ErrDeadlineExceeded), // its socket or connection timer
	"RequestAbortedError":    cancelled{},                       // the caller's doing
	"AbortError":             errorOfCode("AbortError"),         // the same in version 3
	"EPIPE":                  readError(syscall.EPIPE),
	"ETIMEDOUT":              readError(os.ErrDeadlineExceeded),
	"EHOSTUNREACH":           dialError(syscall.EHOSTUNREACH),
	"ENETUNREACH":            dialError(syscall.ENETUNREACH),
	"EAI_AGAIN":              &net.DNSError{Err: "server misbehaving", Name: "service", IsTemporary: true},
	"EPROTO":                 requestError(x509.UnknownAuthorityError{}), // no TLS with this peer
	"CERT_HAS_EXPIRED":       requestError(x509.CertificateInvalidError{Reason: x509.Expired}),
	"fetch":                  dialError(syscall.ECONNREFUSED), // what browsers say when they cannot connect
	"ERR_HTTP2_STREAM_ERROR": errors.New("stream error: stream ID 1; CANCEL"),

	// botocore.
	"ConnectionError":         readError(os.NewSyscallError("read", syscall.ECONNRESET)),      // the general case
	"EndpointConnectionError": dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED)), // no connection was made
	"ConnectTimeoutError":     dialError(os.ErrDeadlineExceeded),                              // no connection in time
	"ReadTimeoutError":        readError(os.ErrDeadlineExceeded),                              // no answer in time
	"ConnectionClosedError":   requestError(io.EOF),                                           // closed before an answer
	"SSLError":                requestError(x509.UnknownAuthorityError{}),                     // no TLS with this peer
	"ProxyConnectionError":    &net.OpError{Op: "proxyconnect", Net: "tcp", Err: syscall.ECONNREFUSED},
	"IncompleteReadError":     errors.New("incomplete read"),      // while the caller reads a stream, after the call
	"ResponseStreamingError":  requestError(errors.New("stream")), // one of the sort of the next
	"HTTPClientError":         requestError(errors.New("client")), // what has no other name
	"ValueError":              errors.New("value out of range"),   // not of the network at all
	"ChecksumError":           errorOfCode("ChecksumError"),       // documented at the classifier
	"CRC32CheckFailed":        errorOfCode("CRC32CheckFailed"),    // the code that aws-sdk-js gives it

	// aws-sdk-java: the direct cause of its exception.
	"IOException":             readError(os.NewSyscallError("read", syscall.ECONNRESET)), // the general case
	"SocketException":         readError(os.NewSyscallError("read", syscall.ECONNRESET)),
	"SocketTimeoutException":  readError(os.ErrDeadlineExceeded),                              // no answer in time
	"ConnectTimeoutException": dialError(os.ErrDeadlineExceeded),                              // no connection in time
	"ConnectException":        dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED)), // no connection was made
	"UnknownHostException":    &net.DNSError{Err: "no such host", Name: "service", IsNotFound: true},
	"SSLHandshakeException":   requestError(x509.UnknownAuthorityError{}), // no TLS with this peer
	"NoHttpResponseException": requestError(io.EOF),                       // closed before an answer
	"EOFException":            requestError(io.ErrUnexpectedEOF),          // the body broke off
	"RuntimeException":        errors.New("bug"),                          // not an IOException, whatever its own cause
	"no cause":                errors.New("client failed"),
}

func exception(name string) (error, error) {
	err, ok := exceptions[name]
	if !ok {
		return nil, fmt.Errorf("no Go equivalent of %q in the table", name)
	}
	return err, nil
}

// Classification.

// checkClass asks a classifier. A preset's classifier always has an opinion.
func checkClass(c retry.Classifier, err error, retryable bool) (retry.Class, error) {
	class := c.Classify(err)
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

type jsClass struct {
	Service    string
	Status     *int
	Code       *string
	Message    string
	Retryable  bool
	Throttling *bool
	Timeout    bool
	ClockSkew  bool `json:"clock_skew"`
}

func checkJSClass(c jsClass) error {
	classifier := awspreset.Classifier{Preset: awspreset.JavaScriptV2, Service: strings.ReplaceAll(c.Service, "rdsdata", "rds-data")}
	failed := serviceError(c.Status, c.Code, c.Message)
	class, err := checkClass(classifier, failed, c.Retryable)
	if err != nil {
		return err
	}
	if err := checkThrottled(class, c.Throttling); err != nil {
		return err
	}
	if c.Timeout && class != retry.ClassThrottled {
		if err := mustBe("class", class, retry.ClassTimeout); err != nil {
			return err
		}
	}
	// The option makes exactly the errors of a wrong clock worth a retry.
	classifier.CorrectsClockSkew = true
	_, err = checkClass(classifier, failed, c.Retryable || c.ClockSkew)
	return err
}

type botocoreClass struct {
	Service    string `json:"service_prefix"`
	Status     *int
	Code       *string
	Exception  string
	CRC32      string
	Attempt    int // that failed; 0: the limit of attempts does not matter
	Random     []float64
	Retryable  bool
	DelayS     *number `json:"delay_s"`
	MaxReached *bool   `json:"max_attempts_reached_flag"`
}

func (c botocoreClass) failure() (error, error) {
	switch {
	case c.Exception != "":
		return exception(c.Exception)
	case strings.HasPrefix(c.CRC32, "bad"):
		return exception("ChecksumError")
	case c.CRC32 != "":
		return nil, nil // the response is good
	}
	return serviceError(c.Status, c.Code, ""), nil
}

func botocorePolicy(service string) retry.Policy { return awspreset.BotocoreLegacy.Policy(service) }

func checkBotocoreClass(c botocoreClass) error {
	failed, err := c.failure()
	if err != nil {
		return err
	}
	p := botocorePolicy(c.Service)
	if c.Attempt == 0 {
		_, err := checkClass(p.Classifier, failed, c.Retryable)
		return err
	}
	r := play(p, []error{failed}, retrytest.Fixed(onlyRandom(c.Random)))
	if err := mustBe("whether attempt "+strconv.Itoa(c.Attempt)+" is retried", len(r.waits) >= c.Attempt, c.Retryable); err != nil {
		return err
	}
	if c.DelayS != nil {
		if err := agree(r.waits[c.Attempt-1], *c.DelayS, time.Second, wholeNanosecond); err != nil {
			return err
		}
	}
	if c.MaxReached != nil {
		err = mustBe("whether attempt "+strconv.Itoa(c.Attempt)+" was one too many", errors.Is(r.err, retry.ErrMaxAttempts) && c.Attempt >= r.attempts, *c.MaxReached)
	}
	return errors.Join(err, r.ended(failed == nil))
}

type javaClass struct {
	Status     *int
	Code       *string
	Exception  string
	Retryable  bool
	Throttling *bool
}

var javaCause = regexp.MustCompile(`^SdkClientException (?:caused by )?(no cause|\w+)`)

func checkJavaClass(c javaClass) error {
	failed := serviceError(c.Status, c.Code, "")
	if c.Exception != "" {
		cause := javaCause.FindStringSubmatch(c.Exception)
		if cause == nil {
			return fmt.Errorf("unknown exception %q", c.Exception)
		}
		var err error
		if failed, err = exception(cause[1]); err != nil {
			return err
		}
	}
	class, err := checkClass(awspreset.Classifier{Preset: awspreset.JavaV1Legacy}, failed, c.Retryable)
	if err != nil {
		return err
	}
	return checkThrottled(class, c.Throttling)
}

// Traces of whole calls.

// playback is what a call of Do did with a scripted operation.
type playback struct {
	waits    []time.Duration
	attempts int
	last     error     // of the script
	err      error     // of the call
	balances []float64 // of the budget, at each attempt
}

// play makes a call whose attempts have the given outcomes, the last of them
// over and over.
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

// ended checks how the call ended.
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

// gaveUp checks whether the call gave up for one of two reasons.
func (r playback) gaveUp(maxAttempts, budget bool) error {
	return errors.Join(
		mustBe("whether the number of attempts ended the call", errors.Is(r.err, retry.ErrMaxAttempts), maxAttempts),
		mustBe("whether the quota ended the call", errors.Is(r.err, retry.ErrBudget), budget))
}

// recorded returns the numbers of a vector in turn, then the given one, but only
// as often as a call of that many attempts may need it.
func recorded(us []float64, then float64, attempts int) func() float64 {
	return retrytest.Replay(slices.Concat(us, slices.Repeat([]float64{then}, attempts))...)
}

// response is one answer of the service in a trace, or what came instead.
type response struct {
	Status       *int
	Code         *string
	Headers      map[string]string
	NetworkError string `json:"network_error"` // aws-sdk-js, aws-sdk-go-v2
	ErrorName    string `json:"error_name"`    // aws-sdk-js: its own name for the network error
	Exception    string // botocore, aws-sdk-java
}

// scriptOf makes the script of an operation. badChecksum is the exception for
// responses that contradict their checksum; "" if nobody looks at it.
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

type jsExec struct {
	Name    string
	Service string
	Config  struct {
		MaxRetries        *int
		CorrectClockSkew  bool
		DynamoDBCrc32     *bool `json:"dynamoDbCrc32"`
		RetryDelayOptions struct {
			Base          *number
			CustomBackoff any
		}
	}
	Responses []response
	Random    []float64
	Attempts  int
	DelaysMS  []number `json:"delays_ms"`
	OK        bool
}

func checkJSExec(c jsExec) error {
	p, badChecksum := awspreset.JavaScriptV2.Policy(c.Service), ""
	if c.Service == "dynamodb" {
		if c.Config.DynamoDBCrc32 == nil || *c.Config.DynamoDBCrc32 {
			badChecksum = "CRC32CheckFailed"
		}
	}
	classifier := p.Classifier.(awspreset.Classifier)
	classifier.RenewsCredentials = true // between two attempts the SDK fetches new ones
	classifier.CorrectsClockSkew = c.Config.CorrectClockSkew
	p.Classifier = classifier
	if n := c.Config.MaxRetries; n != nil {
		p.MaxAttempts = *n + 1
	}
	switch options := c.Config.RetryDelayOptions; {
	case options.CustomBackoff != nil:
		p.Backoff = c.customBackoff()
	case options.Base != nil:
		p.Backoff = jsBackoff(p, *options.Base)
	}
	message := ""
	if strings.Contains(c.Name, "Signature expired") {
		message = "Signature expired" // the traces have messages in their names only
	}
	script, err := scriptOf(c.Responses, badChecksum, message, noHint)
	if err != nil {
		return err
	}
	// The SDK also draws for errors that it does not retry, so that numbers
	// may be left over.
	r := play(p, script, recorded(c.Random, 0, p.MaxAttempts))
	return errors.Join(
		mustBe("number of attempts", r.attempts, c.Attempts),
		agreeAll(r.waits, c.DelaysMS, time.Millisecond),
		r.ended(c.OK),
	)
}

var (
	customStep   = regexp.MustCompile(`customBackoff (\d+)\*\(n\+1\)`)
	customResult = regexp.MustCompile(`customBackoff returns (\S+)`)
)

// customBackoff is the user's function, which the traces have in their names.
// Of those that it does not understand it repeats the delays: then only what
// the library makes of them is checked.
func (c jsExec) customBackoff() retry.Backoff {
	if m := customStep.FindStringSubmatch(c.Name); m != nil {
		step, _ := strconv.Atoi(m[1])
		return retry.Linear{Base: time.Duration(step) * time.Millisecond}
	}
	if m := customResult.FindStringSubmatch(c.Name); m != nil {
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil || math.IsNaN(x) {
			x = 0 // the SDK takes undefined and NaN for 0
		}
		return retry.Constant(number(x).times(time.Millisecond))
	}
	var s retry.Schedule
	for _, d := range c.DelaysMS {
		s = append(s, d.times(time.Millisecond))
	}
	return s
}

type botocoreExec struct {
	Service   string
	Operation string
	Config    struct {
		Retries struct {
			MaxAttempts      *int `json:"max_attempts"`
			TotalMaxAttempts *int `json:"total_max_attempts"`
		}
	}
	Env           map[string]string
	QuotaBefore   *float64 `json:"quota_before"`
	Responses     []response
	Random        []float64
	Attempts      int
	SleepsS       []number `json:"sleeps_s"`
	OK            bool
	RetryAttempts *int     `json:"retry_attempts"`
	MaxReached    bool     `json:"max_attempts_reached"`
	QuotaReached  bool     `json:"retry_quota_reached"`
	QuotaAfter    *float64 `json:"quota_after"`
}

func checkBotocoreExec(preset awspreset.Preset) func(botocoreExec) error {
	return func(c botocoreExec) error {
		p := preset.Policy(c.Service)
		retries := c.Config.Retries
		switch env := c.Env["AWS_MAX_ATTEMPTS"]; {
		case retries.TotalMaxAttempts != nil:
			p.MaxAttempts = *retries.TotalMaxAttempts
		case retries.MaxAttempts != nil:
			p.MaxAttempts = *retries.MaxAttempts + 1
		case env != "":
			n, err := strconv.Atoi(env)
			if err != nil {
				return err
			}
			p.MaxAttempts = n
		}
		p.LongPoll = preset == awspreset.BotocoreStandard2026Preview && isLongPoll(c.Operation)
		if c.QuotaBefore != nil {
			fill(p.Budget, *c.QuotaBefore)
		}
		badChecksum := ""
		if c.Service == "dynamodb" {
			badChecksum = "ChecksumError"
		}
		script, err := scriptOf(c.Responses, badChecksum, "", pythonHint)
		if err != nil {
			return err
		}
		r := play(p, script, recorded(c.Random, 0, p.MaxAttempts))
		if n := c.RetryAttempts; n != nil {
			err = mustBe("number of retries", r.attempts-1, *n)
		}
		err = errors.Join(err, c.checkFlags(p, r))
		if c.OK && r.last == exceptions["ChecksumError"] {
			// The standard mode returns the bad answer in the end, as a success;
			// here it stays a failure.
			c.OK = false
			p.Budget.Deposit(retry.ClassTransient, true)
		}
		if c.QuotaAfter != nil && p.Budget != nil {
			err = errors.Join(err, mustBe("balance after the call", balance(p), *c.QuotaAfter))
		}
		return errors.Join(
			err,
			mustBe("number of attempts", r.attempts, c.Attempts),
			agreeAll(r.waits, c.SleepsS, time.Second),
			r.ended(c.OK),
		)
	}
}

// checkFlags compares why the call ended with the flags in the metadata of the
// last response. The standard modes set one also if the last attempt succeeded.
// The SDK has none for the exceptions that it raises.
func (c botocoreExec) checkFlags(p retry.Policy, r playback) error {
	last := c.Responses[min(r.attempts, len(c.Responses))-1]
	switch {
	case !c.OK && (last.Exception != "" || r.last == exceptions["ChecksumError"]):
		return mustBe("whether an exception has flags", c.MaxReached || c.QuotaReached, false)
	case r.err == nil:
		return mustBe("whether a success has flags", c.MaxReached || c.QuotaReached, p.Budget != nil && r.attempts == p.MaxAttempts)
	}
	return r.gaveUp(c.MaxReached, c.QuotaReached)
}

type javaExec struct {
	Name          string
	MaxErrorRetry *int `json:"max_error_retry"`
	Mode          string
	Policy        string
	Random        []float64
	RandomThen    float64 `json:"random_then"`
	Calls         []javaCall
}

type javaCall struct {
	Responses      []response
	Attempts       int
	Result         string
	DelaysMS       []number  `json:"delays_ms"`
	CapacityAtSend []float64 `json:"capacity_at_each_send"`
	CapacityAfter  float64   `json:"capacity_after"`
}

var javaCapacity = regexp.MustCompile(`maxConsecutiveRetriesBeforeThrottling (\d+)`)

func (c javaExec) policy() (retry.Policy, error) {
	services := map[string]string{"": "", "DEFAULT": "", "DYNAMODB_DEFAULT": "dynamodb"}
	service, ok := services[c.Policy]
	if !ok {
		return retry.Policy{}, fmt.Errorf("unknown policy %q", c.Policy)
	}
	presets := map[string]awspreset.Preset{
		"LEGACY": awspreset.JavaV1Legacy, "STANDARD": awspreset.JavaV1Standard, "ADAPTIVE": awspreset.JavaV1Adaptive,
	}
	preset, ok := presets[c.Mode]
	if !ok {
		return retry.Policy{}, fmt.Errorf("unknown mode %q", c.Mode)
	}
	p := preset.Policy(service)
	p.Limiter = nil // what it holds back depends on the time; its traces are those of the limiter
	if n := c.MaxErrorRetry; n != nil {
		p.MaxAttempts = *n + 1
	}
	if strings.Contains(c.Name, "useThrottleRetries=false") {
		p.Budget = nil
	}
	if m := javaCapacity.FindStringSubmatch(c.Name); m != nil {
		n, _ := strconv.ParseFloat(m[1], 64)
		b := bucketOf(p)
		p.Budget = &retry.TokenBudget{
			Capacity: 5 * n, Costs: b.Costs, Success: b.Success, NoRefund: b.NoRefund, SuccessOnly: b.SuccessOnly,
		}
	}
	return p, nil
}

func bucketOf(p retry.Policy) *retry.TokenBudget { return p.Budget.(*retry.TokenBudget) }

// balance is the policy's quota as the SDK tells it: -1 if there is none.
func balance(p retry.Policy) float64 {
	if b, ok := p.Budget.(interface{ Balance() float64 }); ok {
		return b.Balance()
	}
	return -1
}

func checkJavaExec(c javaExec) error {
	p, err := c.policy()
	if err != nil {
		return err
	}
	random := recorded(c.Random, c.RandomThen, len(c.Calls)*p.MaxAttempts)
	for i, call := range c.Calls {
		if err := call.check(p, random); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return nil
}

func (c javaCall) check(p retry.Policy, random func() float64) error {
	script, err := scriptOf(c.Responses, "", "", noHint)
	if err != nil {
		return err
	}
	r := play(p, script, random)
	r.repeatQuotaDefects(p, script)
	if !slices.Equal(r.balances, c.CapacityAtSend) {
		err = fmt.Errorf("balances at each attempt are %v, want %v", r.balances, c.CapacityAtSend)
	}
	return errors.Join(
		err,
		mustBe("number of attempts", r.attempts, c.Attempts),
		agreeAll(r.waits, c.DelaysMS, time.Millisecond),
		equalWhole(r.waits),
		mustBe("balance after the call", balance(p), c.CapacityAfter),
		r.ended(c.Result == "ok"),
	)
}

// repeatQuotaDefects does to the quota what the SDK does and the library, as
// documented, does not. The SDK takes the cost of a retry also for the last
// failure and then gives back 5 if the call has taken anything, whatever it was.
func (r playback) repeatQuotaDefects(p retry.Policy, script []error) {
	if r.last == nil || p.Budget == nil {
		return
	}
	switch class := p.Classify(r.last).Class; {
	case class == retry.ClassThrottled && bucketOf(p).Costs.Throttled == 0 && r.hasPaid(p, script):
		p.Budget.Deposit(retry.ClassTransient, true)
	case class == retry.ClassTimeout && bucketOf(p).Costs.Timeout == 10 && errors.Is(r.err, retry.ErrMaxAttempts):
		if p.Budget.TryWithdraw(retry.Attempt{Class: retry.ClassTimeout}) {
			p.Budget.Deposit(retry.ClassTransient, true)
		}
	}
}

// hasPaid reports whether a retry of the call took tokens.
func (r playback) hasPaid(p retry.Policy, script []error) bool {
	retried := min(r.attempts-1, len(script))
	return slices.ContainsFunc(script[:retried], func(err error) bool {
		return p.Classifier.Classify(err) != retry.ClassThrottled
	})
}

// equalWhole checks that delays are whole milliseconds, so that agreeing with
// the SDK's within a nanosecond means being the same.
func equalWhole(waits []time.Duration) error {
	for _, d := range waits {
		if d%time.Millisecond != 0 {
			return fmt.Errorf("wait %v is not in whole milliseconds", d)
		}
	}
	return nil
}

type pollingLoop struct {
	Variant       string
	MaxRetries    int      `json:"max_retries"`
	SucceedsOn    int      `json:"succeeds_on_poll"`
	MaxIntervalMS *int64   `json:"max_wait_interval_ms"`
	WaitsMS       []number `json:"waits_ms"`
	Polls         int
	Succeeded     bool
}

// checkPollingLoop builds the two polling loops of the AWS General Reference
// from a policy.
func checkPollingLoop(c pollingLoop) error {
	var limit time.Duration
	if c.MaxIntervalMS != nil {
		limit = milliseconds(*c.MaxIntervalMS)
	}
	p := retry.Policy{MaxAttempts: c.MaxRetries + 1}
	waits, before := c.WaitsMS, 0 // attempts before the first poll
	switch c.Variant {
	case "java":
		// It waits 0 ms before the first poll, where Do does not wait.
		if len(waits) == 0 || waits[0] != 0 {
			return fmt.Errorf("first wait of %v is not 0", waits)
		}
		waits = waits[1:]
		p.Backoff = retry.Exponential{Base: 200 * time.Millisecond, Cap: limit}
	case "pseudo-code":
		// It starts something, which here is the first attempt, and waits
		// before every poll; it polls once even if it is told to poll 0 times.
		before = 1
		p.MaxAttempts = max(c.MaxRetries, 1) + before
		p.Backoff = retry.Exponential{Base: 100 * time.Millisecond, Cap: limit}
	default:
		return fmt.Errorf("unknown variant %q", c.Variant)
	}
	script := slices.Repeat([]error{errors.New("not ready")}, before+c.SucceedsOn-1)
	r := play(p, append(script, nil), retrytest.Fixed(0))
	return errors.Join(
		mustBe("number of polls", r.attempts-before, c.Polls),
		agreeAll(r.waits, waits, time.Millisecond),
		r.ended(c.Succeeded),
		r.gaveUp(!c.Succeeded, false),
	)
}
