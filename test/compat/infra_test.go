package compat

import (
	"net/http"
	"testing"
	"time"

	binance "github.com/adshao/go-binance/v2/common"
	"github.com/aliyun/aliyun-oss-go-sdk/oss"
	"github.com/dnsimple/dnsimple-go/dnsimple"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gravitational/trace"
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/juju/errors"
	"github.com/line/line-bot-sdk-go/v8/linebot/messaging_api"
	"github.com/moby/moby/client"
	"github.com/mrz1836/postmark"
	"github.com/open-feature/go-sdk/openfeature"
	"github.com/prometheus/client_golang/api"
	promapi "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/rollbar/rollbar-go"
	"github.com/scaleway/scaleway-sdk-go/api/registry/v1"
	"github.com/scaleway/scaleway-sdk-go/scw"
	"github.com/stretchr/testify/require"
	tencent "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/errors"

	"github.com/gobackoff/retry"
)

// namedStatuses returns the errors of a client for the most common statuses. unseen says that
// no rule finds them.
func namedStatuses(t *testing.T, unseen bool, call func(url string) error) []fault {
	t.Helper()
	var faults []fault
	for _, f := range []struct {
		status int
		class  retry.Class
	}{{401, permanent}, {404, permanent}, {429, throttled}, {503, transient}} {
		faults = append(faults, fault{
			name: http.StatusText(f.status), err: call(respond(t, f.status, `{"message":"no"}`)), class: f.class, unknown: unseen,
		})
	}
	return faults
}

func hcloudFaults(t *testing.T) []fault {
	remove := func(status int, code string) error {
		client := hcloud.NewClient(hcloud.WithEndpoint(respond(t, status, `{"error":{"code":"`+code+`","message":"no"}}`)),
			hcloud.WithRetryOpts(hcloud.RetryOpts{MaxRetries: 0}), hcloud.WithToken("token"))
		_, _, err := client.Server.DeleteWithResult(t.Context(), &hcloud.Server{ID: 1})
		return err
	}
	return []fault{
		{name: "not_found", err: remove(404, "not_found"), class: permanent},
		{name: "unauthorized", err: remove(401, "unauthorized"), class: permanent},
		{name: "invalid_input", err: remove(422, "invalid_input"), class: permanent},
		{name: "uniqueness_error", err: remove(409, "uniqueness_error"), class: permanent, unknown: true},
		{name: "protected", err: remove(403, "protected"), class: permanent, unknown: true},
		{name: "resource_limit_exceeded", err: remove(403, "resource_limit_exceeded"), class: permanent, unknown: true},
		{name: "rate_limit_exceeded", err: remove(429, "rate_limit_exceeded"), class: throttled},
		{name: "conflict", err: remove(409, "conflict"), class: transient},
		{name: "locked", err: remove(423, "locked"), class: transient},
		{name: "resource_unavailable", err: remove(412, "resource_unavailable"), class: transient, unknown: true},
	}
}

func scalewayFaults(t *testing.T) []fault {
	get := func(status int, kind string) error {
		client, err := scw.NewClient(scw.WithAPIURL(respond(t, status, `{"type":"`+kind+`","message":"no"}`)), scw.WithoutAuth())
		require.NoError(t, err)
		_, err = registry.NewAPI(client).GetNamespace(&registry.GetNamespaceRequest{Region: scw.RegionFrPar, NamespaceID: "id"})
		return err
	}
	return []fault{
		{name: "not_found", err: get(404, "not_found"), class: permanent, unknown: true},
		{name: "quotas_exceeded", err: get(403, "quotas_exceeded"), class: permanent, unknown: true},
		{name: "permissions_denied", err: get(403, "permissions_denied"), class: permanent, unknown: true},
		{name: "denied_authentication", err: get(401, "denied_authentication"), class: permanent, unknown: true},
		{name: "transient_state", err: get(409, "transient_state"), class: unknown},
		{name: "out_of_stock", err: get(500, "out_of_stock"), class: unknown},
		{name: "429", err: get(429, "too_many_requests"), class: throttled},
		{name: "503", err: get(503, "internal"), class: transient},
	}
}

