package errfacts

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

type forbidden struct{ error }

func (forbidden) RetryableError() bool { return false }

type aborted struct{ error }

func (aborted) CanceledError() bool { return true }

// TestOvertime: that an attempt exceeded its time limit explains a cancellation, but does
// not override an error that forbids a retry.
func TestOvertime(t *testing.T) {
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		err  error
		want Class
	}{
		"any error":         {failed, TimedOut},
		"context canceled":  {context.Canceled, TimedOut},
		"canceled":          {aborted{failed}, TimedOut},
		"forbids a retry":   {forbidden{failed}, Permanent},
		"permanent reply":   {mysqlReply(1062, "23000"), Permanent},
		"forbids, canceled": {errors.Join(forbidden{failed}, context.Canceled), Permanent},
	} {
		c, _ := Classify(&Overtime{Err: tt.err, Limit: time.Second})
		assert.Equal(t, tt.want, c, name)
	}
}

// severalErrors is like go-multierror's Error, whose Unwrap returns a chain of a type that
// errors.As sees through, but that unwraps only itself.
type severalErrors []error

func (severalErrors) Error() string            { return "several" }
func (s severalErrors) Unwrap() error          { return errors.New("chain") }
func (s severalErrors) WrappedErrors() []error { return s }

func TestWrappedErrors(t *testing.T) {
	c, _ := Classify(severalErrors{errors.New("other"), mysqlReply(1062, "23000")})
	assert.Equal(t, Permanent, c)
	c, _ = Classify(severalErrors{mysqlReply(1213, "40001"), context.Canceled})
	assert.Equal(t, Transient, c)
}

type (
	kubernetesReply struct {
		ErrStatus struct {
			Code   int32
			Reason string
		}
	}
	ociReply struct {
		StatusCode int
		Code       string
	}
	awsReply struct {
		error
		code string
	}
)

func (awsReply) HTTPStatusCode() int { return 409 }
func (e awsReply) ErrorCode() string { return e.code }

// TestConflicts: status 409 means what the client's own retry code makes of it.
func TestConflicts(t *testing.T) {
	kubernetes := func(reason string) (r kubernetesReply) {
		r.ErrStatus.Code, r.ErrStatus.Reason = 409, reason
		return r
	}
	for _, tt := range []struct {
		origin
		field string
		reply any
		want  Class
	}{
		{kubernetesStatus, "ErrStatus.Code", kubernetes("Conflict"), Transient},
		{kubernetesStatus, "ErrStatus.Code", kubernetes("AlreadyExists"), Permanent},
		{ociStatus, "StatusCode", ociReply{409, "IncorrectState"}, Transient},
		{ociStatus, "StatusCode", ociReply{409, "LimitExceeded"}, Permanent},
		{ociStatus, "StatusCode", ociReply{400, "IncorrectState"}, Permanent},
		{sdkStatus, "StatusCode", ociReply{409, ""}, Transient},
		{withStatus, "StatusCode", ociReply{409, "OperationAborted"}, Permanent},
	} {
		info := typeInfo{typeRow: typeRow{origin: tt.origin, field: tt.field}}
		c, _ := info.classOf(reflect.ValueOf(tt.reply))
		assert.Equal(t, tt.want, c, "%+v", tt.reply)
	}
	for code, want := range map[string]Class{
		"ConflictException": Transient, "ResourceConflictException": Transient, "ConcurrentModificationException": Transient, "OperationAborted": Transient,
		"ReplicatedWriteConflictException": Transient, "ResourceInUseException": Permanent, "EntityAlreadyExists": Permanent, "": Permanent,
	} {
		c, _ := Classify(awsReply{errors.New("no"), code})
		assert.Equal(t, want, c, code)
	}
}
