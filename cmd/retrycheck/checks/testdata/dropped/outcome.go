package dropped

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/gobackoff/retry"
)

func raw(ctx context.Context, p retry.Policy, find func(context.Context) (user, error)) (user, error) {
	var found user
	var err error
	_ = retry.Do(ctx, p, func(ctx context.Context) error { // want `err is nil if no attempt was made, as after a success: use the error of retry.Do instead`
		found, err = find(ctx)
		return err
	})
	return found, err
}

func rawResult(ctx context.Context, p retry.Policy, find func(context.Context) (user, error)) (found user, err error) {
	_ = retry.Do(ctx, p, func(ctx context.Context) error { // want `err is nil if no attempt was made`
		found, err = find(ctx)
		return err
	})
	return
}

func lastError(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	var last error
	if err := retry.Do(ctx, p, func(ctx context.Context) error {
		last = op(ctx)
		return last
	}); err != nil {
		log.Print(err)
		return last // want `last is nil if no attempt was made, as after a success: return err`
	}
	return nil
}

func lastErrorIfAny(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	var last error
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		last = op(ctx)
		return last
	})
	if err != nil && last != nil {
		return last
	}
	if err != nil {
		return fmt.Errorf("%w (%v)", err, last)
	}
	return nil
}

func outerError(ctx context.Context, p retry.Policy, open, op func(context.Context) error) error {
	err := open(ctx)
	if err != nil {
		return err
	}
	if doErr := retry.Do(ctx, p, op); doErr != nil {
		log.Print(doErr)
		return err // want `err is nil here, as after a success: return doErr`
	}
	return nil
}

func bothErrors(ctx context.Context, p retry.Policy, open, op func(context.Context) error) error {
	openErr := open(ctx)
	if doErr := retry.Do(ctx, p, op); doErr != nil {
		return openErr
	}
	err := open(ctx)
	if err != nil {
		return err
	}
	doErr := retry.Do(ctx, p, op)
	if doErr != nil {
		err = errors.Join(doErr, openErr)
		return err
	}
	return nil
}

func overwritten(ctx context.Context, p retry.Policy, op func(context.Context) error, names []string) error {
	err := retry.Do(ctx, p, op) // want `the error of retry.Do is overwritten before anything looks at it`
	err = retry.Do(ctx, p, op)
	if err != nil {
		return err
	}
	for range names {
		err = retry.Do(ctx, p, op) // want `each round overwrites the error of the one before, so only the last is seen: look at it in the loop, or use errors.Join`
	}
	return err
}

func seen(ctx context.Context, p retry.Policy, op func(context.Context) error, names []string) (err error) {
	err = retry.Do(ctx, p, op)
	err = errors.Join(err, retry.Do(ctx, p, op))
	for range names {
		if err = retry.Do(ctx, p, op); err == nil {
			break
		}
	}
	for range names {
		err = retry.Do(ctx, p, op)
		if err != nil {
			return err
		}
	}
	if len(names) == 0 {
		err = retry.Do(ctx, p, op)
	} else {
		err = retry.Do(ctx, p, func(ctx context.Context) error { return op(ctx) })
	}
	return err
}

func replaces(ctx context.Context, p retry.Policy, open, end func(context.Context) error) (err error) {
	defer func() {
		err = retry.Do(context.WithoutCancel(ctx), p, end) // want `this replaces the error that the function returns, also by nil: use errors.Join\(err, ...\)`
	}()
	return open(ctx)
}

func joins(ctx context.Context, p retry.Policy, open, end func(context.Context) error) (err error) {
	defer func() {
		err = errors.Join(err, retry.Do(context.WithoutCancel(ctx), p, end))
	}()
	defer func() {
		if e := retry.Do(context.WithoutCancel(ctx), p, end); err == nil {
			err = e
		}
	}()
	return open(ctx)
}

func replacesNothing(ctx context.Context, p retry.Policy, end func(context.Context) error) (err error) {
	defer func() { err = retry.Do(context.WithoutCancel(ctx), p, end) }()
	log.Print("done")
	return nil
}

func early(ctx context.Context, p retry.Policy, open func(context.Context) (io.ReadCloser, error), find func(context.Context) (*user, error)) (string, error) {
	r, err := retry.DoValue(ctx, p, open)
	defer r.Close() // want `r may be nil if retry.DoValue failed: look at its error first`
	if err != nil {
		return "", err
	}
	u, _ := retry.DoValue(ctx, p, find)
	log.Print(u.name) // want `u may be nil if retry.DoValue failed`
	var found *user
	err = retry.Do(ctx, p, func(ctx context.Context) (err error) {
		found, err = find(ctx)
		return err
	})
	log.Print(found.name) // want `found may be nil if retry.Do failed`
	return "", err
}

func inTime(ctx context.Context, p retry.Policy, open func(context.Context) (io.ReadCloser, error), find func(context.Context) (*user, error)) (string, error) {
	r, err := retry.DoValue(ctx, p, open)
	if r != nil {
		defer r.Close()
	}
	if err != nil {
		return "", err
	}
	u, err := retry.DoValue(ctx, p, find)
	if err != nil {
		return "", err
	}
	byValue, err := retry.DoValue(ctx, p, func(ctx context.Context) (user, error) { return *u, nil })
	log.Print(byValue.name)
	return u.name, err
}

func unasked(ctx context.Context, p retry.Policy, op func(context.Context) error) int {
	err := retry.Do(ctx, p, op)
	var e *retry.Error
	errors.As(err, &e)                        // want `the target is nil unless the error has this type, which a success or another failure has not: ask for the result of errors.As`
	last, _ := errors.AsType[*codeError](err) // want `ask for the result of errors.AsType`
	return e.Attempts + last.code
}

func askedFor(ctx context.Context, p retry.Policy, op func(context.Context) error) int {
	err := retry.Do(ctx, p, op)
	var e *retry.Error
	errors.As(err, &e)
	if last, ok := errors.AsType[*codeError](err); ok {
		return last.code
	}
	if e == nil {
		return 0
	}
	return e.Attempts
}

func shadowsPointer(ctx context.Context, p retry.Policy, fill func(context.Context, *user) error) (*user, error) {
	found := &user{}
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		found := &user{} // want `this declares another found`
		return fill(ctx, found)
	})
	return found, err
}

func fillsPointer(ctx context.Context, p retry.Policy, fill func(context.Context, *user) error) (*user, error) {
	found, options := &user{}, user{}
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		options := user{name: "any"}
		if err := fill(ctx, &options); err != nil {
			return err
		}
		return fill(ctx, found)
	})
	log.Print(options)
	return found, err
}

func logged(ctx context.Context, p retry.Policy, find func(context.Context) (user, error)) (found user, err error) {
	doErr := retry.Do(ctx, p, func(ctx context.Context) error { // want `err is nil if no attempt was made`
		found, err = find(ctx)
		return err
	})
	if err != nil {
		return found, fmt.Errorf("find: %w", err)
	}
	log.Print(found, doErr)
	return found, nil
}

func halfChecked(ctx context.Context, p retry.Policy, find func(context.Context) (*user, error)) string {
	u, err := retry.DoValue(ctx, p, find)
	if errors.Is(err, context.Canceled) {
		return ""
	}
	return u.name // want `u may be nil if retry.DoValue failed`
}

func shadowsLast(ctx context.Context, p retry.Policy, ops []func(context.Context) error) error {
	var last error
	for i, op := range ops {
		if err := retry.Do(ctx, p, op); err != nil {
			last := fmt.Errorf("%d: %w", i, err) // want `this declares another last`
			log.Print(last)
		}
	}
	return last
}
