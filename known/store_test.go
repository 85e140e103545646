package known

import (
	"errors"
	"testing"

	"github.com/gobackoff/retry"
)

func TestStore(t *testing.T) {
	check(t, []errorCase{
		{"goleveldb, closed", errors.New("leveldb: closed"), retry.ClassPermanent},
		{"redislock, held by others", errors.New("redislock: not obtained"), retry.ClassTransient},
		{"redislock, lost", errors.New("redislock: lock not held"), retry.ClassPermanent},
	})
	const (
		aerospike = "github.com/aerospike/aerospike-client-go.AerospikeError"
		snowflake = "github.com/snowflakedb/gosnowflake.SnowflakeError"
		bigquery  = "cloud.google.com/go/bigquery.Error"
		arango    = "github.com/arangodb/go-driver/arangodb/shared.ArangoError"
		milvus    = "github.com/milvus-io/milvus-sdk-go/merr.milvusError"
	)
	checkForeign(t, []foreignCase{
		{aerospike, aerospikeError{ResultCode: 2}, permanent},
		{aerospike, aerospikeError{ResultCode: 9}, timeout},
		{aerospike, aerospikeError{ResultCode: 9, InDoubt: true}, unrepeatable},
		{aerospike, aerospikeError{ResultCode: 18}, throttled},
		{aerospike, aerospikeError{ResultCode: -18}, transient},
		{snowflake, snowflakeError{Number: 390100}, permanent},
		{snowflake, snowflakeError{Number: 260001}, permanent},
		{snowflake, snowflakeError{Number: 260008}, transient},
		{snowflake, snowflakeError{Number: 2003}, none},
		{bigquery, reason{Reason: "invalidQuery"}, permanent},
		{bigquery, reason{Reason: "backendError"}, transient},
		{bigquery, reason{Reason: "jobRateLimitExceeded"}, throttled},
		{"cloud.google.com/go/bigquery.PutMultiError", errors.New("row 1"), permanent},
		{"cloud.google.com/go/spanner.TransactionOutcomeUnknownError", errors.New("unknown"), unrepeatable},
		{arango, arangoError{ErrorNum: 1200, Code: 409}, transient},
		{arango, arangoError{ErrorNum: 1210, Code: 409}, permanent},
		{milvus, milvusError{errCode: 8, retriable: true}, throttled},
		{milvus, milvusError{errCode: 103, retriable: true}, transient},
		{milvus, milvusError{errCode: 1806}, permanent},
		{"gocloud.dev/internal/gcerr.Error", snowflakeError{Code: 2}, permanent},
		{"gocloud.dev/internal/gcerr.Error", snowflakeError{Code: 5}, none},
		{"github.com/couchbase/gocbcore.dwError", message{Message: "ambiguous timeout"}, unrepeatable},
		{"github.com/surrealdb/surrealdb.go.QueryError", message{Message: "conflict. This transaction can be retried"}, transient},
		{"github.com/blevesearch/bleve.Error", number(0), permanent},
		{"github.com/blevesearch/bleve.Error", number(9), transient},
		{"github.com/godror/godror.OraErr", oraErr{}, none},
		{"github.com/godror/godror.OraErr", oraErr{code: 1}, permanent},
		{"github.com/godror/godror.OraErr", oraErr{code: 60}, transient},
		{"github.com/godror/godror.OraErr", oraErr{code: 3113}, unrepeatable},
		{"github.com/colinmarc/hdfs/internal/rpc.NamenodeError", nameNode{"org.apache.hadoop.hdfs.server.namenode.SafeModeException", nil}, transient},
		{"github.com/colinmarc/hdfs/internal/rpc.NamenodeError", nameNode{"org.apache.hadoop.security.AccessControlException", nil}, permanent},
		{"github.com/colinmarc/hdfs/internal/rpc.NamenodeError", nameNode{"java.io.IOException", nil}, none},
		{"github.com/rqlite/gorqlite.StatementError", message{Message: "UNIQUE constraint failed: t.a"}, permanent},
		{"github.com/rqlite/gorqlite.StatementError", message{Message: "database is locked"}, none},
		{"github.com/globalsign/mgo.QueryError", snowflakeError{Code: 13}, permanent},
		{"github.com/duckdb/duckdb-go.Error", duckDBError{Type: 10}, transient},
		{"github.com/duckdb/duckdb-go.Error", duckDBError{Type: 18}, permanent},
		{"github.com/duckdb/duckdb-go.Error", duckDBError{Type: 28}, none},
		{"github.com/globalsign/mgo.QueryError", snowflakeError{Code: 10107}, none},
		{"github.com/couchbase/gocb.TransactionCommitAmbiguousError", leaf{"ambiguous"}, unrepeatable},
		{"gopkg.in/rethinkdb/rethinkdb-go.RQLOpIndeterminateError", leaf{"unknown"}, unrepeatable},
	})
}

// A leaf is an error of another type than that of errors.New.
type leaf struct{ text string }

func (l leaf) Error() string { return l.text }
func (leaf) Unwrap() error   { return nil }

type (
	aerospikeError struct {
		ResultCode int
		InDoubt    bool
		error
	}
	snowflakeError struct {
		Number, Code int
		error
	}
	arangoError struct {
		Code, ErrorNum int
		error
	}
	milvusError struct {
		errCode   int32
		retriable bool
		error
	}
	duckDBError struct {
		Type int
		error
	}
	oraErr struct {
		code int
		error
	}
	nameNode struct {
		exception string
		error
	}
	message struct {
		Message string
		error
	}
	number int
)

func (number) Error() string { return "number" }
