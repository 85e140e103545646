package retrygrpc_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/attempts"
	"github.com/gobackoff/retry/retrygrpc"
	"github.com/gobackoff/retry/retrytest"
)

// TestAttempts: a policy means the same number of attempts as elsewhere.
func TestAttempts(t *testing.T) {
	for _, row := range attempts.Rows() {
		t.Run(row.Name, func(t *testing.T) {
			most := row.Most
			if row.Ends() {
				most = row.Made
			}
			assert.Equal(t, min(most, 5), ofServiceConfig(t, row.Policy), "grpc-go makes at most 5")
			if row.Made == 0 {
				return
			}
			failure := unavailable
			if row.Hint != 0 {
				failure = info(codes.Unavailable, row.Hint)
			}
			s := &server{unary: failing(attempts.Enough-1, failure)}
			row.Policy.Clock = &retrytest.Clock{}
			_, err := newClient(t, s, row.Policy).UnaryCall(t.Context(), &pb.SimpleRequest{})
			assert.Equal(t, row.Made == attempts.Enough, err == nil)
			assert.Equal(t, row.Made, s.hits())
		})
	}
}

func ofServiceConfig(t *testing.T, p retry.Policy) int {
	t.Helper()
	text, _, err := retrygrpc.ServiceConfig(p, "*")
	require.NoError(t, err)
	var config struct {
		MethodConfig []struct {
			RetryPolicy *struct{ MaxAttempts int }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &config))
	require.Len(t, config.MethodConfig, 1)
	if config.MethodConfig[0].RetryPolicy == nil {
		return 1
	}
	return config.MethodConfig[0].RetryPolicy.MaxAttempts
}
