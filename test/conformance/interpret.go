package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gobackoff/retry/awspreset"
)

// This file contains functions that turn a response, or its absence, into an error, as
// each SDK's client does before the SDK's retry mode gets the error. Policies do not do
// this: their users make the errors.

// hintOf returns the hint in a response's headers, as the preset of a mode reads it.
func hintOf(mode string, status int, header http.Header) time.Duration {
	for preset := range awspreset.All() {
		if preset.String() == presetOf(mode) {
			return preset.RetryAfter(status, header.Get, time.Now())
		}
	}
	return 0
}

// codeOf returns the error code that an SDK gives to a response without a code.
func codeOf(mode string, p *wireFormat, status int) string {
	if mode == "aws-java-v1" && p != awsJSON {
		return fmt.Sprintf("%d %s", status, http.StatusText(status))
	}
	return ""
}

func sendErrorOf(mode string, err error) error {
	var failed *url.Error
	if strings.HasPrefix(mode, "aws-go-v2-") && errors.As(err, &failed) {
		return &sendError{err}
	}
	// urllib3 and Apache's client report a response that is not HTTP as a closed
	// connection. botocore's other modes retry any such error.
	if (mode == "aws-botocore-legacy" || strings.HasPrefix(mode, "aws-java-")) && strings.Contains(err.Error(), "malformed HTTP") {
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
func checksumOf(mode string, header http.Header, body []byte) error {
	sum := header.Get("X-Amz-Crc32")
	if sum == "" || sum == fmt.Sprint(crc32.ChecksumIEEE(body)) {
		return nil
	}
	switch {
	case strings.HasPrefix(mode, "aws-js-v3-"), strings.HasPrefix(mode, "aws-go-v2-"): // Go v2 ignores a mismatch
		return nil
	case mode == "aws-js-v2":
		return &serviceError{code: "CRC32CheckFailed"}
	case mode == "aws-java-v1":
		return io.ErrUnexpectedEOF // an IOException
	case strings.HasPrefix(mode, "aws-java-v2-"):
		return errors.New("Crc32MismatchException")
	}
	return &serviceError{code: "ChecksumError"}
}
