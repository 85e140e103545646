package retrysql

import (
	"context"
	"database/sql/driver"
	"io"
	"net"

	"github.com/gobackoff/retry/internal/errfacts"
)

type outcome int

const (
	outcomeUnknown    outcome = iota
	outcomeRefused            // by the database: no effect
	outcomeRolledBack         // a statement had failed before: no effect
)

// outcomeOf returns the outcome of a COMMIT that failed with err. Only a response of
// the database proves that there was no effect: see the package comment.
func outcomeOf(err error) outcome {
	if errfacts.HasText(err, "commit unexpectedly resulted in rollback") || // ErrTxCommitRollback of pgx
		errfacts.HasText(err, "pq: could not complete operation in a failed transaction") { // ErrInFailedTransaction of lib/pq
		return outcomeRolledBack
	}
	result := outcomeUnknown
	for e := range errfacts.All(err) {
		reply, ok := errfacts.ReplyOf(e)
		if ok && !reply.Refused || !ok && isLoss(e) {
			return outcomeUnknown
		}
		if ok {
			result = outcomeRefused
		}
	}
	return result
}

func isLoss(err error) bool {
	switch err {
	case driver.ErrBadConn, io.EOF, io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded:
		return true
	}
	_, ok := err.(net.Error)
	return ok
}
