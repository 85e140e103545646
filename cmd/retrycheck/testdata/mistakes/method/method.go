package method

import (
	"context"

	"github.com/gobackoff/retry"
)

type job struct{ ids []int }

func (j *job) run(ctx context.Context, p retry.Policy) error { return retry.Do(ctx, p, j.attempt) }

func (j *job) attempt(ctx context.Context) error {
	for id := range 10 {
		j.ids = append(j.ids, id) // not found
		if err := send(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func send(ctx context.Context, _ int) error { return ctx.Err() }
