package known

import (
	"errors"
	"testing"

	"github.com/gobackoff/retry"
)

func TestLocal(t *testing.T) {
	check(t, []errorCase{
		{"go-git", errors.New("non-fast-forward update"), retry.ClassPermanent},
		{"go-git, another client", errors.New("reference has changed concurrently"), retry.ClassUnknown},
	})
	type protocolError struct {
		Code    int64
		Message string
		error
	}
	const name = "github.com/chromedp/cdproto.Error"
	checkForeign(t, []foreignCase{
		{name, protocolError{Code: -32602, Message: "Invalid parameters"}, permanent},
		{name, protocolError{Code: -32000, Message: "Cannot navigate to invalid URL"}, permanent},
		{name, protocolError{Code: -32000, Message: "Could not find node with given id"}, none},
	})
}
