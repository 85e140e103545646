package known

// Web frameworks, HTTP clients, validation and configuration.

var webTexts = []textRow{
	// fasthttp 1.77.0, client.go and http.go.
	{permanent, "fasthttp", `
		body size exceeds the given limit
		cannot follow a body-preserving redirect for a request with a body stream
		no cookies found
		contain forbidden trailer
		small read buffer. increase readbuffersize
		request content-type has bad boundary or is not multipart/form-data
		non-get request received
		there is no uploaded file associated with the given key
		hostclient can't follow redirects to a different protocol, please use client instead
		server is already serving connections
		deadline updates disabled`},
	// gorilla/websocket 1.5.3, conn.go.
	{permanent, "websocket", `
		close sent
		read limit exceeded`},
	// go-jose 4.1.4, jwt: clocks may disagree.
	{transient, "go-jose/go-jose/jwt", "validation failed, token issued in the future (iat)"},
	// saml 0.5.1; fiber 3.1.0, csrf and binder; resty 3.0.0-rc.4; gofeed 1.4.2.
	{permanent, "saml", "session not present"},
	{permanent, "csrf", `
		origin *
		referer *
		sec-fetch-site header invalid
		token invalid`},
	{permanent, "binder", `
		custom binder not found*
		map *
		suitable content not found *`},
	{permanent, "resty", `
		no base URLs found
		read exceeds the threshold limit
		reader is not seekable on request retry`},
	{permanent, "gofeed", "response body exceeds MaxByteSize"},
}

var webTypes = []typeRow{
	// twilio-go 1.31.0, client/error.go; gorilla/websocket 1.5.3, server.go.
	{permanent, "github.com/twilio/twilio-go/client.KeyError"},
	{permanent, "github.com/gorilla/websocket.HandshakeError"},
	// Telegram: go-telegram/bot 1.19.0: the chat has another id now.
	{permanent, "github.com/go-telegram/bot.MigrateError"},
	// resend-go 2.28.0; razorpay-go 1.3.3; posthog-go 1.5.2; go-webauthn 0.18.2.
	{permanent, "github.com/resend/resend-go.MissingRequiredFieldsError"},
	{permanent, "github.com/razorpay/razorpay-go/errors.SignatureVerificationError"},
	{permanent, "github.com/posthog/posthog-go.ConfigError"},
	{permanent, "github.com/posthog/posthog-go.FieldError"},
	{permanent, "github.com/go-webauthn/webauthn/protocol.Error"},
	// colly 2.3.0; kin-openapi 0.153.0, openapi3filter and openapi3.
	{permanent, "github.com/gocolly/colly.AlreadyVisitedError"},
	{permanent, "github.com/getkin/kin-openapi/openapi3.SchemaError"},
	{permanent, "github.com/getkin/kin-openapi/openapi3filter.RequestError"},
	{permanent, "github.com/getkin/kin-openapi/openapi3filter.ResponseError"},
	{permanent, "github.com/getkin/kin-openapi/openapi3filter.SecurityRequirementsError"},
	// rod 0.116.2, error.go: a page may show an element later; query.go waits for it.
	{transient, "github.com/go-rod/rod.CoveredError"},
	{transient, "github.com/go-rod/rod.ElementNotFoundError"},
	{transient, "github.com/go-rod/rod.InvisibleShapeError"},
	{transient, "github.com/go-rod/rod.PageNotFoundError"},
	{permanent, "github.com/go-rod/rod.EvalError"},
	{permanent, "github.com/go-rod/rod.ExpectElementError"},
	{permanent, "github.com/go-rod/rod.ExpectElementsError"},
	{permanent, "github.com/go-rod/rod/lib/utils.MaxSleepCountError"},
	// jwx 3.3.0, jwt/internal/errors.
	{permanent, "github.com/lestrrat-go/jwx/jwt/internal/errors.ClaimAssignmentFailedError"},
	// spf13/viper 1.21.0: neither a remote store nor a file that is being replaced.
	{permanent, "github.com/spf13/viper.ConfigFileNotFoundError"},
	{permanent, "github.com/spf13/viper.UnsupportedConfigError"},
	{transient, "github.com/spf13/viper.RemoteConfigError"},
	// go-openapi/errors 0.22.9: validation of a request.
	{permanent, "github.com/go-openapi/errors.Validation"},
	{permanent, "github.com/go-openapi/errors.ParseError"},
	{permanent, "github.com/go-openapi/errors.MethodNotAllowedError"},
	// ozzo-validation 4.4.1.
	{permanent, "github.com/go-ozzo/ozzo-validation.Errors"},
	{permanent, "github.com/go-ozzo/ozzo-validation.ErrorObject"},
}

