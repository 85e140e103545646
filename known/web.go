package known

// Web frameworks, HTTP clients, validation and configuration.

var webTexts = []textRow{
	// fasthttp 1.77.0, client.go and http.go.
	{permanent, "fasthttp: body size exceeds the given limit"},
	{permanent, "fasthttp: too many redirects detected when doing the request"},
	{permanent, `
		fasthttp: cannot follow a body-preserving redirect for a request with a body stream
		fasthttp: no args value for the given key
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
		token is unverifiable
		token is missing required claim
		ed25519: verification error`},
	// stripe-go 85.0.0, webhook/client.go.
	{permanent, `
		webhook had no valid signature
		webhook has no Stripe-Signature header
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
	// gorm 1.31.2, errors.go.
	{permanent, "violates check constraint"},
	// robfig/cron 3.0.1, parser.go.
	{permanent, "expected exactly * fields, found *"},
	{permanent, "expected * to * fields, found *"},
}

var webTypes = []typeRow{
	// twilio-go 1.31.0, client/error.go; gorilla/websocket 1.5.3, server.go.
	{permanent, "github.com/twilio/twilio-go/client.KeyError"},
	{permanent, "github.com/gorilla/websocket.HandshakeError"},
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
	// go-openapi/errors 0.22.9 and labstack/echo 4.16.0.
	{byStatus, "github.com/go-openapi/errors.apiError", "code", ""},
	{byStatus, "github.com/labstack/echo.BindingError", "HTTPError.Code", ""},
}
