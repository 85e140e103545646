package escape

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net"
	"os"
	"time"

	"github.com/gobackoff/retry"
)

var timed = retry.Policy{AttemptTimeout: 2 * time.Second}

func rows(ctx context.Context, db *sql.DB) (*sql.Rows, error) {
	p := retry.Policy{AttemptTimeout: 2 * time.Second}
	return retry.DoValue(ctx, p, func(ctx context.Context) (*sql.Rows, error) {
		return db.QueryContext(ctx, "SELECT name FROM customer") // want `the AttemptTimeout of the policy cancels this result when the operation returns: read it in the operation`
	})
}

func reader(ctx context.Context, open func(context.Context) (io.ReadCloser, error)) (io.ReadCloser, error) {
	return retry.DoValue(ctx, timed, func(ctx context.Context) (io.ReadCloser, error) {
		r, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return r, nil // want `cancels this reader`
	})
}

type stream interface{ Recv() (string, error) }

func streams(ctx context.Context, list func(context.Context) (stream, error)) (stream, error) {
	return retry.DoValue(ctx, timed, func(ctx context.Context) (stream, error) {
		return list(ctx) // want `cancels this stream`
	})
}

func contexts(ctx context.Context) (context.Context, error) {
	return retry.DoValue(ctx, timed, func(ctx context.Context) (context.Context, error) {
		return ctx, nil // want `cancels this context`
	})
}

func unlimited(ctx context.Context, db *sql.DB) (*sql.Rows, error) {
	return retry.DoValue(ctx, retry.Policy{MaxAttempts: 5}, func(ctx context.Context) (*sql.Rows, error) {
		return db.QueryContext(ctx, "SELECT name FROM customer")
	})
}

func inMemory(ctx context.Context, read func(context.Context) ([]byte, error)) (io.Reader, error) {
	return retry.DoValue(ctx, timed, func(ctx context.Context) (io.Reader, error) {
		content, err := read(ctx)
		return bytes.NewReader(content), err
	})
}

func opened(ctx context.Context, name string) (*os.File, error) {
	return retry.DoValue(ctx, timed, func(context.Context) (*os.File, error) { return os.Open(name) })
}

func dialed(ctx context.Context, address string) (net.Conn, error) {
	return retry.DoValue(ctx, timed, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	})
}

func readInside(ctx context.Context, db *sql.DB) (names []string, err error) {
	var rows *sql.Rows
	err = retry.Do(ctx, timed, func(ctx context.Context) (err error) {
		if rows, err = db.QueryContext(ctx, "SELECT name FROM customer"); err != nil {
			return err
		}
		names = nil
		for rows.Next() {
			names = append(names, "one")
		}
		return rows.Err()
	})
	return names, err
}
