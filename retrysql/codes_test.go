package retrysql_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retrysql"
)

// TestCodesOfText: the SQLSTATEs of a policy's text add to the usual ones.
func TestCodesOfText(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		err   error
		calls string
	}{
		"not listed":              {"", sqlState("23505"), "begin fn rollback"},
		"listed":                  {"retry-on=23505", sqlState("23505"), "begin fn rollback begin fn commit"},
		"the usual ones stay":     {"retry-on=23505", sqlState("40001"), "begin fn rollback begin fn commit"},
		"stopped":                 {"stop-on=40001", sqlState("40001"), "begin fn rollback"},
		"of go-sql-driver/mysql":  {"stop-on=40001", mysqlError(1213, "40001"), "begin fn rollback"},
		"another of the driver's": {"stop-on=40002", mysqlError(1213, "40001"), "begin fn rollback begin fn commit"},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := retryconfig.Parse("no-delay " + tt.text)
			require.NoError(t, err)
			f := &fake{scripts: []script{{fn: tt.err}}}
			err = retrysql.InTxFunc(t.Context(), policy, f.begin, f.fn)
			assert.Equal(t, tt.calls, f.takeCalls())
			if tt.calls == "begin fn rollback" {
				assert.ErrorIs(t, err, tt.err)
			} else {
				assert.NoError(t, err)
			}
		})
	}
}
