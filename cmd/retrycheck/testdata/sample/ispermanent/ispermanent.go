// errors.Is(err, ErrPermanent) on Do's error.
package ispermanent

import (
	"context"
	"errors"
	"log"

	"github.com/gobackoff/retry"
)

func Run(ctx context.Context, op func(context.Context) error) error {
	err := retry.Do(ctx, retry.Policy{}, op)
	if errors.Is(err, retry.ErrPermanent) { // mistake
		log.Print("not worth another try: ", err)
		return nil
	}
	return err
}
