package nofail

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"

	"github.com/gobackoff/retry"
)

type download struct {
	rest    func(ctx context.Context, from int64, w io.Writer) (int64, error)
	written int64
}

func (d *download) total(ctx context.Context, w io.Writer) error {
	var written int64
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		n, err := d.rest(ctx, written, w)
		written += n
		if written > 0 {
			return retry.Progress(err) // want `written is what all attempts have brought, so one that brings nothing counts as Progress, too: ask what this attempt has brought`
		}
		return err
	})
}

func (d *download) ofField(ctx context.Context, w io.Writer) error {
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		n, err := d.rest(ctx, d.written, w)
		d.written = d.written + n
		if err != nil && d.written != 0 {
			err = retry.Progress(err) // want `d.written is what all attempts have brought`
		}
		return err
	})
}

func (d *download) ofList(ctx context.Context, next func(context.Context) (string, error)) (lines []string, err error) {
	got := false
	err = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		line, err := next(ctx)
		if err == nil {
			lines = append(lines, line)
			got = true
			return nil
		}
		if len(lines) > 0 {
			return retry.Progress(err) // want `lines is what all attempts have brought`
		}
		if got {
			return retry.Progress(err) // want `got is what all attempts have brought`
		}
		return err
	})
	return lines, err
}

func (d *download) right(ctx context.Context, w io.Writer) error {
	var written int64
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		before := written
		n, err := d.rest(ctx, written, w)
		written += n
		if n > 0 {
			return retry.Progress(err)
		}
		if written > before {
			return retry.Progress(err)
		}
		return err
	})
}

func (d *download) reset(ctx context.Context, w io.Writer) error {
	var sum, written int64
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		written = 0
		n, err := d.rest(ctx, sum, w)
		written += n
		sum += n
		if written > 0 && sum < 1<<30 {
			return retry.Progress(err)
		}
		return err
	})
}

func (d *download) atomics(ctx context.Context, w io.Writer) error {
	var received atomic.Int64
	return retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		n, err := d.rest(ctx, received.Load(), w)
		received.Add(n)
		if received.Load() > 0 {
			return retry.Progress(err) // want `received is what all attempts have brought`
		}
		return err
	})
}

func (d *download) buffer(ctx context.Context, body func(context.Context) io.Reader) (text bytes.Buffer, err error) {
	err = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		_, err := io.Copy(&text, body(ctx))
		if text.Len() == 0 {
			return err
		}
		return retry.Progress(err) // want `text is what all attempts have brought`
	})
	var again bytes.Buffer
	_ = retry.Do(ctx, retry.Policy{}, func(ctx context.Context) error {
		again.Reset()
		_, err := io.Copy(&again, body(ctx))
		if again.Len() == 0 {
			return err
		}
		return retry.Progress(err)
	})
	return text, err
}
