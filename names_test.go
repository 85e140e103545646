package retry_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/stretchr/testify/require"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/names/api"
	"github.com/gobackoff/retry/internal/test/names/foo"
	"github.com/gobackoff/retry/internal/test/names/gossip"
	"github.com/gobackoff/retry/internal/test/names/kafka"
	"github.com/gobackoff/retry/internal/test/names/redis"
	own "github.com/gobackoff/retry/internal/test/names/retry"
	"github.com/gobackoff/retry/internal/test/names/shop"
)

// TestNamesOfOthers: a program's own type is not taken for that of a library because its
// package has the same last element, or contains the name of a protocol.
func TestNamesOfOthers(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want retry.Verdict
	}{
		{&redis.Error{Op: "get"}, retry.Verdict{}},
		{&own.Error{Msg: "not ready yet"}, retry.Verdict{}},
		{&kafka.Error{Code: 10}, retry.Verdict{}},
		{&kafka.Error{Code: 14}, retry.Verdict{}},
		{&kafka.Error{Code: 503}, retry.Verdict{Class: transient}},
		{&api.ResponseError{StatusCode: 412}, retry.Verdict{Class: permanent}},
		{&api.OtherError{StatusCode: 412}, retry.Verdict{Class: permanent}},
		{&foo.Error{Code: 404, Message: "x"}, retry.Verdict{Class: permanent}},
		{&gossip.Error{Code: 404, Message: "x"}, retry.Verdict{Class: permanent}},
	} {
		for _, err := range []error{tt.err, fmt.Errorf("outer: %w", tt.err), errors.Join(errOp, tt.err)} {
			assert.Equal(t, tt.want, retry.Policy{}.Classify(err), "%T: %v", tt.err, err)
		}
	}
}

// TestOwnMethods: what a program's own type says is read, also if the method belongs to
// the pointer and the program returns the value.
func TestOwnMethods(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want retry.Verdict
	}{
		{shop.PaymentError{}, retry.Verdict{Class: transient}},
		{shop.PaymentError{Declined: true}, retry.Verdict{Class: permanent}},
		{&shop.PaymentError{Declined: true}, retry.Verdict{Class: permanent}},
		{(*shop.PaymentError)(nil), retry.Verdict{}},
		{shop.BusyError{Wait: time.Minute}, retry.Verdict{Hint: time.Minute}},
		{&shop.BusyError{Wait: time.Minute}, retry.Verdict{Hint: time.Minute}},
		{shop.SlowError{}, retry.Verdict{}},
		{shop.FlakyError{Yes: true}, retry.Verdict{Class: transient}},
		{shop.FlakyError{}, retry.Verdict{}},
	} {
		assert.Equal(t, tt.want, retry.Policy{}.Classify(tt.err), "%#v", tt.err)
		assert.Equal(t, tt.want, retry.Policy{}.Classify(fmt.Errorf("outer: %w", tt.err)), "%#v", tt.err)
	}
}

type (
	numberedError struct{ Code int }
	messageError  struct {
		Code    int
		Message string
	}
)

func (numberedError) Error() string { return "no" }
func (messageError) Error() string  { return "no" }

// TestPageExamples: the verdicts of the examples in docs/errors.md are true.
func TestPageExamples(t *testing.T) {
	page, err := os.ReadFile("docs/errors.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "## Examples\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var verdicts []string
	for _, row := range regexp.MustCompile(`(?m)^\| .+? \| (.+?) \|`).FindAllStringSubmatch(section, -1) {
		verdicts = append(verdicts, strings.TrimSuffix(row[1], ", retried"))
	}
	examples := []error{
		errors.New("user already exists"), fmt.Errorf("load: %w", fs.ErrNotExist), errors.New("file does not exist"),
		&statusField{404}, &statusField{503}, &statusField{530}, numberedError{404}, messageError{Code: 404},
		retryableError{false}, fmt.Errorf("outer: %w", declining{retryableError{false}, statusedError(503)}), shop.FlakyError{}, &redis.Error{},
		codeAndStatus{codedError{"insufficient_quota"}, statusedError(429)}, codeAndStatus{codedError{"SlowDown"}, statusedError(400)},
		context.Canceled, errors.Join(context.Canceled, io.EOF), errors.Join(errors.New("shard 3"), context.Canceled), fmt.Errorf("%w: %w", errOp, context.Canceled), context.DeadlineExceeded, sql.ErrNoRows, sqlError{"40001"}, errLost,
		tls.AlertError(80), json.Unmarshal([]byte("{"), new(int)),
	}
	require.Len(t, verdicts, len(examples)+1, "and a head")
	for i, err := range examples {
		v := retry.Policy{}.Classify(err)
		got := v.Class.String()
		if v.Unrepeatable {
			got = "unrepeatable"
		}
		assert.Equal(t, verdicts[i+1], got, "%v", err)
	}
}

// declining is an error with a method around another one.
type declining struct {
	retryableError
	inner error
}

func (e declining) Unwrap() error { return e.inner }
