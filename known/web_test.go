package known

import (
	"errors"
	"testing"

	"github.com/gobackoff/retry"
)

func TestWeb(t *testing.T) {
	check(t, []errorCase{
		{"fasthttp", errors.New("fasthttp: body size exceeds the given limit"), retry.ClassPermanent},
	})
}
