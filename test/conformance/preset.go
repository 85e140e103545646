package main

// This file contains the policies of the presets, and lists the cases in which they
// intentionally differ from the SDKs.

import (
	"regexp"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

// policyOf returns a preset's policy for a case. The policy has no limiter, because the
// recordings do not contain the waits of the adaptive modes' limiters.
func policyOf(preset string, c testCase) (retry.Policy, error) {
	p, err := retryconfig.Parse(preset + " service=" + c.Service)
	if err != nil {
		return p, err
	}
	p.Limiter = nil
	classifier := p.Classifier.(awspreset.Classifier)
	classifier.RenewsCredentials = true // as all clients do
	p.Classifier = classifier
	if c.MaxAttempts > 0 {
		p.MaxAttempts = c.MaxAttempts
	}
	return p, nil
}

// isLongPoll reports whether an SDK waits after a call that only its quota has ended: since
// 2026 all SDKs do for a long poll, except Java v2 in adaptive mode.
func isLongPoll(preset string, c testCase) bool {
	return c.Operation == "ReceiveMessage" && strings.Contains(preset, "-2026") && preset != "aws-java-v2-adaptive-2026"
}

const negativeHint = "a negative number makes a call of the SDK fail at once with an IllegalArgumentException"

var exclusions = []struct {
	preset, id *regexp.Regexp
	reason     string
}{
	{
		regexp.MustCompile(`^aws-(standard|adaptive)-2026$`), regexp.MustCompile(`^sts .* 400 IDPCommunicationErrorException$`),
		"the policy retries the codes of all SDKs, and botocore does not retry this one",
	},
	{
		regexp.MustCompile(`^aws-(standard|adaptive)-2026$`), regexp.MustCompile(`^dynamodb .* ReplicatedWriteConflictException$`),
		"the SDK retries it for the operations that declare it, and ListTables does not",
	},
	{
		regexp.MustCompile(`^aws-(standard|adaptive)-2026$`), regexp.MustCompile(`"(1_000|9223372036854775807|99999999999999999999)"`),
		"botocore understands this number in x-amz-retry-after; Go and Java ignore it",
	},
	{
		regexp.MustCompile(`^aws-(standard|adaptive)-2026$`), regexp.MustCompile(`: (untrusted certificate|garbage|bad checksum)`),
		"botocore retries every error of its HTTP client; the policy does not retry where it is unlikely to help",
	},
	{
		regexp.MustCompile(`^aws-botocore-(standard|adaptive)`), regexp.MustCompile(`: bad checksum forever$`),
		"the SDK returns the response in the end, as a success",
	},
	{
		regexp.MustCompile(`^aws-(botocore-)?(standard|adaptive)-2026$|^aws-botocore-legacy$`), regexp.MustCompile(`truncate`),
		"botocore 1.44 does not check the length of a response, and parses the rest as bad XML or as JSON without content",
	},
	{
		regexp.MustCompile(`^aws-(botocore-)?(standard|adaptive)-2026$|^aws-botocore-legacy$`), regexp.MustCompile(`^sts .*: status 429$`),
		"botocore's XML parser fails on an empty body before the retry mode gets the status",
	},
	{
		regexp.MustCompile(`^aws-java-v1-legacy$`), regexp.MustCompile(`throttled after a retry that was paid for`),
		"the SDK refunds the last retry that was not free; a Budget can refund only the last retry",
	},
	{
		regexp.MustCompile(`^aws-java-v2-`), regexp.MustCompile(`^dynamodb .* 12 attempts`),
		"the SDK's client of DynamoDB ignores the configured number of attempts",
	},
	{
		regexp.MustCompile(`^aws-java-v2-(legacy|standard|adaptive)$`), regexp.MustCompile(` with retry-after: "-`),
		negativeHint,
	},
	{
		regexp.MustCompile(`^aws-java-v2-.*-2026$`), regexp.MustCompile(`^sqs .* with x-amz-retry-after: "-|^sts .* with retry-after: "-`),
		negativeHint,
	},
	{
		regexp.MustCompile(`^aws-java-v2-adaptive-2026$`), regexp.MustCompile(`^sqs .*"2147483647"`),
		"a policy does not wait longer than an hour for a server's hint",
	},
	{
		regexp.MustCompile(`^aws-java-v2-`), regexp.MustCompile(`^sts .*truncate`),
		"the SDK's XML parser reports another error for a truncated response than its JSON parser",
	},
	{
		regexp.MustCompile(`^aws-java-v2-standard-2026$`), regexp.MustCompile(`^sts .* with retry-after: "60"`),
		"the SDK's clients of STS and DynamoDB handle hints as before 2026, without an upper bound",
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
		regexp.MustCompile(`^aws-js-v3-.*-late-cap$`), regexp.MustCompile(`^sts .* 400 IDPCommunicationError`),
		"the SDK retries it for the operations that declare it, and GetCallerIdentity does not",
	},
	{
		regexp.MustCompile(`^aws-js-v3-(standard|adaptive)(-2026)?$`), regexp.MustCompile(`"(9223372036854775807|99999999999999999999)"`),
		"the SDK computes an invalid date and waits 1 ms",
	},
}

// exclusion returns the reason why a case is not compared, or "".
func exclusion(preset string, c testCase) string {
	for _, e := range exclusions {
		if e.preset.MatchString(preset) && e.id.MatchString(c.id()) {
			return e.reason
		}
	}
	return ""
}
