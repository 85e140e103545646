package retryaws_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryconfig"
)

// TestCodesOfText: the statuses of a policy's text add to what the SDK retries.
func TestCodesOfText(t *testing.T) {
	const conflict = `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceInUseException"}`
	broken := `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`
	for name, tt := range map[string]struct {
		text     string
		answer   step
		requests int
	}{
		"not listed":          {"retry-on=404", respond(400, conflict), 1},
		"listed":              {"retry-on=400", respond(400, conflict), 3},
		"the usual ones stay": {"retry-on=400", respond(500, broken), 3},
		"stopped":             {"stop-on=5xx", respond(500, broken), 1},
		"of a preset":         {"stop-on=5xx", respond(500, broken), 1},
	} {
		t.Run(name, func(t *testing.T) {
			text := "no-delay attempts=3 "
			if name == "of a preset" {
				text = "aws-standard-2.1 service=dynamodb "
			}
			policy, err := retryconfig.Parse(text + tt.text)
			require.NoError(t, err)
			transport := newScript(tt.answer)
			assert.Error(t, getItem(t.Context(), newDynamoDB(t, transport, asMiddleware, policy)))
			assert.Len(t, transport.requests, tt.requests)
		})
	}
}
