package known

import "testing"

func TestCloud(t *testing.T) {
	type apiError struct {
		Code string
		error
	}
	const name = "github.com/hetznercloud/hcloud-go/hcloud.Error"
	checkForeign(t, []foreignCase{
		{name, apiError{Code: "uniqueness_error"}, permanent},
		{name, apiError{Code: "maintenance"}, transient},
		{name, apiError{Code: "conflict"}, none}, // the general rule applies
	})
}

// TestClouds: rows whose fields are within others, or whose values are patterns.
func TestClouds(t *testing.T) {
	type baseError struct {
		code string
		error
	}
	const aws, hcloud, prometheus = "github.com/aws/aws-sdk-go/aws/awserr.requestError", "github.com/hetznercloud/hcloud-go/hcloud.Error",
		"github.com/prometheus/client_golang/api/prometheus.Error"
	type apiError struct {
		Code, Type, Msg string
		error
	}
	checkForeign(t, []foreignCase{
		{aws, requestError{&baseError{code: "ExpiredTokenException"}}, transient},
		{aws, requestError{&baseError{code: "ValidationException"}}, none},
		{hcloud, apiError{Code: "volume_already_attached"}, permanent},
		{prometheus, apiError{Type: "client_error", Msg: "client error: 429"}, throttled},
		{prometheus, apiError{Type: "client_error", Msg: "client error: 403"}, permanent},
		{prometheus, apiError{Type: "server_error"}, transient},
	})
}

type requestError struct{ awsError error }

func (requestError) Error() string { return "no" }

// TestCloudClients: errors of clients of clouds, Kubernetes and registries.
func TestCloudClients(t *testing.T) {
	const field, tool = "k8s.io/apimachinery/pkg/util/validation/field.Error", "github.com/digitalocean/godo.ActionGatewayToolError"
	type apiError struct {
		Type      string
		Retriable bool
		error
	}
	checkForeign(t, []foreignCase{
		{field, apiError{Type: "FieldValueRequired"}, permanent},
		{field, apiError{Type: "InternalError"}, transient},
		{tool, apiError{Retriable: true}, transient},
		{tool, apiError{}, permanent},
	})
}
