package compat

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/containerd/errdefs"
	kratos "github.com/go-kratos/kratos/v2/errors"
	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
	"github.com/googleapis/gax-go/v2/apierror"
	vault "github.com/hashicorp/vault/api"
	"github.com/olivere/elastic/v7"
	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"
	twilio "github.com/twilio/twilio-go/client"
	"github.com/twitchtv/twirp"
	"go.temporal.io/api/serviceerror"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"
	"google.golang.org/genai"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry"
)

// respond returns the URL of a server that always responds like this. header is pairs of a
// name and a value.
func respond(t *testing.T, status int, body string, header ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func vaultFaults(t *testing.T) []fault {
	config := vault.DefaultConfig()
	config.Address, config.MaxRetries = apiServer(t), 0
	client, err := vault.NewClient(config)
	require.NoError(t, err)
	call := func(status string) error {
		_, err := client.Logical().Write("secret/"+status, nil)
		return err
	}
	return []fault{
		{name: "400", err: call("400"), class: permanent},
		{name: "403", err: call("403"), class: permanent},
		{name: "412, replication lags", err: call("412"), class: transient},
		{name: "429", err: call("429"), class: throttled},
		{name: "472, standby", err: call("472"), class: unknown},
		{name: "503, sealed", err: call("503"), class: transient},
	}
}

func genaiFaults(t *testing.T) []fault {
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: apiServer(t)},
	})
	require.NoError(t, err)
	var faults []fault
	for status, class := range map[int]retry.Class{400: permanent, 403: permanent, 404: permanent, 429: throttled, 500: transient, 503: transient} {
		_, err := client.Models.Get(t.Context(), strconv.Itoa(status), nil)
		faults = append(faults, fault{name: strconv.Itoa(status), err: err, class: class})
	}
	return sorted(faults)
}

func slackFaults(t *testing.T) []fault {
	call := func(status int, body string, header ...string) error {
		_, err := slack.New("token", slack.OptionAPIURL(respond(t, status, body, header...)+"/")).AuthTestContext(t.Context())
		return err
	}
	return []fault{
		{name: "429, `RateLimitedError`", err: call(429, "", "Retry-After", "7"), class: throttled, hint: 7 * time.Second},
		{name: "500", err: call(500, ""), class: transient},
		{name: "404", err: call(404, ""), class: permanent},
		{name: "ratelimited", err: call(200, `{"ok":false,"error":"ratelimited"}`), class: throttled},
		{name: "invalid_auth", err: call(200, `{"ok":false,"error":"invalid_auth"}`), class: permanent},
	}
}

func messengerFaults(t *testing.T) []fault {
	telegram := func(code int, rest string) error {
		body := fmt.Sprintf(`{"ok":false,"error_code":%d,"description":"no"%s}`, code, rest)
		_, err := tgbotapi.NewBotAPIWithAPIEndpoint("token", respond(t, code, body)+"/bot%s/%s")
		return err
	}
	discord := func(status int) error {
		return &discordgo.RESTError{Response: &http.Response{StatusCode: status}}
	}
	limit := &discordgo.RateLimit{TooManyRequests: &discordgo.TooManyRequests{RetryAfter: 7 * time.Second}}
	return []fault{
		{name: "Telegram 429", err: telegram(429, `,"parameters":{"retry_after":7}`), class: throttled, hint: 7 * time.Second},
		{name: "Telegram 403", err: telegram(403, ""), class: permanent},
		{name: "Telegram 502", err: telegram(502, ""), class: transient},
		{name: "Discord `RateLimitError`", err: &discordgo.RateLimitError{RateLimit: limit}, class: throttled, hint: 7 * time.Second},
		{name: "Discord 404", err: discord(404), class: permanent},
		{name: "Discord 502", err: discord(502), class: transient},
		{name: "Twilio 429", err: &twilio.TwilioRestError{Code: 20429, Status: 429}, class: throttled},
		{name: "Twilio 404", err: &twilio.TwilioRestError{Code: 20404, Status: 404}, class: permanent},
		{name: "Twilio 503", err: &twilio.TwilioRestError{Code: 20503, Status: 503}, class: transient},
	}
}

func searchFaults(t *testing.T) []fault {
	client, err := elastic.NewSimpleClient(elastic.SetURL(apiServer(t)))
	require.NoError(t, err)
	get := func(id string) error {
		_, err := client.Get().Index("index").Id(id).Do(t.Context())
		return err
	}
	return []fault{
		{name: "Elasticsearch 400", err: get("400"), class: permanent},
		{name: "Elasticsearch 404", err: get("404"), class: permanent},
		{name: "Elasticsearch 409", err: get("409"), class: permanent},
		{name: "Elasticsearch 429", err: get("429"), class: throttled},
		{name: "Elasticsearch 503", err: get("503"), class: transient},
		{name: "OpenSearch 400", err: &opensearch.StructError{Status: 400}, class: permanent},
		{name: "OpenSearch 429", err: &opensearch.StructError{Status: 429}, class: throttled},
		{name: "OpenSearch 503", err: &opensearch.StructError{Status: 503}, class: transient},
	}
}

