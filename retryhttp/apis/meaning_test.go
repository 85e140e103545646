package apis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/internal/test/linear"
	"github.com/gobackoff/retry/retryhttp/apis"
)

// TestAlternativesAreReadInLinearTime: a server cannot keep a client busy with alternatives of an
// answer that end, each with an index of its own.
func TestAlternativesAreReadInLinearTime(t *testing.T) {
	linear.Check(t, 2<<20, func(size int) func() {
		var text strings.Builder
		for i := 1; text.Len() < size; i++ {
			fmt.Fprintf(&text, "data: {\"choices\":[{\"index\":%d,\"finish_reason\":\"stop\"}]}\n\n", i)
		}
		return func() {
			for _, err := range apis.Events(stream("text/event-stream", strings.NewReader(text.String())), 0) {
				require.NoError(t, err)
			}
		}
	})
}
