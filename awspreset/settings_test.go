package awspreset_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retrytest"
)

// A use is a row of the first table of docs/aws.md: what users have, and the code for it.
type use struct {
	sdk, version, mode string // the default mode is in bold type
	code               func() retry.Policy
}

func uses() []use {
	return []use{
		{"boto3, botocore", "1.44.0 or later", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "1.34.107 to 1.43", "standard", func() retry.Policy { return awspreset.BotocoreStandard20.Policy("s3") }},
		{"", "until 1.43", "**legacy**", func() retry.Policy { return awspreset.BotocoreLegacy.Policy("s3") }},
		{"", "1.44.0 or later", "legacy", func() retry.Policy { return awspreset.BotocoreLegacy.Policy("s3") }},
		{"aws-cli", "2.40.0 or later", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "2.x before", "**standard**", func() retry.Policy { return awspreset.BotocoreStandard20.Policy("s3") }},
		{"", "2.x", "legacy", func() retry.Policy { return awspreset.BotocoreLegacy.Policy("s3") }},
		{"`@aws-sdk/client-*` (JavaScript v3)", "3.1166.0 or later, with `@smithy/core` 3.40.0 or later", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "before, with `@smithy/util-retry` 4.3.0 or later", "**standard**", func() retry.Policy { return awspreset.JavaScriptV3Standard20.Policy("s3") }},
		{"`aws-sdk` (JavaScript v2)", "2.x", "", func() retry.Policy { return awspreset.JavaScriptV2.Policy("s3") }},
		{"`software.amazon.awssdk` (Java 2)", "2.58.0 or later", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "until 2.57", "standard", func() retry.Policy { return awspreset.JavaV2Standard20.Policy("s3") }},
		{"", "until 2.57", "**legacy**", func() retry.Policy { return awspreset.JavaV2Legacy.Policy("s3") }},
		{"", "2.58.0 or later", "legacy", func() retry.Policy { return awspreset.JavaV2Legacy.Policy("s3") }},
		{"`aws-java-sdk` (Java 1)", "1.x", "**legacy**", func() retry.Policy { return awspreset.JavaV1.Policy("s3") }},
		{"`aws-sdk-go-v2`", "released on 10 November 2026 or later (`aws` v1.48.0)", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"", "before", "**standard**", func() retry.Policy { return awspreset.GoV2Standard20.Policy("s3") }},
		{"`aws-sdk-go` (Go v1)", "1.x", "", func() retry.Policy { return awspreset.GoV1.Policy("s3") }},
		{".NET, PowerShell, Rust, Ruby, PHP, Swift, C++", "see [below](#when-each-sdk-changed)", "**standard**", func() retry.Policy { return awspreset.Standard21.Policy("s3") }},
		{"every SDK above that has it", "", "adaptive", func() retry.Policy {
			p := awspreset.Standard21.Policy("s3") // or the preset of mode standard
			p.Limiter = new(awspreset.AdaptiveLimiter)
			return p
		}},
	}
}

// A setting is a row of the second table: an SDK's own setting, and what to write here.
type setting struct {
	sdk, theirs string
	code        func(p *retry.Policy)
	attempts    int             // how many attempts a call makes that always fails; 0: as without the setting
	longest     []time.Duration // the longest waits of such a call; nil: not checked
}

