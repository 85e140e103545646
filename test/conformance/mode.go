package main

// This file contains the policies that are compared with the SDKs' modes, and lists the cases
// in which they intentionally differ.

import (
	"regexp"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

// presetOf returns the name of the preset that behaves like an SDK's mode, such as
// aws-js-v3-adaptive-2.1. All modes of retry behavior 2.1 have the same.
func presetOf(mode string) string {
	if has21(mode) {
		return awspreset.Standard21.String()
	}
	return strings.Replace(mode, "-adaptive-", "-standard-", 1)
}

// has21 reports whether a mode has retry behavior 2.1.
func has21(mode string) bool { return strings.HasSuffix(mode, "-2.1") }

// policyOf returns a mode's policy for a case. The policy has no limiter, because the
// recordings do not contain the waits of the adaptive modes' limiters.
func policyOf(mode string, c testCase) (retry.Policy, error) {
	p, err := retryconfig.Parse(presetOf(mode) + " service=" + c.Service)
	if err != nil {
		return p, err
	}
	classifier := p.Classifier.(awspreset.Classifier)
	classifier.RenewsCredentials = true // as all clients do
	p.Classifier = classifier
	if c.MaxAttempts > 0 {
		p.MaxAttempts = c.MaxAttempts
	}
	if has21(mode) && (strings.HasPrefix(mode, "aws-java-v2-") || strings.HasPrefix(mode, "aws-js-v3-")) {
		p.Backoff = wholeMilliseconds{p.Backoff}
	}
	if mode == "aws-go-v2-adaptive-2.0" {
		p.Budget = &awspreset.TokenBudget{
			Capacity: 500, Costs: awspreset.TokenCosts{Transient: 5, Timeout: 10, Throttled: 5}, Success: -1, SuccessOnly: true,
		}
	}
	return p, nil
}

// wholeMilliseconds truncates delays, as docs/reference/aws.md says for the SDKs for Java and JavaScript.
type wholeMilliseconds struct{ retry.Backoff }

func (w wholeMilliseconds) Delay(a retry.Attempt, u float64) time.Duration {
	return w.Backoff.Delay(a, u).Truncate(time.Millisecond)
}

// isLongPoll reports whether an SDK waits after a call that only its quota has ended, as all
// SDKs do for a long poll in retry behavior 2.1.
func isLongPoll(mode string, c testCase) bool { return c.Operation == "ReceiveMessage" && has21(mode) }

var exclusions = []struct {
	mode, id *regexp.Regexp
	reason   string
}{
	{
		regexp.MustCompile(`^aws-(botocore|java-v2)-.*-2.1$`), regexp.MustCompile(`^sts .* 400 IDPCommunicationErrorException$`),
		"the policy retries the codes of all SDKs, and this SDK does not retry this one",
	},
	{
		regexp.MustCompile(`^aws-(botocore|go-v2)-.*-2.1$`), regexp.MustCompile(`^dynamodb .* ReplicatedWriteConflictException$`),
		"the SDK retries it for the operations that declare it, and ListTables does not",
	},
	{
		regexp.MustCompile(`^aws-botocore-.*-2.1$`), regexp.MustCompile(`"(1_000|9223372036854775807|99999999999999999999)"`),
		"botocore understands this number in x-amz-retry-after; Go and Java ignore it",
	},
	{
		regexp.MustCompile(`^aws-botocore-.*-2.1$`), regexp.MustCompile(`: (garbage|bad checksum)`),
		"botocore retries every error of its HTTP client; the policy does not retry where it is unlikely to help",
	},
	{
		regexp.MustCompile(`^aws-(botocore|go-v2|java-v2)-.*-2.1$`), regexp.MustCompile(`: untrusted certificate`),
		"the SDK retries failed TLS handshakes; the policy does not retry where it is unlikely to help",
	},
	{
		regexp.MustCompile(`^aws-go-v1$`), regexp.MustCompile(` 400 ThrottlingException, 12 attempts, u = 0$`),
		"the tenth delay does not exceed the cap yet; in the policy, it is between half of the cap and the cap for all random numbers",
	},
	{
		regexp.MustCompile(`^aws-botocore-standard-2.0|^aws-botocore-adaptive-2.0`), regexp.MustCompile(`: bad checksum forever$`),
		"the SDK returns the response in the end, as a success",
	},
	{
		regexp.MustCompile(`^aws-botocore-(.*-2.1|legacy)$`), regexp.MustCompile(`truncate`),
		"botocore 1.44 does not check the length of a response, and parses the rest as bad XML or as JSON without content",
	},
	{
		regexp.MustCompile(`^aws-botocore-(.*-2.1|legacy)$`), regexp.MustCompile(`^sts .*: status 429$`),
		"botocore's XML parser fails on an empty body before the retry mode gets the status",
	},
	{
		regexp.MustCompile(`^aws-go-v2-.*-2.1$`), regexp.MustCompile(`truncate`),
		"the SDK does not repeat an operation whose response was cut short, because it has been executed",
	},
	{
		regexp.MustCompile(`^aws-java-v2-.*-2.1$`), regexp.MustCompile(`^dynamodbstreams `),
		"the SDK treats DynamoDB Streams like any other service",
	},
	{
		regexp.MustCompile(`^aws-java-v2-.*-2.1$`), regexp.MustCompile(` 400 (PriorRequestNotComplete|InternalError|RequestTimeTooSkewed|RequestExpired|RequestInTheFuture)$`),
		"the SDK retries these codes, and not as throttling",
	},
	{
		regexp.MustCompile(`^aws-java-v2-.*-2.1$`), regexp.MustCompile(` with x-amz-retry-after: "-`),
		"a negative number makes a call of the SDK fail at once with an IllegalArgumentException",
	},
	{
		regexp.MustCompile(`^aws-java-v2-.*-2.1$`), regexp.MustCompile(` with x-amz-retry-after: "2147483648"`),
		"the SDK ignores a number of more than 31 bits",
	},
	{
		regexp.MustCompile(`^aws-js-v3-.*-2.1$`), regexp.MustCompile(` 400 TimeoutError$`),
		"the SDK retries this code",
	},
	{
		regexp.MustCompile(`^aws-js-v3-.*-2.1$`), regexp.MustCompile(` with retry-after: "([1-9][0-9.]*"|.* 2[0-9]{3} .*GMT)| with x-amz-retry-after: "1e3"`),
		"the SDK also reads Retry-After, and x-amz-retry-after as a number of JavaScript",
	},
	{
		regexp.MustCompile(`^aws-java-v1$`), regexp.MustCompile(`throttled after a retry that was paid for`),
		"the SDK refunds the last retry that was not free; a Budget can refund only the last retry",
	},
	{
		regexp.MustCompile(`^aws-java-v2-(legacy|.*-2.0)$`), regexp.MustCompile(`^dynamodb .* 12 attempts`),
		"the SDK's client of DynamoDB ignores the configured number of attempts",
	},
	{
		regexp.MustCompile(`^aws-java-v2-(legacy|.*-2.0)$`), regexp.MustCompile(` with retry-after: "-`),
		"a negative number makes a call of the SDK fail at once with an IllegalArgumentException",
	},
	{
		regexp.MustCompile(`^aws-java-v2-`), regexp.MustCompile(`^sts .*truncate`),
		"the SDK's XML parser reports another error for a truncated response than its JSON parser",
	},
	{
		regexp.MustCompile(`^aws-js-v2$`), regexp.MustCompile(`truncate`),
		"a call of the SDK never ends on current versions of Node.js",
	},
	{
		regexp.MustCompile(`^aws-js-v2$`), regexp.MustCompile(`^sts .* 400 (IDPCommunicationErrorException|InvalidIdentityToken)$`),
		"the SDK retries it only when it fetches credentials for a web identity token",
	},
	{
		regexp.MustCompile(`^aws-js-v3-`), regexp.MustCompile(`"(9223372036854775807|99999999999999999999)"`),
		"the SDK computes an invalid date and waits 1 ms",
	},
}

// exclusion returns the reason why a case is not compared, or "".
func exclusion(mode string, c testCase) string {
	for _, e := range exclusions {
		if e.mode.MatchString(mode) && e.id.MatchString(c.id()) {
			return e.reason
		}
	}
	return ""
}
