package known

// Web frameworks, HTTP clients, validation and configuration.

var webTexts = []textRow{
	// fasthttp 1.77.0, client.go and http.go.
	{permanent, "fasthttp: body size exceeds the given limit"},
	{permanent, "fasthttp: too many redirects detected when doing the request"},
	// gorm 1.31.2, errors.go.
	{permanent, "violates check constraint"},
	// robfig/cron 3.0.1, parser.go.
	{permanent, "expected exactly * fields, found *"},
	{permanent, "expected * to * fields, found *"},
}

var webTypes = []typeRow{
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
	// go-openapi/errors 0.22.9 and labstack/echo 4.16.0.
	{byStatus, "github.com/go-openapi/errors.apiError", "code", ""},
	{byStatus, "github.com/labstack/echo.BindingError", "HTTPError.Code", ""},
}
