package awspreset_test

import (
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

var update = flag.Bool("update", false, "update the tables of docs/aws.md and docs/reference/aws.md")

func TestTables(t *testing.T) {
	for page, tables := range map[string]map[string]string{
		"../docs/aws.md":           {"uses": usesTable(t)},
		"../docs/reference/aws.md": {"settings": settingsTable(t), "gone": goneText(t), "delays": delaysTable(), "errors": errorsTable()},
	} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		want := string(text)
		for name, table := range tables {
			before, rest, found := strings.Cut(want, "<!-- "+name+" -->\n")
			require.True(t, found, name)
			_, after, found := strings.Cut(rest, "<!-- end -->\n")
			require.True(t, found, name)
			want = before + "<!-- " + name + " -->\n" + table + "<!-- end -->\n" + after
		}
		if *update {
			require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
		} else if want != string(text) { // too long to print
			t.Errorf("the tables of %s are stale; run go test ./awspreset -run TestTables -update", page)
		}
	}
}

func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func head(cells ...string) string {
	return row(cells...) + strings.Repeat("|---", len(cells)) + "|\n"
}

func forDynamoDB(preset awspreset.Preset, cell func(retry.Policy) string) string {
	general, dynamoDB := cell(preset.Policy("")), cell(preset.Policy("dynamodb"))
	if general == dynamoDB {
		return general
	}
	return general + " (" + dynamoDB + ")"
}

func delaysTable() string {
	return grouped(head("presets", "attempts", "first delay", "jitter", "cap", "quota", "hint"),
		func(preset awspreset.Preset, presets string) string {
			return row(
				presets,
				forDynamoDB(preset, func(p retry.Policy) string { return strconv.Itoa(p.MaxAttempts) }),
				forDynamoDB(preset, ceilings),
				forDynamoDB(preset, jitterOf),
				forDynamoDB(preset, capOf),
				forDynamoDB(preset, quotaOf),
				forDynamoDB(preset, func(p retry.Policy) string {
					if named, ok := p.Hint.(fmt.Stringer); ok {
						return named.String() // a rule that has no name in a text
					}
					_, hint, _ := strings.Cut(textOf(retry.Policy{Hint: p.Hint})+" hint=at-least", "hint=")
					if before, _, found := strings.Cut(hint, ")"); found {
						return before + ")"
					}
					return strings.Fields(hint)[0]
				}),
			)
		})
}

// delayOf returns the delay before retry n, counted from 0.
func delayOf(p retry.Policy, n int, class retry.Class, u float64) time.Duration {
	return p.Backoff.Delay(retry.Attempt{Number: n + 1, Verdict: retry.Verdict{Class: class}}, u)
}

func ceilings(p retry.Policy) string {
	other, throttled := delayOf(p, 0, retry.ClassTransient, almost1), delayOf(p, 0, retry.ClassThrottled, almost1)
	text := other.Round(time.Millisecond).String()
	if other != throttled {
		text += " / " + throttled.Round(time.Millisecond).String()
	}
	return text
}

func jitterOf(p retry.Policy) string {
	other, throttled := jitterAfter(p, retry.ClassTransient), jitterAfter(p, retry.ClassThrottled)
	if other == throttled {
		return other
	}
	return other + " / " + throttled
}

func jitterAfter(p retry.Policy, class retry.Class) string {
	text := "full"
	switch least, most := delayOf(p, 1, class, 0), delayOf(p, 1, class, almost1); {
	case least == most:
		text = "none"
	case 2*least >= most-time.Millisecond:
		text = "equal"
	}
	if delayOf(p, 1, class, math.Pi/10)%time.Millisecond == 0 && delayOf(p, 2, class, math.E/10)%time.Millisecond == 0 {
		text += ", ms"
	}
	return text
}

// capOf describes the cap, using a retry long after any cap is reached.
func capOf(p retry.Policy) string {
	const far = 62
	most, middle := delayOf(p, far, retry.ClassTransient, almost1), delayOf(p, far, retry.ClassTransient, 0.5)
	least := delayOf(p, far, retry.ClassTransient, 0)
	text := most.Round(time.Second).String()
	switch {
	case most > time.Hour:
		return "none"
	case least == most:
		return text + " without jitter"
	case middle == most:
		return text + " after the jitter"
	}
	return text + " before the jitter"
}

