package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// This file contains the scenarios, which are the same for every preset. sdk.go excludes
// the cases that a driver does not run, and preset.go excludes those in which a policy
// intentionally differs.

// draws contains random numbers, including the extremes.
var draws = []float64{0.7, 0.1, 0.9, 0.45, 0.9999999, 0, 0.3, 0.62, 0.25, 0.83, 0.05}

var (
	ok        = response{Status: http.StatusOK}
	broken    = response{Status: http.StatusInternalServerError}
	throttled = response{Status: http.StatusBadRequest, Code: "ThrottlingException"}
	late      = response{Status: http.StatusBadRequest, Code: "RequestTimeout"}
	refused   = response{Status: http.StatusForbidden, Code: "AccessDenied"}
)

var operations = map[string]string{
	"sts": "GetCallerIdentity", "dynamodb": "ListTables", "dynamodbstreams": "ListStreams", "sqs": "ListQueues", "s3": "GetObject",
}

func scenarios() []testCase {
	return slices.Concat(outcomes(), statuses(), codes(), faults(), growth(), hints(), quotas(), longPolls())
}

func one(name, service string, responses ...response) testCase {
	return testCase{
		Name: name, Service: service, Operation: operations[service],
		RandomThen: 0.5, Calls: []call{{responses}},
	}
}

// drawn is like the function one, but its case has varying random numbers.
func drawn(name, service string, responses ...response) testCase {
	c := one(name, service, responses...)
	c.Random = draws
	return c
}

func outcomes() []testCase {
	cases := []testCase{one("success", "sts", ok)}
	for n := 1; n <= 5; n++ {
		responses := append(slices.Repeat([]response{broken}, n), ok)
		cases = append(cases, drawn(fmt.Sprintf("500 %d times", n), "sts", responses...))
	}
	for _, service := range slices.Sorted(maps.Keys(operations)) {
		cases = append(cases,
			drawn("500 forever", service, broken),
			drawn("ThrottlingException forever", service, throttled),
			one("500, then AccessDenied", service, broken, refused))
	}
	for _, attempts := range []int{1, 2, 7} {
		c := drawn(fmt.Sprintf("500 forever, %d attempts", attempts), "sts", broken)
		c.MaxAttempts = attempts
		cases = append(cases, c)
	}
	return cases
}

func statuses() []testCase {
	var cases []testCase
	for _, service := range []string{"sts", "dynamodb"} {
		for _, status := range []int{400, 401, 403, 404, 408, 409, 413, 425, 429, 500, 501, 502, 503, 504, 505, 507, 509, 511, 520, 599} {
			cases = append(cases, one(fmt.Sprintf("status %d", status), service, response{Status: status}))
		}
	}
	return cases
}

// retriedCodes are the error codes that some SDK retries for some service, and a few that
// no SDK retries.
var retriedCodes = []string{
	"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException", "TooManyRequestsException",
	"ProvisionedThroughputExceededException", "TransactionInProgressException", "RequestLimitExceeded",
	"BandwidthLimitExceeded", "LimitExceededException", "RequestThrottled", "SlowDown", "PriorRequestNotComplete",
	"EC2ThrottledException", "RequestTimeout", "RequestTimeoutException", "RequestTimeTooSkewed", "RequestExpired",
	"RequestInTheFuture", "InvalidSignatureException", "SignatureDoesNotMatch", "AuthFailure", "ExpiredToken",
	"ExpiredTokenException", "IDPCommunicationError", "IDPCommunicationErrorException", "InvalidIdentityToken",
	"ReplicatedWriteConflictException", "BadDigest", "InternalError", "InternalFailure", "ServiceUnavailable",
	"TimeoutError", "NetworkingError", "AccessDenied", "AccessDeniedException", "ValidationException", "NobodyKnowsThis",
}

func codes() []testCase {
	var cases []testCase
	for _, service := range []string{"sts", "dynamodb", "sqs", "s3"} {
		for _, code := range retriedCodes {
			cases = append(cases, one("400 "+code, service, response{Status: http.StatusBadRequest, Code: code}))
		}
	}
	for _, special := range []struct {
		service string
		status  int
		code    string
	}{
		{"dynamodb", 409, "ReplicatedWriteConflictException"},
		{"sqs", 403, "RequestThrottled"},
		{"sts", 429, "TooManyRequestsException"},
		{"sts", 429, "NobodyKnowsThis"},
		{"sts", 503, "SlowDown"},
		{"sts", 503, "AccessDenied"},
		{"sts", 509, "BandwidthLimitExceeded"},
		{"sts", 404, "RequestTimeout"},
	} {
		name := fmt.Sprintf("%d %s", special.status, special.code)
		cases = append(cases, one(name, special.service, response{Status: special.status, Code: special.code}))
	}
	return cases
}

func faults() []testCase {
	var cases []testCase
	for _, service := range []string{"sts", "dynamodb", "s3"} {
		for _, fault := range []string{"reset", "close", "truncate"} {
			if fault == "truncate" && service == "s3" {
				continue // the caller reads the object after the last attempt
			}
			cases = append(cases,
				one(fault+", then success", service, response{Fault: fault}, ok),
				one(fault+" forever", service, response{Fault: fault}))
		}
	}
	for _, service := range []string{"sts", "dynamodb"} {
		untrusted := one("untrusted certificate", service, ok)
		untrusted.TLS = true
		cases = append(cases, untrusted,
			one("garbage, then success", service, response{Fault: "garbage"}, ok),
			one("garbage forever", service, response{Fault: "garbage"}))
	}
	corrupt := response{Status: http.StatusOK, Headers: map[string]string{"x-amz-crc32": "1"}} // DynamoDB's checksum header
	return append(cases,
		one("bad checksum, then success", "dynamodb", corrupt, ok),
		one("bad checksum forever", "dynamodb", corrupt),
		one("hang, then success", "sts", response{Fault: "hang"}, ok)) // once, because it is slow
}

