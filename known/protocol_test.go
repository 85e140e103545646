package known

import (
	"errors"
	"testing"

	"github.com/gobackoff/retry"
)

func TestProtocol(t *testing.T) {
	check(t, []errorCase{
		{"ssh", errors.New("ssh: unable to authenticate, attempted methods [none], no supported methods remain"), retry.ClassPermanent},
	})
}