func settings() []setting {
	return []setting{
		{"all that read it", "`AWS_MAX_ATTEMPTS=4`", func(p *retry.Policy) { p.MaxAttempts = 4 }, 4, nil},
		{"botocore", "`Config(retries={\"max_attempts\": 4})`, which counts retries", func(p *retry.Policy) { p.MaxAttempts = 5 }, 5, nil},
		{"", "`Config(retries={\"total_max_attempts\": 4})`", func(p *retry.Policy) { p.MaxAttempts = 4 }, 4, nil},
		{"", "`max_attempts = 4` in `~/.aws/config`", func(p *retry.Policy) { p.MaxAttempts = 4 }, 4, nil},
		{"", "`Config(connect_timeout=5)`; default 60 s", func(p *retry.Policy) {
			http.DefaultTransport.(*http.Transport).DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
		}, 0, nil},
		{"", "`Config(read_timeout=5)`, of each read; default 60 s", func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }, 0, nil},
		{"JavaScript v2", "`maxRetries: 3`", func(p *retry.Policy) { p.MaxAttempts = 4 }, 4, nil},
		{"", "`retryDelayOptions: {base: 300}`", func(p *retry.Policy) {
			p.Backoff = retry.FullJitter{Base: 300 * time.Millisecond}
		}, 0, []time.Duration{300 * ms, 600 * ms, 1200 * ms}},
		{"", "`retryDelayOptions: {customBackoff: f}`, where `f` returns milliseconds, and a negative number ends the call", func(p *retry.Policy) {
			p.Backoff = custom(func(n int, err error) float64 {
				if n == 2 {
					return -1
				}
				return 50
			})
		}, 3, []time.Duration{50 * ms, 50 * ms}},
		{"", "`httpOptions: {timeout: 5000}`, of silence; default 120 s", func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }, 0, nil},
		{"JavaScript v3", "`maxAttempts: 4`", func(p *retry.Policy) { p.MaxAttempts = 4 }, 4, nil},
		{"", "`new NodeHttpHandler({requestTimeout: 5000})`; default none", func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }, 0, nil},
		{"Java 1", "`withMaxErrorRetry(3)`", func(p *retry.Policy) { p.MaxAttempts = 4 }, 4, nil},
		{"", "`withRequestTimeout(5000)`; default none", func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }, 0, nil},
		{"", "`withClientExecutionTimeout(60000)`; default none", func(p *retry.Policy) { p.MaxElapsed = time.Minute }, 0, nil},
		{"Java 2", "`retryStrategy(b -> b.maxAttempts(4))`", func(p *retry.Policy) { p.MaxAttempts = 4 }, 4, nil},
		{"", "`apiCallAttemptTimeout(Duration.ofSeconds(5))`; default none", func(p *retry.Policy) { p.AttemptTimeout = 5 * time.Second }, 0, nil},
		{"", "`apiCallTimeout(Duration.ofMinutes(1))`; default none", func(p *retry.Policy) { p.MaxElapsed = time.Minute }, 0, nil},
		{"Go v1", "`aws.Config{MaxRetries: aws.Int(3)}`", func(p *retry.Policy) { p.MaxAttempts = 4 }, 4, nil},
		{"Go v2", "`config.WithRetryMaxAttempts(4)`", func(p *retry.Policy) { p.MaxAttempts = 4 }, 4, nil},
		{"", "`retry.AddWithMaxBackoffDelay(r, 5*time.Second)`", func(p *retry.Policy) {
			p.Backoff = retry.Capped{Of: p.Backoff, Cap: 5 * time.Second}
		}, 0, nil},
		{"", "`retry.AddWithErrorCodes(r, \"Odd\")`", func(p *retry.Policy) {
			p.Classifier = retry.FirstOf(retry.ClassifierFunc(func(err error) retry.Verdict {
				var api interface{ ErrorCode() string }
				if errors.As(err, &api) && api.ErrorCode() == "Odd" {
					return retry.Verdict{Class: retry.ClassTransient}
				}
				return retry.Verdict{}
			}), p.Classifier)
		}, 0, nil},
	}
}

// custom is a rule like the customBackoff of JavaScript v2. A negative delay ends the call.
type custom func(retryCount int, err error) (milliseconds float64)

func (f custom) Delay(a retry.Attempt, _ float64) time.Duration {
	return time.Duration(f(a.Number-1, a.Err) * float64(time.Millisecond))
}

// A gone is a mode without a preset, and the code for it.
type gone struct {
	mode string
	code func() retry.Policy
	// what the code promises
	attempts  int
	longest   []time.Duration // after transient failures
	throttled time.Duration   // the longest first wait after throttling
}

