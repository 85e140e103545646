package dropped

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/gobackoff/retry"
)

func partOfRows(ctx context.Context, p retry.Policy, db *sql.DB) ([]string, error) {
	return retry.DoValue(ctx, p, func(ctx context.Context) (all []string, err error) {
		rows, err := db.QueryContext(ctx, "SELECT email FROM subscriber")
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() { // want `nothing asks rows.Err\(\), so a connection that breaks off gives a part, and is not retried`
			var email string
			if err := rows.Scan(&email); err != nil {
				return nil, err
			}
			all = append(all, email)
		}
		return all, nil
	})
}

func allLines(ctx context.Context, p retry.Policy, open func(context.Context) (io.ReadCloser, error)) (int, error) {
	return retry.DoValue(ctx, p, func(ctx context.Context) (n int, err error) {
		body, err := open(ctx)
		if err != nil {
			return 0, err
		}
		defer body.Close()
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			n++
		}
		return n, lines.Err()
	})
}

func overwrites(ctx context.Context, p retry.Policy, dump func(context.Context, io.Writer) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) (err error) {
		f, err := os.Create("dump.sql")
		if err != nil {
			return err
		}
		defer func() {
			err = f.Close() // want `this replaces the error of the operation, so a failed attempt is a success: set err only if it is nil, or use errors.Join`
		}()
		return dump(ctx, f)
	})
}

func joinsBoth(ctx context.Context, p retry.Policy, dump func(context.Context, io.Writer) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) (err error) {
		f, err := os.Create("dump.sql")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		return dump(ctx, f)
	})
}

func recoversNil(ctx context.Context, p retry.Policy, index func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		defer func() { // want `after a panic, the operation returns nil, which is a success: set a named result to an error, or let the panic pass`
			if v := recover(); v != nil {
				log.Print(v)
			}
		}()
		return index(ctx)
	})
}

func reportsPanic(ctx context.Context, p retry.Policy, index func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = retry.Permanent(fmt.Errorf("panic: %v", v))
			}
		}()
		return index(ctx)
	})
}

type decline struct{ code string }

func (d *decline) Error() string { return d.code }

func authorize(code string) *decline {
	if code == "00" {
		return nil
	}
	return &decline{code}
}

func newDecline(code string) *decline { return &decline{code} }

func typedNil(ctx context.Context, p retry.Policy, exchange func(context.Context) string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		return authorize(exchange(ctx)) // want `this is a pointer, and a nil pointer is an error that is not nil, so a success is retried: let the function return error`
	})
}

func neverNil(ctx context.Context, p retry.Policy, exchange func(context.Context) string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if code := exchange(ctx); code != "00" {
			return newDecline(code)
		}
		return nil
	})
}
