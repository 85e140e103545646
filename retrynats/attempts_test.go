package retrynats_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/test/attempts"
	"github.com/gobackoff/retry/retrynats"
)

// TestAttempts: a policy means the same number of attempts as elsewhere. Each delivery is
// one attempt.
func TestAttempts(t *testing.T) {
	for _, row := range attempts.Rows() {
		t.Run(row.Name, func(t *testing.T) {
			w, config := retrynats.Worker{Policy: row.Policy}, good
			if config.MaxDeliver = row.Most; row.Most == retry.Unlimited {
				config.MaxDeliver = 1 << 30
			}
			assert.ErrorContains(t, w.Check(config), "MaxDeliver", "a crash in the last delivery would lose the message")
			if config.MaxDeliver++; row.Most == retry.Unlimited {
				config.MaxDeliver = -1
			}
			assert.NoError(t, w.Check(config))

			if row.Made == 0 || row.Hint != 0 { // earlier failures count as failures without hints
				return
			}
			made, last := 0, ""
			for last == "" || strings.HasPrefix(last, "nak ") {
				made++
				err := errOp
				if made == attempts.Enough {
					err = nil
				}
				sent := handle(t, w, delivered(uint64(made)), returning(err))
				last = sent[len(sent)-1]
			}
			assert.Equal(t, row.Made == attempts.Enough, last == "ack")
			assert.Equal(t, row.Made, made)
		})
	}
}