func goneModes() []gone {
	return []gone{
		{"botocore until 1.34.106, mode standard: the cap applies after the jitter", func() retry.Policy {
			p := awspreset.BotocoreStandard20.Policy("s3")
			p.Backoff = retry.Capped{Of: retry.FullJitter{Base: time.Second}, Cap: 20 * time.Second}
			return p
		}, 3, []time.Duration{time.Second, 2 * time.Second}, time.Second},
		{"botocore, mode adaptive: the limiter begins with one token a second", func() retry.Policy {
			p := awspreset.Standard21.Policy("s3") // or BotocoreStandard20
			p.Limiter = &awspreset.AdaptiveLimiter{InitialRate: 1}
			return p
		}, 3, []time.Duration{50 * ms, 100 * ms}, time.Second},
		{"Go v2 until v1.47, mode adaptive: a success without retries returns no tokens", func() retry.Policy {
			p := awspreset.GoV2Standard20.Policy("s3")
			costs := awspreset.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}
			p.Budget = &awspreset.TokenBudget{Capacity: 500, Costs: costs, Success: -1, SuccessOnly: true}
			p.Limiter = new(awspreset.AdaptiveLimiter)
			return p
		}, 3, []time.Duration{2 * time.Second, 4 * time.Second}, 2 * time.Second},
		{"Java 1, mode standard", func() retry.Policy {
			p := awspreset.JavaV1.Policy("s3")
			p.Backoff, p.MaxAttempts = p.Backoff.(retry.WhenThrottled).Else, 3
			costs := awspreset.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}
			p.Budget = &awspreset.TokenBudget{Capacity: 500, Costs: costs, SuccessOnly: true}
			return p
		}, 3, []time.Duration{100 * ms, 200 * ms}, 100 * ms},
		{"JavaScript v3 with `@smithy/util-retry` before 4.3.0: the cap applies after the jitter, and there is no quota that limits anything", func() retry.Policy {
			p := awspreset.JavaScriptV3Standard20.Policy("s3")
			p.Budget, p.Hint = nil, retry.HintIgnore{}
			return p // the cap of 20 s matters only from the ninth attempt on
		}, 3, []time.Duration{100 * ms, 200 * ms}, 500 * ms},
		{"Go v2 since v1.48.0, to the last error: with retryaws, the SDK's own rules decide", func() retry.Policy {
			p := awspreset.Standard21.Policy("s3")
			p.Classifier = nil
			return p
		}, 3, []time.Duration{50 * ms, 100 * ms}, time.Second},
		{"JavaScript v3 and Java 2 with retry behavior 2.1, to the last microsecond: `wholeMilliseconds` truncates the delays", func() retry.Policy {
			p := awspreset.Standard21.Policy("s3")
			p.Backoff = wholeMilliseconds{p.Backoff}
			return p
		}, 3, []time.Duration{49 * ms, 99 * ms}, 999 * ms},
	}
}

type wholeMilliseconds struct{ retry.Backoff }

func (w wholeMilliseconds) Delay(a retry.Attempt, u float64) time.Duration {
	return w.Backoff.Delay(a, u).Truncate(time.Millisecond)
}

// waitsOf runs a call that always fails, with the largest random numbers.
func waitsOf(t *testing.T, p retry.Policy, err error) (attempts int, waits []time.Duration) {
	t.Helper()
	clock := &retrytest.Clock{}
	p.Clock, p.Rand = clock, retrytest.Fixed(math.Nextafter(1, 0))
	if l, ok := p.Limiter.(*awspreset.AdaptiveLimiter); ok {
		l.Clock = clock
	}
	require.Error(t, retry.Do(t.Context(), p, func(context.Context) error { attempts++; return err }))
	return attempts, clock.Waits()
}

func assertWaits(t *testing.T, want, got []time.Duration) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		assert.InDelta(t, want[i], got[i], float64(2*ms))
	}
}

