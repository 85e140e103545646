package main

import (
	"regexp"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// policyOf returns a new policy of a preset, as a client for the case has it.
// Waits of the adaptive modes' limiters are not part of the recordings.
func policyOf(preset string, c testCase) (retry.Policy, error) {
	p, err := retry.ParsePolicy(preset + " service=" + c.Service)
	if err != nil {
		return p, err
	}
	p.Limiter = nil
	classifier := p.Classifier.(awspreset.Classifier)
	classifier.RenewsCredentials = true // all clients fetch them anew
	p.Classifier = classifier
	if c.MaxAttempts > 0 {
		p.MaxAttempts = c.MaxAttempts
	}
	p.LongPoll = c.Operation == "ReceiveMessage" && waitsOnceMore(preset)
	return p, nil
}

// waitsOnceMore reports whether an SDK waits before it gives up a long poll. All
// do since 2026, but Java v2 has forgotten its adaptive mode.
func waitsOnceMore(preset string) bool {
	return strings.Contains(preset, "-2026") && preset != "aws-java-v2-adaptive-2026"
}

const negativeHint = "a negative number makes a call of the SDK fail at once with an IllegalArgumentException"

// exclusions are the cases in which a policy is meant to differ from the SDK.
var exclusions = []struct {
	preset, id *regexp.Regexp
	reason     string
}{
	{
		regexp.MustCompile(`^aws-(standard|adaptive)-2026$`), regexp.MustCompile(`^sts .* 400 IDPCommunicationErrorException$`),
		"the policy retries what any of the SDKs retries, and botocore has no such code",
	},
	{
		regexp.MustCompile(`^aws-(standard|adaptive)-2026$`), regexp.MustCompile(`^dynamodb .* ReplicatedWriteConflictException$`),
		"the SDK retries it for the operations that declare it, and ListTables does not",
	},
	{
		regexp.MustCompile(`^aws-(standard|adaptive)-2026$`), regexp.MustCompile(`: (untrusted certificate|garbage|bad checksum)`),
		"botocore retries whatever an HTTP client reports; the policy does not where a retry is not likely to help",
	},
	{
		regexp.MustCompile(`^aws-botocore-(standard|adaptive)`), regexp.MustCompile(`: bad checksum for ever$`),
		"the SDK returns the response in the end, as a success",
	},
	{
		regexp.MustCompile(`^aws-(botocore-)?(standard|adaptive)-2026$`), regexp.MustCompile(`truncate`),
		"botocore 1.44 does not look at the length of an answer, and takes the rest for bad XML or for JSON without content",
	},
	{
		regexp.MustCompile(`^aws-(botocore-)?(standard|adaptive)-2026$|^aws-botocore-legacy$`), regexp.MustCompile(`^sts .*: status 429$`),
		"botocore's parser of XML fails on an empty body before the retry mode sees the status",
	},
	{
		regexp.MustCompile(`^aws-java-v1-legacy$`), regexp.MustCompile(`throttled after a retry that was paid for`),
		"the SDK gives back what a call's last retry that was not free took; a Budget knows of the last retry only",
	},
	{
		regexp.MustCompile(`^aws-java-v2-`), regexp.MustCompile(`^dynamodb .* 12 attempts`),
		"the SDK's client of DynamoDB takes no notice of the number of attempts that it is configured with",
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
		"the SDK's parser of XML has another error for an answer that is cut off than its parser of JSON",
	},
	{
		regexp.MustCompile(`^aws-java-v2-standard-2026$`), regexp.MustCompile(`^sts .* with retry-after: "60"`),
		"the SDK's clients of STS and DynamoDB take hints as in the mode before 2026, without an upper bound",
	},
	{
		regexp.MustCompile(`^aws-js-v2$`), regexp.MustCompile(`truncate`),
		"a call of the SDK never ends on the versions of Node.js of today",
	},
	{
		regexp.MustCompile(`^aws-js-v2$`), regexp.MustCompile(`^sts .* 400 (IDPCommunicationErrorException|InvalidIdentityToken)$`),
		"the SDK retries it where it fetches credentials for a web identity token, and nowhere else",
	},
	{
		regexp.MustCompile(`^aws-js-v3-.*-late-cap$`), regexp.MustCompile(`^sts .* 400 IDPCommunicationError`),
		"the SDK retries it for the operations that declare it, and GetCallerIdentity does not",
	},
	{
		regexp.MustCompile(`^aws-js-v3-(standard|adaptive)(-2026)?$`), regexp.MustCompile(`"(9223372036854775807|99999999999999999999)"`),
		"the SDK makes a date of it that there is not, and waits 1 ms",
	},
}

// exclusion returns why a case is not compared, "" if it is.
func exclusion(preset string, c testCase) string {
	for _, e := range exclusions {
		if e.preset.MatchString(preset) && e.id.MatchString(c.id()) {
			return e.reason
		}
	}
	return ""
}