// growth returns cases with enough attempts for the delays to reach their maximum.
func growth() []testCase {
	var cases []testCase
	for _, service := range []string{"sts", "dynamodb"} {
		for _, failure := range []response{broken, throttled} {
			for _, u := range []float64{0, 0.5, 0.9999999} {
				c := one(fmt.Sprintf("%d %s, 12 attempts, u = %v", failure.Status, failure.Code, u), service, failure)
				c.MaxAttempts, c.RandomThen = 12, u
				cases = append(cases, c)
			}
			c := drawn(fmt.Sprintf("%d %s, 12 attempts", failure.Status, failure.Code), service, failure)
			c.MaxAttempts = 12
			cases = append(cases, c)
		}
	}
	return cases
}

// hints returns cases whose headers cover the number syntax of every SDK's language.
func hints() []testCase {
	var cases []testCase
	for _, service := range []string{"sqs", "sts"} {
		for _, value := range []string{
			"0", "100", "1500", "30000", "60000", "-5", "+300", "abc", "12.5", "1e3", "1_000", "0x10", "",
			"2147483647", "2147483648", "9223372036854775807", "99999999999999999999",
		} {
			for _, failure := range []response{broken, throttled} {
				cases = append(cases, hinted(service, failure, "x-amz-retry-after", value))
			}
		}
		for _, value := range []string{
			"0", "1", "3", "60", "-1", "+2", "abc", "1.5", "1e1", "", "2147483648",
			"Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 2100 23:59:59 GMT",
		} {
			cases = append(cases, hinted(service, broken, "retry-after", value))
		}
	}
	return cases
}

func hinted(service string, failure response, header, value string) testCase {
	failure.Headers = map[string]string{header: value}
	return one(fmt.Sprintf("%d %s with %s: %q", failure.Status, failure.Code, header, value), service, failure, failure, ok)
}

// quotas returns cases that follow the quota over many calls. The random number is
// constant, because not every SDK draws a number for a retry that it refuses.
func quotas() []testCase {
	hang := response{Fault: "hang"}
	return []testCase{
		many("drained by 500, then filled", nil, slices.Concat(
			slices.Repeat([]call{{[]response{broken}}}, 55), slices.Repeat([]call{{[]response{ok}}}, 6),
			slices.Repeat([]call{{[]response{broken}}}, 2), []call{{[]response{broken, ok}}})...),
		many("drained by ThrottlingException", nil, slices.Repeat([]call{{[]response{throttled}}}, 55)...),
		many("20 left, 500", new(20), slices.Repeat([]call{{[]response{broken}}}, 4)...),
		many("20 left, ThrottlingException", new(20), slices.Repeat([]call{{[]response{throttled}}}, 6)...),
		many("20 left, RequestTimeout", new(20), slices.Repeat([]call{{[]response{late}}}, 4)...),
		many("30 left, hang", new(30), call{[]response{hang, ok}}, call{[]response{hang, refused}}, call{[]response{ok}}),
		many("100 left, connections reset", new(100), call{[]response{{Fault: "reset"}, ok}}, call{[]response{{Fault: "reset"}}}, call{[]response{ok}}),
		many("200 left, mixed", new(200), mixed()...),
		many("mixed", nil, mixed()...),
		many("throttled after a retry that was paid for", new(200),
			call{[]response{broken, throttled, ok}}, call{[]response{broken, broken, throttled}}, call{[]response{ok}}),
	}
}

func many(name string, quota *int, calls ...call) testCase {
	return testCase{Name: name, Service: "sts", Operation: operations["sts"], RandomThen: 0.5, Quota: quota, Calls: calls}
}

// mixed returns calls whose refunds differ between SDKs.
func mixed() []call {
	var calls []call
	for _, responses := range [][]response{
		{ok},
		{broken, ok},
		{throttled, ok},
		{throttled, broken, ok},
		{late, ok},
		{late, late, ok},
		{late},
		{broken, refused},
		{throttled, refused},
		{refused},
		{throttled},
		{ok},
		{ok},
		{broken, late, ok},
	} {
		calls = append(calls, call{responses})
	}
	return calls
}

// longPolls returns cases in which an SDK waits although the quota refuses a retry.
func longPolls() []testCase {
	var cases []testCase
	for _, left := range []int{0, 10, 15} {
		for _, failure := range []response{broken, throttled} {
			c := one(fmt.Sprintf("%d %s, %d left", failure.Status, failure.Code, left), "sqs", failure)
			c.Operation, c.Quota = "ReceiveMessage", new(left)
			cases = append(cases, c)
		}
	}
	hint := broken
	hint.Headers = map[string]string{"x-amz-retry-after": "60000"}
	for _, failure := range []response{hint, refused} {
		c := one(fmt.Sprintf("%d %s and headers %v, 0 left", failure.Status, failure.Code, failure.Headers), "sqs", failure)
		c.Operation, c.Quota = "ReceiveMessage", new(0)
		cases = append(cases, c)
	}
	return cases
}
