package lab

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/attempts"
)

// TestAttempts: a policy means the same number of attempts as elsewhere.
func TestAttempts(t *testing.T) {
	for _, row := range attempts.Rows() {
		t.Run(row.Name, func(t *testing.T) {
			most := mostAttempts(row.Policy)
			if row.Most == retry.Unlimited {
				assert.EqualValues(t, math.MaxUint32-1, most)
			} else {
				assert.EqualValues(t, row.Most, most)
			}
			if row.Made == 0 || row.Made == attempts.Enough || row.Hint != 0 { // its failures have no hints
				return
			}
			s := Survival{
				Contenders: []Contender{{Name: row.Name, Policy: func(retry.Clock) retry.Policy { return row.Policy }}},
				Calls:      []int{1}, Outages: []time.Duration{24 * time.Hour}, Latency: 1, Trials: 10,
			}
			rows, err := s.Run(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, row.Made, rows[0].Requests[0])
		})
	}
}
