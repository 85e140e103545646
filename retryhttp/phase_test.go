package retryhttp

// This file is in the package because the phases have no exported names.

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	phaseNames = [...]string{"quiet", "asking", "connected", "written", "rewriting", "responded", "held", "stopped", "over"}
	eventNames = [events]string{"asked", "obtained", "wrote", "heard"}
)

func (p phase) String() string { return phaseNames[p] }
func (e event) String() string { return eventNames[e] }

// TestTransitions prints the table of an exchange's phases, which docs/http.md repeats.
// Once an exchange is stopped or over, nothing changes it, and no event leads there.
func TestTransitions(t *testing.T) {
	rows := []string{"| phase |", "| --- |"}
	for e := range eventNames {
		rows[0] += fmt.Sprintf(" %v |", event(e))
		rows[1] += " --- |"
	}
	for p := range transitions {
		from := phase(p)
		var row strings.Builder
		row.WriteString(fmt.Sprintf("| %v |", from))
		for e, to := range transitions[p] {
			row.WriteString(fmt.Sprintf(" %v |", to))
			switch {
			case from == responded || from >= held:
				assert.Equal(t, from, to, "%v after %v", event(e), from)
			default:
				assert.GreaterOrEqual(t, to, from, "%v after %v", event(e), from)
				assert.Less(t, to, held, "%v after %v", event(e), from)
			}
		}
		rows = append(rows, row.String())
	}
	table := strings.Join(rows, "\n")
	t.Log("\n" + table)
	page, err := os.ReadFile("../docs/http.md")
	require.NoError(t, err)
	assert.Contains(t, string(page), table+"\n", "docs/http.md")
}
