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
		{"go-git", errors.New("reference name escapes the reference storage"), retry.ClassPermanent},
		{"go-git, another writer", errors.New("reference has changed concurrently"), retry.ClassUnknown},
		{"resend", errors.New("[ERROR]: Failed to create SendEmail request"), retry.ClassPermanent},
		{"whatsmeow", errors.New("given message isn't a poll update message"), retry.ClassPermanent},
		{"whatsmeow, connection", errors.New("websocket not connected"), retry.ClassUnknown},
		{"oidc", errors.New("at_hash does not correspond to access token"), retry.ClassPermanent},
		{"colly", errors.New("URL blocked by robots.txt"), retry.ClassPermanent},
		{"prometheus", errors.New("out of order sample"), retry.ClassPermanent},
		{"prometheus, beginning", errors.New("TSDB not ready"), retry.ClassUnknown},
		{"GitLab", errors.New("cannot block a user that is already blocked by LDAP synchronization"), retry.ClassPermanent},
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
	_, types := index()
	class, _ := classIn(types[gobwas], number(403))
	assert.Equal(t, errfacts.Permanent, class)
}

type chromedpError string

func (e chromedpError) Error() string { return string(e) }
