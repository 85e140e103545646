package known

// Clouds, their services, and infrastructure.

var cloudTexts = []textRow{
	// Google Maps Platform, status codes of the Geocoding API; maps 1.7.0 formats them.
	{throttled, "maps: OVER_QUERY_LIMIT - *"},
	{permanent, "maps: REQUEST_DENIED - *"},
	{permanent, "maps: OVER_DAILY_LIMIT - *"},

	// resend-go 2.28.0, handleError: the message of a response without its status; the
	// messages are from the errors of the API's reference.
	{permanent, "[ERROR]: * not found"},
	{permanent, "[ERROR]: API key is invalid"},
	{permanent, "[ERROR]: This API key is restricted*"},

	// govultr 3.34.0, and Gitea's client 0.25.1: the message of a response without its status.
	{permanent, "error returned from api : * not found*"},
	{permanent, "The target couldn't be found."},
	{permanent, "token does not have at least one of required scope(s)*"},

	// go-proxmox 0.8.2, proxmox.go.
	{permanent, "unable to find the item you are looking for"},

	// oras-go 2.7.0, errdef and registry/remote/auth.
	{permanent, "size exceeds limit"},
	{permanent, "basic credential not found"},
}

var cloudTypes = []typeRow{
	// scaleway-sdk-go 1.39.0, the comments of the types. A transient state and a resource out
	// of stock may pass.
	{permanent, "github.com/scaleway/scaleway-sdk-go/scw.DeniedAuthenticationError"},
	{permanent, "github.com/scaleway/scaleway-sdk-go/scw.InvalidArgumentsError"},
	{permanent, "github.com/scaleway/scaleway-sdk-go/scw.InvalidClientOptionError"},
	{permanent, "github.com/scaleway/scaleway-sdk-go/scw.PermissionsDeniedError"},
	{permanent, "github.com/scaleway/scaleway-sdk-go/scw.PreconditionFailedError"},
	{permanent, "github.com/scaleway/scaleway-sdk-go/scw.QuotasExceededError"},
	{permanent, "github.com/scaleway/scaleway-sdk-go/scw.ResourceExpiredError"},
	{permanent, "github.com/scaleway/scaleway-sdk-go/scw.ResourceNotFoundError"},

	// gophercloud 2.15.0, errors.go. Errors of a response have a method GetStatusCode.
	{permanent, "github.com/gophercloud/gophercloud.ErrEndpointNotFound"},
	{permanent, "github.com/gophercloud/gophercloud.ErrInvalidInput"},
	{permanent, "github.com/gophercloud/gophercloud.ErrMissingAnyoneOfEnvironmentVariables"},
	{permanent, "github.com/gophercloud/gophercloud.ErrMissingEnvironmentVariable"},
	{permanent, "github.com/gophercloud/gophercloud.ErrMissingInput"},
	{permanent, "github.com/gophercloud/gophercloud.ErrMissingPassword"},
	{permanent, "github.com/gophercloud/gophercloud.ErrMultipleResourcesFound"},
	{permanent, "github.com/gophercloud/gophercloud.ErrResourceNotFound"},
	{permanent, "github.com/gophercloud/gophercloud.ErrServiceNotFound"},
	{permanent, "github.com/gophercloud/gophercloud.ErrUsernameOrUserID"},
	{timeout, "github.com/gophercloud/gophercloud.ErrTimeOut"},

	// newrelic-client-go 2.97.7, pkg/errors. It gives up with MaxRetriesReached.
	{permanent, "github.com/newrelic/newrelic-client-go/pkg/errors.InvalidInput"},
	{permanent, "github.com/newrelic/newrelic-client-go/pkg/errors.MaxRetriesReached"},
	{permanent, "github.com/newrelic/newrelic-client-go/pkg/errors.NotFound"},

	// terraform-exec 0.26.0, tfexec/errors.go.
	{permanent, "github.com/hashicorp/terraform-exec/tfexec.ErrManualEnvVar"},
	{permanent, "github.com/hashicorp/terraform-exec/tfexec.ErrNoSuitableBinary"},
	{permanent, "github.com/hashicorp/terraform-exec/tfexec.ErrVersionMismatch"},

	// cloud.google.com/go/compute/metadata 0.10.0: nothing has this name.
	{permanent, "cloud.google.com/go/compute/metadata.NotDefinedError"},

	// Dropbox's SDK 6.6.3, auth/sdk.go: statuses 400, 401, 403 and 429.
	{permanent, "github.com/dropbox/dropbox-sdk-go-unofficial/dropbox/auth.AccessAPIError"},
	{permanent, "github.com/dropbox/dropbox-sdk-go-unofficial/dropbox/auth.AuthAPIError"},
	{permanent, "github.com/dropbox/dropbox-sdk-go-unofficial/dropbox/auth.BadRequest"},
	{throttled, "github.com/dropbox/dropbox-sdk-go-unofficial/dropbox/auth.RateLimitAPIError"},

	// telebot 3.3.8, errors.go; Huawei Cloud's SDK 0.1.207, core/sdkerr.
	{throttled, "gopkg.in/telebot.FloodError"},
	{timeout, "github.com/huaweicloud/huaweicloud-sdk-go-v3/core/sdkerr.RequestTimeoutError"},

	// Teleport's trace 1.5.4, errors.go.
	{permanent, "github.com/gravitational/trace.AccessDeniedError"},
	{permanent, "github.com/gravitational/trace.AlreadyExistsError"},
	{permanent, "github.com/gravitational/trace.BadParameterError"},
	{permanent, "github.com/gravitational/trace.NotFoundError"},
	{permanent, "github.com/gravitational/trace.NotImplementedError"},
	{permanent, "github.com/gravitational/trace.TrustError"},
	{throttled, "github.com/gravitational/trace.LimitExceededError"},
}

