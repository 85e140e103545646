package retry_test

import (
	"errors"
	"fmt"
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
