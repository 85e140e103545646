package retrygrpc_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gobackoff/retry/retrygrpc"
)

// TestDocumentedCodes: the table in docs/grpc.md has the class of every code.
func TestDocumentedCodes(t *testing.T) {
	text, err := os.ReadFile("../docs/grpc.md")
	require.NoError(t, err)
	documented := map[codes.Code]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 {
			continue
		}
		for name := range strings.SplitSeq(strings.TrimPrefix(cells[0], "| "), ", ") {
			var code codes.Code
			if code.UnmarshalJSON([]byte(`"`+name+`"`)) == nil {
				documented[code], _, _ = strings.Cut(cells[1], ",")
			}
		}
	}
	assert.Len(t, documented, 17)
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		assert.Equal(t, documented[code], retrygrpc.Classifier{}.Classify(status.Error(code, "")).Class.String(), code)
	}
}
