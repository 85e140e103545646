package known

// Clouds, their services, and infrastructure.

var cloudTexts = []textRow{
	// Google Maps Platform, status codes of the Geocoding API; maps 1.7.0 formats them.
	{throttled, "maps", "OVER_QUERY_LIMIT - *"},
	{permanent, "maps", `
		REQUEST_DENIED - *
		OVER_DAILY_LIMIT - *`},

	// line-bot-sdk-go 8.14.0.
	{throttled, "", "unexpected status code: 429, *"},

	// datastore 1.28.1.
	{permanent, "datastore", `
		keys and dst slices have different length
		keys and transforms slices have different length`},
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

	// bigquery 1.86.2, schema.go; generative-ai-go 0.20.1: the prompt or the answer is blocked.
	{permanent, "cloud.google.com/go/bigquery.badJSONError"},
	{permanent, "cloud.google.com/go/bigquery.badNullableError"},
	{permanent, "github.com/google/generative-ai-go/genai.BlockedError"},

	// aws-sdk-go-v2 1.48.0 and smithy-go 1.28.9: retry/standard.go has none of these.
	{permanent, "github.com/aws/aws-sdk-go-v2/aws.EndpointNotFoundError"},
	{permanent, "github.com/aws/aws-sdk-go-v2/aws.MissingRegionError"},
	{permanent, "github.com/aws/aws-sdk-go-v2/config.AssumeRoleTokenProviderNotSetError"},
	{permanent, "github.com/aws/aws-sdk-go-v2/config.CredentialRequiresARNError"},
	{permanent, "github.com/aws/aws-sdk-go-v2/config.SharedConfigAssumeRoleError"},
	{permanent, "github.com/aws/aws-sdk-go-v2/config.SharedConfigLoadError"},
	{permanent, "github.com/aws/aws-sdk-go-v2/config.SharedConfigProfileNotExistError"},
	{permanent, "github.com/aws/aws-sdk-go-v2/credentials.StaticCredentialsEmptyError"},
	{permanent, "github.com/aws/aws-sdk-go-v2/credentials/ssocreds.InvalidTokenError"},
	{permanent, "github.com/aws/smithy-go.InvalidParamsError"},
	{permanent, "github.com/aws/smithy-go.SerializationError"},
	{permanent, "github.com/aws/aws-sdk-go/aws/request.ErrInvalidParams"},
	{permanent, "github.com/volcengine/volcengine-go-sdk/volcengine/request.ErrInvalidParams"},

	// godo 1.236.0, errors.go; tea 1.5.4, a value of a wrong type; certmagic 0.25.6, async.go.
	{permanent, "github.com/digitalocean/godo.ArgError"},
	{permanent, "github.com/alibabacloud-go/tea/tea.CastError"},
	{permanent, "github.com/caddyserver/certmagic.ErrNoRetry"},

	// apimachinery and client-go 0.37.2: an object or a scheme of the program is wrong. A kind
	// without match may be installed later.
	{transient, "k8s.io/apimachinery/pkg/api/meta.NoKindMatchError"},
	{transient, "k8s.io/apimachinery/pkg/api/meta.NoResourceMatchError"},
	{permanent, "k8s.io/apimachinery/pkg/api/meta.AmbiguousKindError"},
	{permanent, "k8s.io/apimachinery/pkg/api/meta.AmbiguousResourceError"},
	{permanent, "k8s.io/apimachinery/pkg/runtime.missingKindErr"},
	{permanent, "k8s.io/apimachinery/pkg/runtime.missingVersionErr"},
	{permanent, "k8s.io/apimachinery/pkg/runtime.notRegisteredErr"},
	{permanent, "k8s.io/apimachinery/pkg/runtime.strictDecodingError"},
	{permanent, "k8s.io/client-go/rest.RequestConstructionError"},
	{permanent, "sigs.k8s.io/controller-runtime/pkg/controller/controllerutil.AlreadyOwnedError"},
	{permanent, "sigs.k8s.io/controller-runtime/pkg/cache/internal.ErrResourceNotCached"},

	// distribution 3.1.2, errors.go; containers/image 5.36.2; go-containerregistry 0.22.1.
	{permanent, "github.com/distribution/distribution.ErrBlobInvalidDigest"},
	{permanent, "github.com/distribution/distribution.ErrManifestBlobUnknown"},
	{permanent, "github.com/distribution/distribution.ErrManifestUnknown"},
	{permanent, "github.com/distribution/distribution.ErrManifestUnknownRevision"},
	{permanent, "github.com/distribution/distribution.ErrManifestUnverified"},
	{permanent, "github.com/distribution/distribution.ErrRepositoryUnknown"},
	{permanent, "github.com/distribution/distribution.ErrTagUnknown"},
	{permanent, "github.com/containers/image/docker.ErrUnauthorizedForCredentials"},
	{permanent, "github.com/containers/image/internal/manifest.NonImageArtifactError"},
	{permanent, "github.com/containers/image/signature.InvalidPolicyFormatError"},
	{permanent, "github.com/containers/image/signature.PolicyRequirementError"},
	{permanent, "github.com/containers/image/signature/internal.InvalidSignatureError"},
	{permanent, "github.com/containers/image/types.ManifestTypeRejectedError"},
	{permanent, "github.com/google/go-containerregistry/pkg/name.ErrBadName"},

	// terraform-plugin-sdk 2.40.1, helper/retry: the resource reached another state. Vault's
	// client: the request was to be printed, not sent.
	{permanent, "github.com/hashicorp/terraform-plugin-sdk/helper/retry.UnexpectedStateError"},
	{permanent, "github.com/hashicorp/vault/api.OutputPolicyError"},
	{permanent, "github.com/hashicorp/vault/api.OutputStringError"},

	// cosign 2.6.5, pkg/cosign/errors.go: no signature that satisfies the policy.
	{permanent, "github.com/sigstore/cosign/pkg/cosign.ErrNoCertificateFoundOnSignature"},
	{permanent, "github.com/sigstore/cosign/pkg/cosign.ErrNoMatchingAttestations"},
	{permanent, "github.com/sigstore/cosign/pkg/cosign.ErrNoMatchingSignatures"},
	{permanent, "github.com/sigstore/cosign/pkg/cosign.ErrNoSignaturesFound"},
	{permanent, "github.com/sigstore/cosign/pkg/cosign.VerificationFailure"},

	// go-oidc 3.21.0; a new token is needed.
	{permanent, "github.com/coreos/go-oidc/oidc.TokenExpiredError"},

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

	// volcengine-go-sdk 1.1.35, codes of volcengineerr as those of aws-sdk-go.
	{permanent, "github.com/volcengine/volcengine-go-sdk/volcengine/volcengineerr.baseError", "code", "NoCredentialProviders|MissingRegion|MissingEndpoint|InvalidParameter|EmptyStaticCreds|EnvAccessKeyNotFound|EnvSecretNotFound|UserHomeNotFound"},

	// alibaba-cloud-sdk-go 1.63.107, sdk/errors/client_error.go.
	{permanent, "github.com/aliyun/alibaba-cloud-sdk-go/sdk/errors.ClientError", "errorCode", "SDK.UnsupportedCredential|SDK.UnsupportedParamPosition|SDK.AsyncFunctionNotEnabled|SDK.UnknownRequestType|SDK.MissingParam|SDK.InvalidParam"},
	{timeout, "github.com/aliyun/alibaba-cloud-sdk-go/sdk/errors.ClientError", "errorCode", "SDK.TimeoutError"},

	// apimachinery 0.37.2, util/validation/field.
	{transient, "k8s.io/apimachinery/pkg/util/validation/field.Error", "Type", "InternalError"},
	{permanent, "k8s.io/apimachinery/pkg/util/validation/field.Error", "Type", "FieldValue*"},

	// godo 1.236.0: the server's own word.
	{transient, "github.com/digitalocean/godo.ActionGatewayToolError", "Retriable", "true"},
	{permanent, "github.com/digitalocean/godo.ActionGatewayToolError", "Retriable", "false"},

	// aws-sdk-go 1.55.8, request/retryer.go: expired credentials are refreshed.
	{transient, "github.com/aws/aws-sdk-go/aws/awserr.requestError", "awsError.code", "ExpiredToken|ExpiredTokenException|RequestExpired"},
	{permanent, "github.com/aws/aws-sdk-go/aws/awserr.baseError", "code", "NoCredentialProviders|MissingRegion|MissingEndpoint|InvalidParameter|EmptyStaticCreds|EnvAccessKeyNotFound|EnvSecretNotFound|UserHomeNotFound|NoConnectionFormat"},

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

	// Okta: developer.okta.com, error codes.
	{permanent, "github.com/okta/okta-sdk-golang/okta.Error", "ErrorCode", "E0000001|E0000003|E0000004|E0000005|E0000006|E0000007|E0000011|E0000015|E0000022"},
	{throttled, "github.com/okta/okta-sdk-golang/okta.Error", "ErrorCode", "E0000047"},

	// Juju's errors 1.0.0, errortypes.go.
	{permanent, "github.com/juju/errors.ConstError", "", "not found|user not found|unauthorized|not implemented|already exists|not supported|not valid|bad request|method not allowed|forbidden"},
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
	{transient, "github.com/prometheus/client_golang/api/prometheus.Error", "Type", "server_error"},

	// egoscale 0.18.1, request_type.go: a malformed or wrong parameter.
	{permanent, "github.com/exoscale/egoscale.ErrorResponse", "ErrorCode", "430|431"},
}
