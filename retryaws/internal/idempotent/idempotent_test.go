package idempotent_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/retryaws/internal/idempotent"
)

func TestIs(t *testing.T) {
	for name, tt := range map[string]struct {
		service, operation, method string
		headers                    http.Header
		want                       bool
	}{
		"a trait of the model":            {"ACM", "DeleteAcmeEndpoint", "POST", nil, true},
		"the last service":                {"WorkSpaces Web", "ExpireSession", "DELETE", nil, true},
		"another service's operation":     {"ACM PCA", "DeleteAcmeEndpoint", "POST", nil, false},
		"part of a name":                  {"ACM", "DeleteAcme", "POST", nil, false},
		"no name":                         {"ACM", "", "POST", nil, false},
		"an unknown service":              {"Z", "DeleteThing", "DELETE", nil, false},
		"no service":                      {"", "PutObject", "PUT", nil, false},
		"a key of KMS":                    {"KMS", "GenerateDataKey", "POST", nil, true},
		"a grant of KMS":                  {"KMS", "CreateGrant", "POST", nil, false},
		"a PUT that creates":              {"Connect", "CreateUser", "PUT", nil, false},
		"a PUT that creates, with trait":  {"Connect", "CreateView", "PUT", nil, false},
		"Cloud Directory":                 {"CloudDirectory", "CreateObject", "PUT", nil, false},
		"CodeCatalyst":                    {"CodeCatalyst", "CreateAccessToken", "PUT", nil, false},
		"an execution, with trait":        {"SFN", "StartExecution", "POST", nil, false},
		"an authority, with trait":        {"ACM PCA", "CreateCertificateAuthority", "POST", nil, false},
		"PutObject":                       {"S3", "PutObject", "PUT", nil, true},
		"PutObject with a condition":      {"S3", "PutObject", "PUT", http.Header{"If-None-Match": {"*"}}, false},
		"DeleteObject with a size":        {"S3", "DeleteObject", "DELETE", http.Header{"X-Amz-If-Match-Size": {"1"}}, false},
		"an upload ends with a condition": {"S3", "CompleteMultipartUpload", "POST", http.Header{"If-Match": {"1"}}, false},
		"an upload ends":                  {"S3", "CompleteMultipartUpload", "POST", nil, true},
		"DeleteObjects":                   {"S3", "DeleteObjects", "POST", nil, false},
		"PutObject of another service":    {"MediaStore Data", "PutObject", "PUT", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, idempotent.Is(tt.service, tt.operation, &http.Request{Method: tt.method, Header: tt.headers}))
		})
	}
}
