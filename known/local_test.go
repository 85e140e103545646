package known

import "testing"

func TestLocal(t *testing.T) {
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
		{geth, protocolError{Code: -32000, Message: "nonce too low: next nonce 6, tx nonce 5"}, none}, // may fit later
		{geth, protocolError{Code: 3, Message: "execution reverted"}, permanent},
		{geth, protocolError{Code: -32000, Message: "header not found"}, none},
	})
}
