package nofail

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

func fetch(ctx context.Context, p retry.Policy, get func(context.Context) error) error {
	return retry.Do(ctx, p, get)
}

type refused struct{}

func (refused) Error() string      { return "refused" }
func (refused) NonRetryable() bool { return true }

var errGone = retry.Permanent(errors.New("gone"))

func TestGivesUp(t *testing.T) {
	op := retrytest.Fail(5, fs.ErrNotExist) // want `this failure is permanent, so the first attempt is the last, and nothing is retried: take an error that is retried`
	policy := retry.Policy{MaxAttempts: 3, Clock: &retrytest.Clock{}}
	if err := fetch(t.Context(), policy, op.Run); err == nil {
		t.Error("did not give up")
	}
}

func TestAttempts(t *testing.T) {
	for _, op := range []*retrytest.Op{
		retrytest.Fail(5, errGone),                                   // want `this failure is permanent`
		retrytest.Script(retry.Unrepeatable(io.EOF), io.EOF, io.EOF), // want `this failure is permanent`
		retrytest.Fail(3, refused{}),                                 // want `this failure is permanent`
		retrytest.Fail(3, io.EOF),
		retrytest.Fail(1, errGone),
	} {
		if err := fetch(t.Context(), retry.Policy{}, op.Run); err == nil {
			t.Error("no error")
		}
	}
}

// Tests of permanent failures.
func TestPermanent(t *testing.T) {
	op := retrytest.Fail(3, errGone)
	if err := fetch(t.Context(), retry.Policy{MaxAttempts: 3}, op.Run); err == nil {
		t.Error("no error")
	}
}

func TestRetries(t *testing.T) {
	op := retrytest.Fail(3, errGone)
	if err := fetch(t.Context(), retry.Policy{MaxAttempts: 3}, op.Run); err == nil || op.Calls() != 1 {
		t.Error("retried")
	}
}

func TestRetriesOfGone(t *testing.T) {
	op := retrytest.Script(errGone, io.EOF)
	if err := fetch(t.Context(), retry.Policy{MaxAttempts: 3}, op.Run); !errors.Is(err, errGone) {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	op := retrytest.Fail(5, refused{})
	if err := fetch(t.Context(), retry.Policy{MaxAttempts: 3}, op.Run); err == nil {
		t.Error("a refusal must not be retried")
	}
}

func TestMissing(t *testing.T) {
	op := retrytest.Fail(5, fs.ErrNotExist)
	if err := fetch(t.Context(), retry.Policy{MaxAttempts: 3}, op.Run); err == nil {
		t.Error("no error")
	}
}
