package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestResponses: the library can read the server's responses.
func TestResponses(t *testing.T) {
	s := newServer()
	defer s.Close()
	for _, service := range []string{"sts", "s3", "dynamodb", "sqs"} {
		o := newOperation(s.URL, s.URL, "aws-go-v2-standard-2.1", service)
		hinted := response{Status: 503, Code: "SlowDown", Headers: map[string]string{"x-amz-retry-after": "1500"}}
		require.NoError(t, o.begin(call{[]response{hinted, broken, ok}}))
		var failed *serviceError
		require.ErrorAs(t, o.run(t.Context()), &failed, service)
		assert.Equal(t, serviceError{503, "SlowDown", "scripted response 1", 1500e6}, *failed)
		require.ErrorAs(t, o.run(t.Context()), &failed, service)
		assert.Equal(t, serviceError{status: 500}, *failed)
		require.NoError(t, o.run(t.Context()))
		require.NoError(t, o.run(t.Context()), "the last response is repeated")
		seen, err := o.end(nil)
		require.NoError(t, err)
		assert.Equal(t, observation{Attempts: 4, OK: true}, seen)
	}
}

func TestFaults(t *testing.T) {
	s := newServer()
	defer s.Close()
	for fault, want := range map[string]error{
		"reset": syscall.ECONNRESET, "close": io.EOF, "truncate": io.ErrUnexpectedEOF, "hang": context.DeadlineExceeded,
	} {
		o := newOperation(s.URL, s.URL, "aws-js-v2", "sts")
		require.NoError(t, o.begin(call{[]response{{Fault: fault}}}))
		assert.ErrorIs(t, o.run(t.Context()), want)
	}
	o := newOperation(s.URL, s.URL, "aws-js-v2", "sts")
	require.NoError(t, o.begin(call{[]response{{Fault: "garbage"}}}))
	assert.ErrorContains(t, o.run(t.Context()), "malformed HTTP")
}

// TestUntrusted: a connection that fails because of the certificate counts as a request.
func TestUntrusted(t *testing.T) {
	s := newServer()
	defer s.Close()
	o := newOperation(s.URL, s.endpoint(testCase{TLS: true}), "aws-js-v2", "sts")
	require.NoError(t, o.begin(call{[]response{ok}}))
	for range 2 {
		_, err := errors.AsType[*tls.CertificateVerificationError](o.run(t.Context()))
		assert.True(t, err)
	}
	seen, err := o.end(nil)
	require.NoError(t, err)
	assert.Equal(t, 2, seen.Attempts)
}

// TestChecksum: a wrong checksum results in the error of each SDK's DynamoDB client.
func TestChecksum(t *testing.T) {
	s := newServer()
	defer s.Close()
	for mode, want := range map[string]string{
		"aws-js-v2": "0 CRC32CheckFailed: ", "aws-js-v3-standard-2.0": "", "aws-botocore-legacy": "0 ChecksumError: ",
		"aws-botocore-standard-2.1": "0 ChecksumError: ", "aws-go-v2-standard-2.0": "",
		"aws-java-v1": "unexpected EOF", "aws-java-v2-legacy": "Crc32MismatchException",
	} {
		o := newOperation(s.URL, s.URL, mode, "dynamodb")
		for sum, wrong := range map[string]bool{"1": true, fmt.Sprint(crc32.ChecksumIEEE([]byte(awsJSON.success))): false} {
			require.NoError(t, o.begin(call{[]response{{Status: 200, Headers: map[string]string{"x-amz-crc32": sum}}}}))
			err := o.run(t.Context())
			if want == "" || !wrong {
				assert.NoError(t, err, mode)
				continue
			}
			assert.EqualError(t, err, want, mode)
		}
	}
}

// TestMistakes: the server reports violations of the protocol.
func TestMistakes(t *testing.T) {
	s := newServer()
	defer s.Close()
	request := func(method, path, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		resp, err := s.Client().Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(data)
	}
	says := func(status int, text, method, path, body string) {
		t.Helper()
		gotStatus, got := request(method, path, body)
		assert.Equal(t, status, gotStatus)
		assert.Contains(t, got, text)
	}
	says(500, "", http.MethodGet, "/bucket/key", "")
	says(500, "a request arrived before the first script", http.MethodGet, scriptPath, "")
	says(400, "no script", http.MethodPut, scriptPath, "{")
	says(400, "no script", http.MethodPut, scriptPath, `{"responses": []}`)
	says(405, "PUT or GET", http.MethodDelete, scriptPath, "")
	says(200, "", http.MethodPut, scriptPath, `{"responses": [{"status": 200}]}`)
	says(501, "unknown format", http.MethodDelete, "/bucket", "")
	says(500, "DELETE /bucket has no known format", http.MethodGet, scriptPath, "")
	says(200, "", http.MethodPut, scriptPath, `{"responses": [{"status": 200}]}`)
	says(200, `{"requests": 0}`, http.MethodGet, scriptPath, "")
}

// TestScenarios: the cases have unique names and follow the protocol.
func TestScenarios(t *testing.T) {
	ids := make(map[string]bool)
	for _, known := range setOf(t, "aws-js-v2").Cases {
		c := known.Given
		assert.Equal(t, known.ID, c.id())
		assert.False(t, ids[c.id()], c.id())
		ids[c.id()] = true
		assert.NotEmpty(t, c.Operation, c.id())
		require.NotEmpty(t, c.Calls, c.id())
		for _, call := range c.Calls {
			assert.NotEmpty(t, call.Responses, c.id())
			for _, r := range call.Responses {
				assert.NotEqual(t, r.Status == 0, r.Fault == "", c.id())
			}
		}
		for _, u := range append(c.Random, c.RandomThen) {
			assert.True(t, 0 <= u && u < 1, c.id())
		}
		data, err := json.Marshal(c)
		require.NoError(t, err)
		assert.NotContains(t, string(data), "null", c.id())
	}
}

func TestSetQuota(t *testing.T) {
	impossible := one("", "sts", ok)
	impossible.Quota = new(499)
	_, err := runCaseAt("", "", "aws-botocore-standard-2.1", impossible)
	assert.EqualError(t, err, "the quota is 495, not 499")
	_, err = runCaseAt("", "", "aws-cobol", impossible)
	assert.ErrorContains(t, err, "aws-cobol")
}
