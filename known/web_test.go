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
	})
	const gobwas, openai = "github.com/gobwas/ws.StatusError", "github.com/openai/openai-go/packages/websocket.DeliveryError"
	type deliveryError struct {
		MayHaveBeenSent bool
		error
	}
	const binance, page, mcp = "github.com/adshao/go-binance/common.APIError", "github.com/chromedp/chromedp.Error", "github.com/modelcontextprotocol/go-sdk/internal/jsonrpc2.WireError"
	const flags, model = "github.com/open-feature/go-sdk/openfeature.ResolutionError", "github.com/tmc/langchaingo/llms.Error"
	type code struct {
		Code int64
		error
	}
	type word struct {
		Code string
		code string
		error
	}
	checkForeign(t, []foreignCase{
		{binance, code{Code: -1007}, unrepeatable},
		{binance, code{Code: -1003}, throttled},
		{binance, code{Code: -1121}, permanent},
		{binance, code{Code: -1001}, none},
		{page, chromedpError("invalid context"), permanent},
		{page, chromedpError("no results"), transient},
		{mcp, code{Code: -32603}, none},
		{flags, word{code: "FLAG_NOT_FOUND"}, permanent},
		{flags, word{code: "PROVIDER_NOT_READY"}, none},
		{model, word{Code: "rate_limit"}, throttled},
		{model, word{Code: "token_limit"}, permanent},
		{openai, deliveryError{MayHaveBeenSent: true}, unrepeatable},
		{openai, deliveryError{}, none},
	})
	class, _ := classIn(rowsNamed(gobwas), number(403))
	assert.Equal(t, errfacts.Permanent, class)
}

type chromedpError string

func (e chromedpError) Error() string { return string(e) }
