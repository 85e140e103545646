package escape

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

var timed = retry.Policy{AttemptTimeout: 2 * time.Second}

func rows(ctx context.Context, db *sql.DB) (*sql.Rows, error) {
	p := retry.Policy{AttemptTimeout: 2 * time.Second}
	return retry.DoValue(ctx, p, func(ctx context.Context) (*sql.Rows, error) {
		return db.QueryContext(ctx, "SELECT name FROM customer") // want `the AttemptTimeout of the policy cancels this result when the operation returns: read it in the operation`
	})
}

func assigned(ctx context.Context, db *sql.DB) (names []string, err error) {
	var rows *sql.Rows
	err = retry.Do(ctx, timed, func(ctx context.Context) (err error) {
		rows, err = db.QueryContext(ctx, "SELECT name FROM customer") // want `read rows in the operation`
		return err
	})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
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

func leaves(ctx context.Context, listen, open func(context.Context) error) error {
	return retry.Do(ctx, timed, func(ctx context.Context) error {
		if err := open(ctx); err != nil {
			return err
		}
		go func() { // want `the AttemptTimeout of the policy cancels ctx when the operation returns, and the operation does not wait for this goroutine`
			_ = listen(ctx)
		}()
		return nil
	})
}

func keeps(ctx context.Context, listen, open func(context.Context) error) error {
	return retry.Do(ctx, timed, func(attempt context.Context) error {
		if err := open(attempt); err != nil {
			return err
		}
		go func() { _ = listen(ctx) }()
		go func() { _ = listen(context.WithoutCancel(attempt)) }()
		return nil
	})
}

func unreceived(ctx context.Context, p retry.Policy, read func() (string, error)) (string, error) {
	return retry.DoValue(ctx, p, func(ctx context.Context) (string, error) {
		texts := make(chan string)
		errs := make(chan error, 1)
		go func() {
			text, err := read()
			if err != nil {
				errs <- err
				return
			}
			texts <- text // want `nothing receives this once the operation has returned, so each such attempt leaves a goroutine: make texts with a buffer`
		}()
		select {
		case text := <-texts:
			return text, nil
		case err := <-errs:
			return "", err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
}

func received(ctx context.Context, p retry.Policy, read func() (string, error)) (string, error) {
	return retry.DoValue(ctx, p, func(ctx context.Context) (string, error) {
		texts := make(chan string)
		go func() {
			text, _ := read()
			select {
			case texts <- text:
			case <-ctx.Done():
			}
		}()
		select {
		case text := <-texts:
			return text, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
}

func receivedAlways(ctx context.Context, p retry.Policy, read func(context.Context) error) error {
	return retry.Do(ctx, timed, func(ctx context.Context) error {
		errs := make(chan error)
		go func() { errs <- read(ctx) }()
		return <-errs
	})
}

func firstFailure(ctx context.Context, p retry.Policy, ops []func(context.Context) error) error {
	errs := make(chan error)
	for _, op := range ops {
		go func() {
			errs <- retry.Do(ctx, p, op) // want `nothing receives this once the function has returned, so the goroutine never ends: make errs with a buffer`
		}()
	}
	for range ops {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

func allFailures(ctx context.Context, p retry.Policy, ops []func(context.Context) error) error {
	errs := make(chan error)
	for _, op := range ops {
		go func() { errs <- retry.Do(ctx, p, op) }()
	}
	var all []error
	for range ops {
		all = append(all, <-errs)
	}
	for _, op := range ops {
		done := make(chan error)
		go func() { done <- retry.Do(ctx, p, op) }()
		if err := <-done; err != nil {
			return err
		}
	}
	return errors.Join(all...)
}

func rowsOfTransaction(ctx context.Context, p retry.Policy, db *sql.DB) (n int, err error) {
	var rows *sql.Rows
	err = retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) (err error) {
		rows, err = tx.QueryContext(ctx, "SELECT name FROM customer") // want `the transaction ends when the function returns, and rows with it: read the rows in the function`
		return err
	})
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		n++
	}
	err = retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) (err error) {
		rows, err = tx.QueryContext(ctx, "SELECT name FROM customer")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			n = 1
		}
		return rows.Err()
	})
	return n, err
}

func canceled(ctx context.Context, p retry.Policy, open func(context.Context) (io.ReadCloser, error)) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return retry.DoValue(ctx, p, open) // want `the deferred cancel ends this reader when the function returns: read it in the function, or let the caller cancel`
}

func canceledRows(ctx context.Context, p retry.Policy, db *sql.DB) (*sql.Rows, error) {
	return retry.DoValue(ctx, p, func(ctx context.Context) (*sql.Rows, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		rows, err := db.QueryContext(ctx, "SELECT name FROM customer")
		if err != nil {
			return nil, err
		}
		return rows, nil // want `the deferred cancel ends this result`
	})
}

func canceledLater(ctx context.Context, p retry.Policy, open func(context.Context) (io.ReadCloser, error)) (io.ReadCloser, context.CancelFunc, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	r, err := retry.DoValue(ctx, p, open)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return r, cancel, nil
}

func sendsNothing(ctx context.Context, p retry.Policy, names []string, count func(context.Context) (int, error)) (sum int) {
	counts := make(chan int)
	for range names {
		go func() {
			n, err := retry.DoValue(ctx, p, count)
			if err != nil {
				return // want `after a failure this goroutine sends nothing, and the function waits for it forever: send the error, too`
			}
			counts <- n
		}()
	}
	for range names {
		sum += <-counts
	}
	return sum
}

func sendsAlways(ctx context.Context, p retry.Policy, names []string, count func(context.Context) (int, error)) (sum int) {
	counts := make(chan int)
	for range names {
		go func() {
			n, err := retry.DoValue(ctx, p, count)
			if err != nil {
				counts <- 0
				return
			}
			counts <- n
		}()
	}
	for range names {
		sum += <-counts
	}
	return sum
}