func openStackFaults(t *testing.T) []fault {
	faults := namedStatuses(t, false, func(url string) error {
		_, err := new(gophercloud.ProviderClient).Request(t.Context(), "GET", url, &gophercloud.RequestOpts{OkCodes: []int{200}})
		return err
	})
	return append(faults,
		fault{name: "`ErrResourceNotFound`", err: gophercloud.ErrResourceNotFound{Name: "x", ResourceType: "flavor"}, class: permanent, unknown: true},
		fault{name: "`ErrMissingPassword`", err: gophercloud.ErrMissingPassword{}, class: permanent, unknown: true})
}

func dnsimpleFaults(t *testing.T) []fault {
	return namedStatuses(t, false, func(url string) error {
		client := dnsimple.NewClient(http.DefaultClient)
		client.BaseURL = url
		_, err := client.Domains.GetDomain("1", "x")
		return err
	})
}

func lineFaults(t *testing.T) []fault {
	get := func(status int) error {
		client, err := messaging_api.NewMessagingApiAPI("token", messaging_api.WithEndpoint(respond(t, status, `{"message":"no"}`)))
		require.NoError(t, err)
		_, err = client.GetProfile("x")
		return err
	}
	return []fault{
		{name: "429", err: get(429), class: throttled, unknown: true},
		{name: "404", err: get(404), class: unknown},
	}
}

func ossFaults(t *testing.T) []fault {
	get := func(status int, code string) error {
		client, err := oss.New(respond(t, status, `<Error><Code>`+code+`</Code></Error>`, "Content-Type", "application/xml"), "a", "b", oss.ForcePathStyle(true))
		require.NoError(t, err)
		bucket, err := client.Bucket("bucket")
		require.NoError(t, err)
		_, err = bucket.GetObject("key")
		return err
	}
	return []fault{
		{name: "NoSuchKey", err: get(404, "NoSuchKey"), class: permanent},
		{name: "AccessDenied", err: get(403, "AccessDenied"), class: permanent},
		{name: "InternalError", err: get(500, "InternalError"), class: transient},
		{name: "`UnexpectedStatusCodeError` 404", err: oss.CheckRespCode(404, []int{200}), class: permanent, unknown: true},
		{name: "`UnexpectedStatusCodeError` 502", err: oss.CheckRespCode(502, []int{200}), class: transient, unknown: true},
	}
}

func tencentFaults(*testing.T) []fault {
	var faults []fault
	for code, class := range map[string]retry.Class{
		"AuthFailure.SignatureFailure": permanent, "InvalidParameterValue.Range": permanent, "ResourceNotFound.InstanceId": permanent,
		"UnauthorizedOperation": permanent, "RequestLimitExceeded": throttled, "InternalError": transient,
	} {
		faults = append(faults, fault{name: code, err: tencent.NewTencentCloudSDKError(code, "no", "id"), class: class})
	}
	return sorted(faults)
}

func dockerFaults(t *testing.T) []fault {
	inspect := func(status int) error {
		c, err := client.New(client.WithHost("tcp"+respond(t, status, `{"message":"no"}`)[len("http"):]), client.WithAPIVersion("1.50"))
		require.NoError(t, err)
		_, err = c.ContainerInspect(t.Context(), "x", client.ContainerInspectOptions{})
		return err
	}
	return []fault{
		{name: "400", err: inspect(400), class: permanent, unknown: true},
		{name: "401", err: inspect(401), class: permanent, unknown: true},
		{name: "404", err: inspect(404), class: permanent, unknown: true},
		{name: "409", err: inspect(409), class: permanent, unknown: true},
		{name: "500", err: inspect(500), class: transient, unknown: true},
	}
}

