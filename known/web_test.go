package known

import (
	"errors"
	"testing"

	"github.com/gobackoff/retry"
)

func TestWeb(t *testing.T) {
	check(t, []errorCase{
		{"fasthttp", errors.New("fasthttp: body size exceeds the given limit"), retry.ClassPermanent},
		{"fasthttp, limit", errors.New("fasthttp: no free connections available to host"), retry.ClassUnknown},
		{"jwt", errors.New("token is unverifiable"), retry.ClassPermanent},
		{"jwt, clocks", errors.New("token used before issued"), retry.ClassUnknown},
		{"GitLab", errors.New("cannot block a user that is already blocked by LDAP synchronization"), retry.ClassPermanent},
	})
}