func quotaOf(p retry.Policy) string {
	if p.Budget == nil {
		return "none"
	}
	var costs []string
	full := balance(p)
	for _, class := range []retry.Class{retry.ClassTransient, retry.ClassTimeout, retry.ClassThrottled} {
		before := balance(p)
		p.Budget.TryWithdraw(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: class}})
		costs = append(costs, fmt.Sprint(before-balance(p)))
	}
	gain := func(last retry.Attempt) float64 {
		before := balance(p)
		p.Budget.Deposit(last, nil)
		return balance(p) - before
	}
	for range 20 {
		p.Budget.TryWithdraw(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTransient}})
	}
	first, retried := gain(retry.Attempt{}), gain(failedWith(retry.ClassTransient))
	text := fmt.Sprintf("%v: %s; +%v, +%v", full, strings.Join(costs, " "), first, retried)
	return text
}

func errorsTable() string {
	all := "\n*All 14* are `" + strings.Join(knownCodes[:throttling], "`, `") + "`.\n"
	return all + "\n" + grouped(head("presets", "statuses", "throttled statuses", "throttled codes", "other codes", "network"),
		func(preset awspreset.Preset, presets string) string {
			return row(
				presets,
				statuses(preset, retry.ClassTransient), statuses(preset, retry.ClassThrottled),
				codes(preset, true), codes(preset, false),
				network(preset),
			)
		})
}

func grouped(head string, rowOf func(preset awspreset.Preset, presets string) string) string {
	var first []awspreset.Preset
	groups := map[string][]string{}
	for preset := range awspreset.All() {
		content := rowOf(preset, "")
		if groups[content] == nil {
			first = append(first, preset)
		}
		groups[content] = append(groups[content], "`"+preset.String()+"`")
	}
	var table strings.Builder
	table.WriteString(head)
	for _, preset := range first {
		table.WriteString(rowOf(preset, strings.Join(groups[rowOf(preset, "")], ", ")))
	}
	return table.String()
}

func statuses(preset awspreset.Preset, class retry.Class) string {
	c := preset.Policy("").Classifier
	var ranges []string
	for status := 400; status < 600; status++ {
		first := status
		for status < 600 && c.Classify(serviceError(&status, nil, "")).Class == class {
			status++
		}
		switch {
		case status == first+1:
			ranges = append(ranges, strconv.Itoa(first))
		case status > first:
			ranges = append(ranges, fmt.Sprintf("%d–%d", first, status-1))
		}
	}
	return none(ranges)
}

// knownCodes are the codes that at least one SDK knows; the first 14 mean throttling.
var knownCodes = [...]string{
	"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException",
	"TooManyRequestsException", "ProvisionedThroughputExceededException", "TransactionInProgressException",
	"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "RequestThrottled",
	"SlowDown", "PriorRequestNotComplete", "EC2ThrottledException",
	"RequestTimeout", "RequestTimeoutException", "TimeoutError", "NetworkingError", "InternalError",
	"ExpiredTokenException", "RequestTimeTooSkewed", "RequestExpired", "InvalidSignatureException",
	"SignatureDoesNotMatch", "AuthFailure", "RequestInTheFuture", "XMLParserError",
}

const throttling = 14

func codes(preset awspreset.Preset, throttled bool) string {
	c, bad := preset.Policy("").Classifier, 400
	var in, out []string
	for i, code := range knownCodes {
		class := c.Classify(serviceError(&bad, &code, "")).Class
		switch {
		case (class == retry.ClassThrottled) == throttled && class != retry.ClassPermanent:
			in = append(in, code)
		case throttled && i < throttling:
			out = append(out, code)
		}
	}
	switch {
	case throttled && len(out) == 0:
		return "all 14"
	case throttled && len(out) < 6:
		return "all 14 but " + strings.Join(out, ", ")
	}
	return none(in)
}

func network(preset awspreset.Preset) string {
	c := preset.Policy("").Classifier
	var kinds []string
	for _, kind := range []struct {
		name string
		err  error
	}{
		{"refused", failures["refused"]},
		{"reset", failures["reset"]},
		{"closed", requestError(io.EOF)},
		{"cut short", requestError(io.ErrUnexpectedEOF)},
		{"timeout", failures["read-timeout"]},
		{"unknown name", &net.DNSError{Err: "no such host", Name: "service", IsNotFound: true}},
		{"TLS", failures["untrusted-certificate"]},
		{"other", failures["client-error"]},
	} {
		if c.Classify(kind.err).Class != retry.ClassPermanent {
			kinds = append(kinds, kind.name)
		}
	}
	if len(kinds) == 8 {
		return "all"
	}
	return none(kinds)
}

func none(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