func TestUses(t *testing.T) {
	named := map[awspreset.Preset]bool{}
	for _, u := range uses() {
		p := u.code()
		require.NoError(t, p.Validate())
		named[p.Classifier.(awspreset.Classifier).Preset] = true
	}
	for preset := range awspreset.All() {
		assert.True(t, named[preset], "%v is in the table", preset)
	}
}

func TestSettings(t *testing.T) {
	dial := http.DefaultTransport.(*http.Transport).DialContext
	defer func() { http.DefaultTransport.(*http.Transport).DialContext = dial }()
	for _, s := range settings() {
		t.Run(s.theirs, func(t *testing.T) {
			p := awspreset.JavaScriptV2.Policy("s3")
			s.code(&p)
			attempts, waits := waitsOf(t, p, statusedError(500))
			if s.attempts > 0 {
				assert.Equal(t, s.attempts, attempts)
			}
			if s.longest != nil {
				assertWaits(t, s.longest, waits)
			}
		})
	}
}

func TestGoneModes(t *testing.T) {
	for _, g := range goneModes() {
		t.Run(g.mode, func(t *testing.T) {
			p := g.code()
			require.NoError(t, p.Validate())
			p.Classifier = retry.DefaultClassifier{}
			attempts, waits := waitsOf(t, p, statusedError(500))
			assert.Equal(t, g.attempts, attempts)
			assertWaits(t, g.longest, waits)
			p = g.code()
			p.Classifier, p.Limiter = retry.DefaultClassifier{}, nil
			_, waits = waitsOf(t, p, statusedError(429))
			assert.InDelta(t, g.throttled, waits[0], float64(2*ms))
		})
	}
}

// codesOf returns the source code of the functions in the rows of a function in this file,
// in order.
func codesOf(t *testing.T, function string) []string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "settings_test.go", nil, parser.ParseComments)
	require.NoError(t, err)
	var codes []string
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != function {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			row, ok := n.(*ast.CompositeLit)
			if !ok || row.Type != nil {
				return true
			}
			for _, field := range row.Elts {
				if lit, ok := field.(*ast.FuncLit); ok {
					var text strings.Builder
					node := &printer.CommentedNode{Node: lit.Body, Comments: file.Comments}
					require.NoError(t, (&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 4}).Fprint(&text, fset, node))
					codes = append(codes, body(text.String()))
				}
			}
			return false
		})
	}
	return codes
}

// body returns the lines of a block without its braces and indentation.
func body(block string) string {
	text := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(block, "{"), "}"), " \n")
	lines := strings.Split(text, "\n")
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], "\t"))
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, strings.Repeat("\t", indent))
	}
	return strings.Join(lines, "\n")
}

func inCell(code string) string {
	var lines []string
	for line := range strings.SplitSeq(code, "\n") {
		line = strings.TrimPrefix(line, "return ")
		indent := len(line) - len(strings.TrimLeft(line, "\t"))
		if line != "p" {
			lines = append(lines, strings.Repeat("&emsp;", indent)+"`"+strings.TrimLeft(line, "\t")+"`")
		}
	}
	return strings.Join(lines, "<br>")
}

func usesTable(t *testing.T) string {
	codes := codesOf(t, "uses")
	var text strings.Builder
	text.WriteString(head("your SDK", "version", "mode (**default**)", "here"))
	for i, u := range uses() {
		text.WriteString(row(u.sdk, u.version, u.mode, inCell(codes[i])))
	}
	return text.String()
}

func settingsTable(t *testing.T) string {
	codes := codesOf(t, "settings")
	var text strings.Builder
	text.WriteString(head("SDK", "its setting", "here"))
	for i, s := range settings() {
		text.WriteString(row(s.sdk, s.theirs, inCell(codes[i])))
	}
	return text.String()
}

func goneText(t *testing.T) string {
	codes := codesOf(t, "goneModes")
	var text strings.Builder
	for i, g := range goneModes() {
		code := strings.TrimSpace(strings.TrimSuffix(codes[i], "return p"))
		text.WriteString("\n" + g.mode + ":\n\n```go\n" + code + "\n```\n")
	}
	return text.String()
}
