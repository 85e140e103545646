package awspreset_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gobackoff/retry"
)

const (
	ms      = time.Millisecond
	almost1 = 1 - 0x1p-53
)

var errOp = errors.New("operation failed")

func succeed(context.Context) error { return nil }

func failedWith(class retry.Class) retry.Attempt {
	return retry.Attempt{Number: 1, Err: errOp, Class: class}
}

// Errors with what the AWS SDKs read.
type (
	statusedError int
	codedError    struct{ code string }
)

func (e statusedError) Error() string       { return fmt.Sprint("status ", int(e)) }
func (e statusedError) HTTPStatusCode() int { return int(e) }
func (e codedError) Error() string          { return e.code }
func (e codedError) ErrorCode() string      { return e.code }
