package known

// Web frameworks, HTTP clients, validation and configuration.

var webTexts = []textRow{
	// fasthttp 1.77.0, client.go and http.go.
	{permanent, "fasthttp: body size exceeds the given limit"},
	{permanent, `
		fasthttp: cannot follow a body-preserving redirect for a request with a body stream
		fasthttp: no cookies found
		fasthttp: contain forbidden trailer
		fasthttp: small read buffer. increase readbuffersize
		fasthttp: request content-type has bad boundary or is not multipart/form-data
		fasthttp: non-get request received
		fasthttp: there is no uploaded file associated with the given key`},
	// resty 2.17.2, digest.go; gorilla/websocket 1.5.3, conn.go.
	{permanent, `
		digest: challenge is bad
		websocket: close sent
		websocket: read limit exceeded`},
	// golang-jwt 5.3.1, errors.go, except for times, which clocks may disagree about.
	{permanent, `
		the requested hash function is unavailable
		token is unverifiable`},
	// stripe-go 85.0.0, webhook/client.go.
	{permanent, `
		timestamp wasn't within tolerance`},
	// GitLab client-go 1.46.0, users.go: each stands for the status 403, 404 or 409.
	{permanent, `
		cannot * a user that is * blocked by *
		cannot * a user that is blocked by *
		cannot disable two factor authentication if *
		cannot reject a user if not authenticated as administrator
		user does not have a pending request`},
	// discordgo 0.29.0; go-openai 1.43.0, chat.go and reasoning_validator.go.
	{permanent, `
		You can't set your Status to offline
		guild does not have an icon set
		guild does not have a splash set
		state not instantiated, please use discordgo.New() or assign Session.State
		web socket already opened
		message incomplete, unable to determine permissions
		tool calling with this model and reasoning effort requires the Responses API
		this model has beta-limitations, *`},
	// go-git 5.19.3: worktree.go, config, plumbing and transport.
	{permanent, `
		config invalid key in remote or branch
		entries in tree are not sorted
		empty git-upload-pack given
		go-git was not compiled with SHA256 support
		ignoring suspicious submodule name
		submodule has an invalid path
		submodule name escapes modules/ directory
		reference name escapes the reference storage
		maximum tree depth exceeded
		max. recursion level reached
		session already established`},
	// resend-go 2.28.0, errors.go: http.NewRequest failed.
	{permanent, "[ERROR]: Failed to create * request"},
	// slack-go 0.35.0, errors.go and security.go.
	{permanent, `
		timestamp is too old
		Block ID needs to be unique
		received empty parameters`},
	// disgo 0.18.15, discord/errors.go; telebot 3.3.8, errors.go.
	{permanent, `
		can't open a dm channel to yourself
		channel type is not 'NEWS'
		disgo does not currently support compressed gateway data
		gateway is already connected
		voice gateway already connected
		no disgo instance injected
		no gateway configured
		no gateway or shard manager configured
		token is not in a valid format
		you already replied to this interaction`},
	// whatsmeow of 2025-12-17, errors.go and appstate/errors.go.
	{permanent, `
		can't encrypt message for device: no signal session established
		can't send message to unknown server
		message recipient must be a user JID with no device part
		didn't find any attachments in message
		given message isn't a * message
		given message isn't an encrypted * message
		that * link does not exist or has been revoked
		that group invite link has been revoked
		that user or group does not have a profile picture
		the store doesn't contain a device JID
		the user has hidden their profile picture from you
		websocket is already connected
		you don't have the permission to get the group's invite link
		you're not participating in that group
		mismatching * MAC`},
	// langchaingo 0.1.14; eino 0.7.36: the program's graph, or a limit that it has set.
	{permanent, `
		agent not finished before max iterations
		chain has been compiled, cannot be modified
		graph has been compiled, cannot be modified
		exceeds max retries
		input to executor not string
		model needs to be provided when using Azure API
		embeddings model needs to be provided when using Azure API
		number of vectors from embedder does not match number of documents
		single * expected for chains supplied to SimpleSequentialChain`},
	// mcp-go 1.2.1: the session or the protocol.
	{permanent, `
		no valid token available, authorization required
		invalid state parameter, possible CSRF attack
		multi round-trip: exceeded maximum retries
		list cursor did not advance
		tasks/list cursor did not advance`},
	// go-jose 4.1.4, jwt: clocks may disagree, as for golang-jwt.
	{transient, "go-jose/go-jose/jwt: validation failed, token issued in the future (iat)"},
	// zitadel/oidc 3.51.17, fosite 0.49.0, go-jwt-middleware 2.3.1, saml 0.5.1. A nonce and the
	// time of issue differ between attempts and clocks.
	{permanent, `
		auth time of token is too old
		client_id missing from request
		issuedAt of token is to old
		key is neither in PKCS#1 nor PKCS#8 format
		multiple possible keys match
		PEM decode failed
		signature does not match Payload
		sub from userinfo does not match the sub from the id_token
		ID token confirmation does not match the binding key
		jwt invalid
		token contains excessive dots (possible DoS attack)
		saml: session not present
		The user does not have a verified, primary email address on GitHub`},
	// gin 1.12.0, fiber 3.1.0, echo 4.16.0: what a client has sent, or the program's own handlers.
	{permanent, `
		can not convert to map of strings
		can not convert to map slices of strings
		csrf: origin *
		csrf: referer *
		csrf: sec-fetch-site header invalid
		csrf: token invalid
		csrf token invalid
		referer invalid
		referer not supplied
		binder: custom binder not found*
		binder: map *
		binder: suitable content not found *
		failed to append certificate
		range: unsatisfiable range
		range: too many ranges
		session already loaded by middleware
		the URL is incorrect
		the file should have a name
		unmatched brackets
		non existent key`},
	// colly 2.3.0, colly.go.
	{permanent, `
		Forbidden domain
		ForbiddenURL
		Max Requests limit reached
		Max depth limit reached
		No URLFilters match
		No pattern defined in LimitRule
		Retry Body Unseekable
		URL blocked by robots.txt
		Cookie jar is not available`},
	// resty 3.0.0-rc.4, fasthttp 1.77.0, webpush-go 1.4.0, gofeed 1.4.2, kin-openapi 0.153.0.
	{permanent, `
		resty: no base URLs found
		resty: read exceeds the threshold limit
		resty: reader is not seekable on request retry
		digest: no supported qop in list
		fasthttp: hostclient can't follow redirects to a different protocol, please use client instead
		fasthttp: server is already serving connections
		fasthttp: deadline updates disabled
		payload has exceeded the maximum length
		failed to detect feed type
		gofeed: response body exceeds MaxByteSize
		no matching operation was found`},
	// prometheus 0.316.0, storage/interface.go: a sample that will never fit.
	{permanent, `
		out of order sample
		out of order exemplar
		too old sample
		start timestamp out of order, ignoring
		ST is newer or the same as sample's timestamp, ignoring
		histogram has a *
		histogram custom bounds are too few
		histogram's observation count *
		cannot apply this operation on histograms with a mix of exponential and custom bucket schemas
		vector contains metrics with the same labelset after applying * labels
		max time is lesser than min time`},
	// robfig/cron 3.0.1, parser.go.
	{permanent, "expected exactly * fields, found *"},
	{permanent, "expected * to * fields, found *"},
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
