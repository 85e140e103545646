package known

import (
	"errors"
	"testing"

	"github.com/gobackoff/retry"
)

func TestLocal(t *testing.T) {
	check(t, []errorCase{
		{"go-git", errors.New("non-fast-forward update"), retry.ClassPermanent},
		{"go-ethereum", errors.New("execution reverted: no"), retry.ClassPermanent},
		{"go-ethereum, a later block", errors.New("max fee per gas less than block base fee"), retry.ClassUnknown},
		{"go-git, another client", errors.New("reference has changed concurrently"), retry.ClassUnknown},
	})
	type protocolError struct {
		Code    int64
		Message string
		error
	}
	const (
		name = "github.com/chromedp/cdproto.Error"
		geth = "github.com/ethereum/go-ethereum/rpc.jsonError"
	)
	checkForeign(t, []foreignCase{
		{name, protocolError{Code: -32000, Message: "Cannot navigate to invalid URL"}, permanent},
		{name, protocolError{Code: -32000, Message: "Could not find node with given id"}, none},
		{geth, protocolError{Code: -32005, Message: "daily request count exceeded"}, throttled},
		{geth, protocolError{Code: -32000, Message: "nonce too low: next nonce 6, tx nonce 5"}, permanent},
		{geth, protocolError{Code: -32000, Message: "header not found"}, none},
	})
}
