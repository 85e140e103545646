package main

import (
	"context"
	"net/http"
	"reflect"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/gobackoff/retry/test/conformance/drivers/go/driver"
)

// This file replaces the SDK's randomness, sleep and clock. Sleep and clock are variables
// of an internal package.

//go:linkname sdkSleep github.com/aws/aws-sdk-go-v2/internal/sdk.SleepWithContext
var sdkSleep func(context.Context, time.Duration) error

//go:linkname sdkNow github.com/aws/aws-sdk-go-v2/internal/sdk.NowTime
var sdkNow func() time.Time

// A recorder replaces the SDK's HTTP client, sleep and clock. Sleeps return at once,
// and the clock jumps ahead.
type recorder struct {
	http   aws.HTTPClient
	delays []int64 // in ns
	jumped time.Duration
	sent   bool // whether a request was sent since the last sleep
}

func newRecorder(client aws.HTTPClient) *recorder {
	r := &recorder{http: client}
	sdkSleep, sdkNow = r.sleep, r.now
	return r
}

func (r *recorder) Do(request *http.Request) (*http.Response, error) {
	r.sent = true
	request, err := driver.CopyBody(request)
	if err != nil {
		return nil, err
	}
	return r.http.Do(request)
}

// sleep records the first wait after a request. Further waits are those of the adaptive mode's
// rate limiter.
func (r *recorder) sleep(_ context.Context, d time.Duration) error {
	r.jumped += d
	if r.sent {
		r.delays = append(r.delays, int64(d))
	}
	r.sent = false
	return nil
}

func (r *recorder) now() time.Time {
	return time.Now().Add(r.jumped)
}

// take returns the delays since the last call of take.
func (r *recorder) take() []int64 {
	delays := r.delays
	r.delays, r.sent = []int64{}, false
	return delays
}

// scriptRandom makes a retryer use other random numbers. It sets the field that the SDK's own
// tests set: numbers from scripted bytes would be multiples of 2^-53.
func scriptRandom(r aws.Retryer, numbers func() float64) {
	for _, backoff := range findAll[retry.ExponentialJitterBackoff](reflect.ValueOf(r)) {
		field := reflect.ValueOf(backoff).Elem().FieldByName("randFloat64")
		*(*func() (float64, error))(field.Addr().UnsafePointer()) = func() (float64, error) { return numbers(), nil }
	}
}

// quotaOf returns the quota of a retryer, or nil if it has none.
func quotaOf(r aws.Retryer) *ratelimit.TokenRateLimit {
	for _, quota := range findAll[ratelimit.TokenRateLimit](reflect.ValueOf(r)) {
		return quota
	}
	return nil
}

// findAll returns the pointers to a T in v and in the values that v holds, even in
// unexported fields.
func findAll[T any](v reflect.Value) (found []*T) {
	switch v.Kind() {
	case reflect.Interface:
		return findAll[T](v.Elem())
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*T]() {
			return []*T{(*T)(v.UnsafePointer())}
		}
		return findAll[T](v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			found = append(found, findAll[T](field)...)
		}
	}
	return found
}
