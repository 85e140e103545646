package retryaws_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/attempts"
	"github.com/gobackoff/retry/retryaws"
	"github.com/gobackoff/retry/retrytest"
)

// TestAttempts: a policy means the same number of attempts as elsewhere.
func TestAttempts(t *testing.T) {
	for _, row := range attempts.Rows() {
		t.Run(row.Name, func(t *testing.T) {
			r, err := retryaws.New(row.Policy)
			switch {
			case row.Policy.MaxElapsed != 0:
				assert.ErrorIs(t, err, retry.ErrInvalid)
			case row.Most == retry.Unlimited:
				require.NoError(t, err)
				assert.Zero(t, r.MaxAttempts(), "the SDK's number for no bound")
			default:
				require.NoError(t, err)
				assert.Equal(t, row.Most, r.MaxAttempts())
			}
			if row.Made == 0 {
				return
			}
			failure := unavailable
			if row.Hint != 0 {
				failure = respond(503, `{"__type":"ServiceUnavailable"}`, "Retry-After", strconv.Itoa(int(row.Hint.Seconds())))
			}
			steps := make([]step, attempts.Enough)
			for i := range steps {
				steps[i] = failure
			}
			steps[attempts.Enough-1] = ok
			transport := newScript(steps...)
			row.Policy.Clock = &retrytest.Clock{}
			err = getItem(t.Context(), newDynamoDB(t, transport, asMiddleware, row.Policy))
			assert.Equal(t, row.Made == attempts.Enough, err == nil)
			assert.Equal(t, row.Made, transport.count())
		})
	}
}
