package known

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

func TestWeb(t *testing.T) {
	check(t, []errorCase{
		{"fasthttp", errors.New("fasthttp: body size exceeds the given limit"), retry.ClassPermanent},
		{"fasthttp, limit", errors.New("fasthttp: no free connections available to host"), retry.ClassUnknown},
		{"jwt", errors.New("token is unverifiable"), retry.ClassPermanent},
		{"jwt, clocks", errors.New("token used before issued"), retry.ClassUnknown},
		{"GitLab", errors.New("cannot block a user that is already blocked by LDAP synchronization"), retry.ClassPermanent},
	})
	const gobwas, openai = "github.com/gobwas/ws.StatusError", "github.com/openai/openai-go/packages/websocket.DeliveryError"
	type deliveryError struct {
		MayHaveBeenSent bool
		error
	}
	checkForeign(t, []foreignCase{
		{openai, deliveryError{MayHaveBeenSent: true}, unrepeatable},
		{openai, deliveryError{}, none},
	})
	_, types := index()
	class, _ := classIn(types[gobwas], number(403))
	assert.Equal(t, errfacts.Permanent, class)
}