func oauthFaults(t *testing.T) []fault {
	exchange := func(status int, code string) error {
		config := oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: respond(t, status, `{"error":"`+code+`"}`)}}
		_, err := config.Exchange(t.Context(), "code")
		return err
	}
	return []fault{
		{name: "authorization_pending", err: exchange(400, "authorization_pending"), class: transient},
		{name: "slow_down", err: exchange(400, "slow_down"), class: throttled},
		{name: "temporarily_unavailable", err: exchange(400, "temporarily_unavailable"), class: transient},
		{name: "invalid_grant", err: exchange(400, "invalid_grant"), class: permanent},
		{name: "access_denied", err: exchange(400, "access_denied"), class: permanent},
		{name: "503", err: exchange(503, ""), class: transient},
	}
}

func gaxFaults(t *testing.T) []fault {
	wrap := func(err error) error {
		wrapped, ok := apierror.FromError(err)
		require.True(t, ok)
		return wrapped
	}
	return []fault{
		{name: "Unavailable", err: wrap(status.Error(codes.Unavailable, "no")), class: transient},
		{name: "ResourceExhausted", err: wrap(status.Error(codes.ResourceExhausted, "no")), class: throttled},
		{name: "NotFound", err: wrap(status.Error(codes.NotFound, "no")), class: permanent},
		{name: "HTTP 429", err: wrap(&googleapi.Error{Code: 429}), class: throttled},
		{name: "HTTP 404", err: wrap(&googleapi.Error{Code: 404}), class: permanent},
	}
}

func twirpFaults(*testing.T) []fault {
	var faults []fault
	for code, class := range map[twirp.ErrorCode]retry.Class{
		twirp.Canceled: permanent, twirp.InvalidArgument: permanent, twirp.Malformed: permanent, twirp.DeadlineExceeded: timeout,
		twirp.NotFound: permanent, twirp.BadRoute: permanent, twirp.AlreadyExists: permanent, twirp.PermissionDenied: permanent,
		twirp.Unauthenticated: permanent, twirp.ResourceExhausted: throttled, twirp.FailedPrecondition: permanent, twirp.Aborted: transient,
		twirp.OutOfRange: permanent, twirp.Unimplemented: permanent, twirp.Internal: transient, twirp.Unavailable: transient, twirp.Unknown: unknown,
	} {
		faults = append(faults, fault{name: string(code), err: twirp.NewError(code, "no"), class: class})
	}
	return sorted(faults)
}

func temporalFaults(*testing.T) []fault {
	remote := func(code codes.Code) error { return serviceerror.FromStatus(status.New(code, "no")) }
	return []fault{
		{name: "Unavailable", err: remote(codes.Unavailable), class: transient},
		{name: "ResourceExhausted", err: remote(codes.ResourceExhausted), class: throttled},
		{name: "DeadlineExceeded", err: remote(codes.DeadlineExceeded), class: timeout},
		{name: "NotFound", err: remote(codes.NotFound), class: permanent},
		{name: "InvalidArgument", err: remote(codes.InvalidArgument), class: permanent},
		{name: "PermissionDenied", err: remote(codes.PermissionDenied), class: permanent},
		{name: "`NewNotFound`", err: serviceerror.NewNotFound("no"), class: permanent},
	}
}

func kratosFaults(*testing.T) []fault {
	return []fault{
		{name: "400", err: kratos.BadRequest("reason", "no"), class: permanent},
		{name: "404", err: kratos.NotFound("reason", "no"), class: permanent},
		{name: "409", err: kratos.Conflict("reason", "no"), class: permanent},
		{name: "429", err: kratos.New(429, "reason", "no"), class: throttled},
		{name: "503", err: kratos.ServiceUnavailable("reason", "no"), class: transient},
	}
}

func containerdFaults(*testing.T) []fault {
	return []fault{
		{name: "`ErrNotFound`", err: errdefs.ErrNotFound, class: permanent},
		{name: "`ErrAlreadyExists`", err: errdefs.ErrAlreadyExists, class: permanent},
		{name: "`ErrInvalidArgument`", err: errdefs.ErrInvalidArgument, class: permanent},
		{name: "`ErrPermissionDenied`", err: errdefs.ErrPermissionDenied, class: permanent},
		{name: "`ErrUnauthenticated`", err: errdefs.ErrUnauthenticated, class: permanent},
		{name: "`ErrNotImplemented`", err: errdefs.ErrNotImplemented, class: permanent},
		{name: "`ErrUnavailable`", err: errdefs.ErrUnavailable, class: transient, unknown: true},
		{name: "`ErrResourceExhausted`", err: errdefs.ErrResourceExhausted, class: throttled},
	}
}