var webFields = []fieldRow{
	// gobwas/ws 1.4.0, errors.go: a handshake's status. openai-go 3.96.0, packages/websocket.
	{byStatus, "github.com/gobwas/ws.StatusError", "", ""},
	{unrepeatable, "github.com/openai/openai-go/packages/websocket.DeliveryError", "MayHaveBeenSent", "true"},
	// rollbar-go 1.4.5: a status.
	{byStatus, "github.com/rollbar/rollbar-go.ErrHTTPError", "", ""},
	// Postmark, API error codes: a token, an address, a template. 429 and others look like statuses.
	{permanent, "github.com/mrz1836/postmark.APIError", "ErrorCode", "10|300|403|406|409|412|1101|1105|1109"},
	// Binance, error codes: after 1006 and 1007 the execution status is unknown. go-binance 2.8.7.
	{unrepeatable, "github.com/adshao/go-binance/common.APIError", "Code", "-1006|-1007"},
	{throttled, "github.com/adshao/go-binance/common.APIError", "Code", "-1003|-1008|-1015"},
	{permanent, "github.com/adshao/go-binance/common.APIError", "Code", "-1002|-1013|-1014|-1020|-1022|-11*|-2010|-2011|-2014|-2015"},
	// chromedp 0.23.0, errors.go: a page may pass the other states.
	{permanent, "github.com/chromedp/chromedp.Error", "", "the allocator needs *|a visible window needs *|invalid dimensions|invalid target|invalid context|context has no target"},
	{transient, "github.com/chromedp/chromedp.Error", "", ""},
	// open-feature 1.20.0, resolution_error.go; langchaingo 0.1.14, llms/errors.go.
	{permanent, "github.com/open-feature/go-sdk/openfeature.ResolutionError", "code", "PROVIDER_FATAL|FLAG_NOT_FOUND|PARSE_ERROR|TYPE_MISMATCH|TARGETING_KEY_MISSING|INVALID_CONTEXT"},
	{permanent, "github.com/open-feature/go-sdk/openfeature.ProviderInitError", "ErrorCode", "PROVIDER_FATAL"},
	{permanent, "github.com/tmc/langchaingo/llms.Error", "Code", "authentication|invalid_request|resource_not_found|content_filter|token_limit|not_implemented"},
	{throttled, "github.com/tmc/langchaingo/llms.Error", "Code", "rate_limit"},
	{timeout, "github.com/tmc/langchaingo/llms.Error", "Code", "timeout"},
	{transient, "github.com/tmc/langchaingo/llms.Error", "Code", "provider_unavailable"},
	// Model Context Protocol: go-sdk 1.8.0, codes of mcp; mcp-go 1.2.1, OAuth's codes.
	{permanent, "github.com/modelcontextprotocol/go-sdk/internal/jsonrpc2.WireError", "Code", "-32002|-32020|-32021|-32022|-32042"},
	{byWord, "github.com/mark3labs/mcp-go/client/transport.OAuthError", "ErrorCode", ""},
	// go-openapi/errors 0.22.9 and labstack/echo 4.16.0.
	{byStatus, "github.com/go-openapi/errors.apiError", "code", ""},
	{byStatus, "github.com/labstack/echo.BindingError", "HTTPError.Code", ""},
}
