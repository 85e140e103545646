package errfacts

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

type (
	sqlState string

	postgresError struct {
		sqlState
		Severity, Routine string
	}

	// mysqlFake has the fields of go-sql-driver/mysql's MySQLError.
	mysqlFake struct {
		Number   uint16
		SQLState [5]byte
		Message  string
	}
)

func (s sqlState) SQLState() string { return string(s) }
func (s sqlState) Error() string    { return string(s) }
func (e *mysqlFake) Error() string  { return e.Message }

func mysqlReply(number uint16, state string) error {
	return &mysqlFake{Number: number, SQLState: [5]byte([]byte(state))}
}

// TestReplies: what the response of a database means for a statement, for a COMMIT and
// for the connection.
func TestReplies(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want Reply
	}{
		{"serialization failure", sqlState("40001"), Reply{class: Transient, Refused: true}},
		{"read-only server", sqlState("25006"), Reply{class: Transient, Refused: true, ReadOnly: true}},
		{"idle transaction, connection closed", postgresError{"25P03", "FATAL", ""}, Reply{class: Transient, Refused: true}},
		{"transaction too long, connection closed", postgresError{"25P04", "FATAL", ""}, Reply{class: Transient}},
		{"idle session", postgresError{"57P05", "FATAL", ""}, Reply{class: Transient}},
		{"database dropped", sqlState("57P04"), Reply{class: Permanent}},
		{"of pgbouncer", sqlState("08P01"), Reply{class: Transient}},
		{"outcome unknown", sqlState("08007"), Reply{class: Transient, unrepeatable: true}},
		{"unique violation", sqlState("23505"), Reply{class: Permanent, Refused: true}},
		{"table changed", postgresError{"0A000", "ERROR", "RevalidateCachedQuery"}, Reply{class: Transient, Refused: true}},
		{"lib/pq's BEGIN on a replica", postgresError{"0A000", "ERROR", "call_bool_check_hook"}, Reply{class: Transient, Refused: true, ReadOnly: true}},
		{"not implemented", postgresError{"0A000", "ERROR", "transformStmt"}, Reply{class: Permanent, Refused: true}},
		{"no SQLSTATE", sqlState(""), Reply{}},
		{"malformed", sqlState("4000"), Reply{}},

		{"deadlock", mysqlReply(1213, "40001"), Reply{class: Transient, Refused: true}},
		{"idle", mysqlReply(4031, "HY000"), Reply{class: Transient, Refused: true}},
		{"packet not read", mysqlReply(1158, "08S01"), Reply{class: Transient}},
		{"response not written", mysqlReply(1160, "08S01"), Reply{class: Transient, unrepeatable: true}},
		{"statement to be prepared again", mysqlReply(1615, "HY000"), Reply{class: Transient, Refused: true}},
		{"read-only transaction", mysqlReply(1792, "25006"), Reply{class: Transient, ReadOnly: true, Refused: true}},
		{"too slow", mysqlReply(3024, "HY000"), Reply{class: TimedOut, Refused: true}},
		{"unknown error", mysqlReply(1105, "HY000"), Reply{}},
		{"conflict of TiDB", mysqlReply(9007, "HY000"), Reply{class: Transient, Refused: true}},
		{"region of TiDB", mysqlReply(9005, "HY000"), Reply{class: Transient}},
		{"duplicate key", mysqlReply(1062, "23000"), Reply{class: Permanent, Refused: true}},
		{"schema of TiDB out of date", mysqlReply(8027, "HY000"), Reply{class: Transient, Refused: true}},
		{"offline mode", mysqlReply(3032, "HY000"), Reply{class: Transient, Leaves: true}},
		{"not available", mysqlReply(3168, "HY000"), Reply{class: Transient, Leaves: true}},
		{"shutdown of MySQL", mysqlReply(1053, "08S01"), Reply{class: Transient, Leaves: true}},
		{"temporary error of NDB", mysqlReply(1297, "HY000"), Reply{class: Transient}},
		{"group replication", mysqlReply(3100, "HY000"), Reply{class: Transient}},

		{"range of CockroachDB", sqlState("58C00"), Reply{class: Transient}},
		{"nodes of CockroachDB", sqlState("58C01"), Reply{class: Transient}},
		{"shutdown", postgresError{"57P01", "FATAL", ""}, Reply{class: Transient, Leaves: true}},
	} {
		got, ok := ReplyOf(tt.err)
		assert.True(t, ok, tt.name)
		assert.Equal(t, tt.want, got, tt.name)
	}
	_, ok := ReplyOf(errors.New("other"))
	assert.False(t, ok)
}