var cloudFields = []fieldRow{
	// hcloud-go 2.53.0, the comments of ErrorCode.
	{permanent, "github.com/hetznercloud/hcloud-go/hcloud.Error", "Code", "uniqueness_error|protected|json_error|unsupported_error|deprecated_api_endpoint|resource_limit_exceeded|token_readonly|*_already_*|*_mismatch"},
	{transient, "github.com/hetznercloud/hcloud-go/hcloud.Error", "Code", "maintenance|robot_unavailable|resource_unavailable|server_error|bad_gateway|service_error"},

	// aws-sdk-go 1.55.8, request/retryer.go: expired credentials are refreshed.
	{transient, "github.com/aws/aws-sdk-go/aws/awserr.requestError", "awsError.code", "ExpiredToken|ExpiredTokenException|RequestExpired"},
	{permanent, "github.com/aws/aws-sdk-go/aws/awserr.baseError", "code", "NoCredentialProviders|MissingRegion|MissingEndpoint|InvalidParameter"},

	// bce-sdk-go 0.9.277, BackOffRetryPolicy.
	{transient, "github.com/baidubce/bce-sdk-go/bce.BceServiceError", "Code", "RequestExpired"},

	// Qiniu: developer.qiniu.com, kodo, error codes: a file does not exist or exists already, a
	// bucket does not exist, too many requests for one resource.
	{permanent, "github.com/qiniu/go-sdk/client.ErrorInfo", "Code", "608|612|614|630|631|640"},
	{throttled, "github.com/qiniu/go-sdk/client.ErrorInfo", "Code", "573"},

	// containerd 2.4.2, core/remotes/docker/errdesc.go: codes of registries, in the order in
	// which they are registered.
	{permanent, "github.com/containerd/containerd/core/remotes/docker.Error", "Code", "1001|1002|1003"},
	{transient, "github.com/containerd/containerd/core/remotes/docker.Error", "Code", "1004"},
	{throttled, "github.com/containerd/containerd/core/remotes/docker.Error", "Code", "1005"},

	// OCI: DefaultRetryPolicy of oci-go-sdk 65.129 repeats a request after these codes only.
	{transient, "github.com/oracle/oci-go-sdk/common.servicefailure", "Code", "IncorrectState|LockConflict"},
	{byStatus, "github.com/oracle/oci-go-sdk/common.servicefailure", "StatusCode", "409"},

	// Okta: developer.okta.com, error codes.
	{permanent, "github.com/okta/okta-sdk-golang/okta.Error", "ErrorCode", "E0000001|E0000003|E0000004|E0000005|E0000006|E0000007|E0000011|E0000015|E0000022"},
	{throttled, "github.com/okta/okta-sdk-golang/okta.Error", "ErrorCode", "E0000047"},

	// Tencent's COS: its throttling has status 503.
	{throttled, "github.com/tencentyun/cos-go-sdk-v5.ErrorResponse", "Code", "SlowDown|RequestLimitExceeded"},

	// Juju's errors 1.0.0, errortypes.go.
	{permanent, "github.com/juju/errors.ConstError", "", "not valid|bad request|method not allowed|forbidden"},
	{timeout, "github.com/juju/errors.ConstError", "", "timeout"},
	{permanent, "github.com/juju/errors.errWithType", "errType", "not found|user not found|unauthorized|not implemented|already exists|not supported|not valid|bad request|method not allowed|forbidden"},
	{timeout, "github.com/juju/errors.errWithType", "errType", "timeout"},

	// cohere-go 2.15.3, errors.go: an invalid token.
	{permanent, "github.com/cohere-ai/cohere-go/core.APIError", "StatusCode", "498"},

	// Backblaze's blazer 0.7.2, IsNotExist.
	{permanent, "github.com/Backblaze/blazer/b2.b2err", "notFoundErr", "true"},

	// OpenID Connect (zitadel/oidc 3.51.17, pkg/oidc/error.go), RFC 6749 and RFC 8628.
	{permanent, "github.com/zitadel/oidc/pkg/oidc.Error", "ErrorType", "expired_token|interaction_required|login_required|request_not_supported"},
	{byWord, "github.com/zitadel/oidc/pkg/oidc.Error", "ErrorType", "a*|invalid_*|slow_down|un*"},

	// Prometheus HTTP API, client_golang 1.25.0. Its errors of other statuses than 400 and 422
	// have only a text.
	{throttled, "github.com/prometheus/client_golang/api/prometheus.Error", "Msg", "client error: 429"},
	{permanent, "github.com/prometheus/client_golang/api/prometheus.Error", "Type", "bad_data|execution|client_error"},
	{timeout, "github.com/prometheus/client_golang/api/prometheus.Error", "Type", "timeout"},

	// egoscale 0.18.1, request_type.go: a malformed or wrong parameter.
	{permanent, "github.com/exoscale/egoscale.ErrorResponse", "ErrorCode", "430|431"},
}