func prometheusFaults(t *testing.T) []fault {
	query := func(status int, body string) error {
		c, err := api.NewClient(api.Config{Address: respond(t, status, body)})
		require.NoError(t, err)
		_, _, _, err = promapi.NewAPI(c).Query(t.Context(), "up", time.Now())
		return err
	}
	return []fault{
		{name: "bad_data", err: query(400, `{"status":"error","errorType":"bad_data","error":"no"}`), class: permanent, unknown: true},
		{name: "execution", err: query(422, `{"status":"error","errorType":"execution","error":"no"}`), class: permanent, unknown: true},
		{name: "401", err: query(401, ""), class: permanent},
		{name: "429", err: query(429, ""), class: throttled},
		{name: "503", err: query(503, ""), class: transient},
	}
}

func jujuFaults(*testing.T) []fault {
	return []fault{
		{name: "`NotFoundf`", err: errors.NotFoundf("model"), class: permanent, unknown: true},
		{name: "`NotValidf`", err: errors.NotValidf("name"), class: permanent, unknown: true},
		{name: "`NewForbidden`", err: errors.NewForbidden(nil, "no"), class: permanent, unknown: true},
		{name: "`Timeoutf`", err: errors.Timeoutf("waiting"), class: timeout, unknown: true},
		{name: "`NewNotYetAvailable`", err: errors.NewNotYetAvailable(nil, "later"), class: unknown},
	}
}

func traceFaults(*testing.T) []fault {
	return []fault{
		{name: "`NotFound`", err: trace.NotFound("no"), class: permanent, unknown: true},
		{name: "`AccessDenied`", err: trace.AccessDenied("no"), class: permanent, unknown: true},
		{name: "`BadParameter`", err: trace.BadParameter("no"), class: permanent, unknown: true},
		{name: "`LimitExceeded`", err: trace.LimitExceeded("no"), class: throttled},
		{name: "`ConnectionProblem`", err: trace.ConnectionProblem(nil, "no"), class: unknown},
		{name: "`CompareFailed`", err: trace.CompareFailed("no"), class: unknown},
	}
}

func postmarkFaults(t *testing.T) []fault {
	send := func(status int, body string) error {
		c := postmark.NewClient("token", "token")
		c.BaseURL = respond(t, status, body)
		_, err := c.SendEmail(t.Context(), postmark.Email{})
		return err
	}
	return []fault{
		{name: "300, invalid email request", err: send(422, `{"ErrorCode":300,"Message":"no"}`), class: permanent, unknown: true},
		{name: "406, inactive recipient", err: send(422, `{"ErrorCode":406,"Message":"no"}`), class: permanent, unknown: true},
		{name: "100, maintenance", err: send(503, `{"ErrorCode":100,"Message":"no"}`), class: unknown},
	}
}

func rollbarFaults(*testing.T) []fault {
	return []fault{
		{name: "403", err: rollbar.ErrHTTPError(403), class: permanent, unknown: true},
		{name: "503", err: rollbar.ErrHTTPError(503), class: transient, unknown: true},
		{name: "`ErrBufferFull`", err: rollbar.ErrBufferFull{}, class: unknown},
	}
}

func binanceFaults(*testing.T) []fault {
	api := func(code int64) error { return &binance.APIError{Code: code, Message: "no"} }
	return []fault{
		{name: "-1001, disconnected", err: api(-1001), class: unknown},
		{name: "-1003, too many requests", err: api(-1003), class: throttled},
		{name: "-1007, execution status unknown", err: api(-1007), class: transient, unrepeatable: true},
		{name: "-1121, bad symbol", err: api(-1121), class: permanent},
		{name: "-2010, new order rejected", err: api(-2010), class: permanent},
	}
}

func featureFaults(*testing.T) []fault {
	return []fault{
		{name: "`FLAG_NOT_FOUND`", err: openfeature.NewFlagNotFoundResolutionError("no"), class: permanent, unknown: true},
		{name: "`TYPE_MISMATCH`", err: openfeature.NewTypeMismatchResolutionError("no"), class: permanent, unknown: true},
		{name: "`PROVIDER_NOT_READY`", err: openfeature.NewProviderNotReadyResolutionError("no"), class: unknown},
	}
}
