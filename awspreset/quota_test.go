package awspreset_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

func TestPresetQuotaIsPerPolicy(t *testing.T) {
	without := 0
	for preset := range awspreset.All() {
		p, other := preset.Policy(""), preset.Policy("")
		copied := p
		if p.Budget == nil {
			without++
			continue
		}
		require.True(t, p.Budget.TryWithdraw(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTransient}}))
		assert.Less(t, balance(p), 500.0, preset)
		assert.Equal(t, balance(p), balance(copied), preset)
		assert.Equal(t, 500.0, balance(other), preset)
	}
	assert.Equal(t, 3, without)
}

func TestPresetRefunds(t *testing.T) {
	tests := []struct {
		preset          awspreset.Preset
		first, retried  float64 // balance after a success that starts at 400
		above, afterBad float64 // after a success that starts at 500, and a permanent failure that starts at 400
	}{
		{awspreset.Standard21, 401, 414, 500, 400},
		{awspreset.GoV2Standard20, 401, 406, 500, 400},
		{awspreset.JavaScriptV3Standard20, 401, 410, 500, 400},
	}
	for _, tt := range tests {
		t.Run(tt.preset.String(), func(t *testing.T) {
			after := func(from float64, last retry.Attempt, err error) float64 {
				p := tt.preset.Policy("")
				for balance(p) > from {
					require.True(t, p.Budget.TryWithdraw(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassThrottled}}))
				}
				p.Budget.Deposit(last, err)
				return balance(p)
			}
			assert.Equal(t, tt.first, after(400, retry.Attempt{}, nil))
			assert.Equal(t, tt.retried, after(400, failedWith(retry.ClassTransient), nil))
			assert.Equal(t, tt.above, after(500, retry.Attempt{}, nil))
			assert.Equal(t, tt.afterBad, after(400, failedWith(retry.ClassTransient), errOp))

			p := tt.preset.Policy("")
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 100 {
						if p.Budget.TryWithdraw(retry.Attempt{Number: 1, Verdict: retry.Verdict{Class: retry.ClassTransient}}) {
							p.Budget.Deposit(failedWith(retry.ClassTransient), nil)
						}
					}
				})
			}
			wg.Wait()
			assert.GreaterOrEqual(t, balance(p), 500.0)
		})
	}
}
