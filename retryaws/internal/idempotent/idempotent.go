// Package idempotent knows which operations of AWS may be executed twice.
package idempotent

import (
	"net/http"
	"slices"
	"strings"
)

//go:generate sh generate.sh

// A service has the names of operations, separated by spaces.
type service struct{ id, operations string }

// noted has operations of services whose models do not say what is idempotent. A second
// execution returns what the first one did, or leaves what it left.
//
//   - An operation of KMS that only uses a key changes nothing.
//   - The messages of a response to ReceiveMessage that was lost stay hidden until their
//     visibility timeout, whether the request is repeated or not.
//   - AssumeRole and its kind only issue credentials.
//   - An upload of S3 whose ID was lost stays unused and without parts, whether
//     CreateMultipartUpload is repeated or not. An upload can be completed only once, and AWS asks
//     its clients to repeat CompleteMultipartUpload.
var noted = [...]service{
	{"KMS", "Decapsulate Decrypt DeriveSharedSecret Encapsulate Encrypt GenerateDataKey GenerateDataKeyPair " +
		"GenerateDataKeyPairWithoutPlaintext GenerateDataKeyWithoutPlaintext GenerateMac GenerateRandom " +
		"ReEncrypt Sign Verify VerifyMac"},
	{"S3", "CompleteMultipartUpload CreateMultipartUpload"},
	{"SQS", "ChangeMessageVisibility ChangeMessageVisibilityBatch DeleteMessage DeleteMessageBatch ReceiveMessage"},
	{"STS", "AssumeRole AssumeRoleWithSAML AssumeRoleWithWebIdentity AssumeRoot DecodeAuthorizationMessage"},
}

// Is reports whether a request may be executed twice. id is the SDK's ID of the service.
func Is(id, operation string, req *http.Request) bool {
	if id == s3 && conditional(req.Header) {
		return false // the second execution would fail because of the first
	}
	return id == s3 && replaces(req.Method) || has(modeled[:], id, operation) || has(noted[:], id, operation)
}

const s3 = "S3"

// replaces reports whether a method of S3 replaces or deletes what its URL names. This is not so
// everywhere: Connect, Cloud Directory and CodeCatalyst create with PUT.
func replaces(method string) bool { return method == http.MethodPut || method == http.MethodDelete }

// conditions are the headers of S3 that make an operation depend on the state before it.
var conditions = [...]string{
	"If-Match", "If-None-Match", "X-Amz-If-Match-Last-Modified-Time", "X-Amz-If-Match-Size",
	"X-Amz-Write-Offset-Bytes", // appends
	"X-Amz-Rename-Source",      // is gone after the first execution
}

func conditional(h http.Header) bool {
	return slices.ContainsFunc(conditions[:], func(name string) bool { return h.Get(name) != "" })
}

func has(services []service, id, operation string) bool {
	i, found := slices.BinarySearchFunc(services, id, func(s service, id string) int { return strings.Compare(s.id, id) })
	if !found {
		return false
	}
	for name := range strings.SplitSeq(services[i].operations, " ") {
		if name == operation {
			return true
		}
	}
	return false
}
