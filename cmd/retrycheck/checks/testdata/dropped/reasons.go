package dropped

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gobackoff/retry"
)

func oneReason(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	err := retry.Do(ctx, p, op)
	if errors.Is(err, retry.ErrMaxAttempts) { // want `retry.Do gives up for other reasons, too, and returns permanent errors: whatever else err says is lost, so test err != nil`
		log.Print(err)
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

func allReasons(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	err := retry.Do(ctx, p, op)
	if errors.Is(err, retry.ErrMaxAttempts) {
		log.Print("not published")
	}
	return err
}
