package known

// Databases, caches, search engines and object stores.

var storeTexts = []textRow{
	// gocb 2.11.1 with gocbcore 10.8.1; mongo-driver 2.10.0; tikv's client-go 2.0.4: the write may
	// have been applied.
	{unrepeatable, "", `
		durability ambiguous
		unacknowledged write
		execution result undetermined`},

	// goleveldb 1.0.0, pebble 1.1.5 and gorqlite: what a closed or a read-only database refuses.
	{permanent, "leveldb", `
		closed
		read-only mode
		snapshot released
		transaction already closed
		resource already relesed`},
	{permanent, "pebble", `
		closed
		read-only
		batch not indexed
		not found`},
	{permanent, "gorqlite", "connection is closed"},

	// go-pg 10.11.0, internal/error.go; bun's pgdriver 1.2.18; pq 1.12.3.
	{permanent, "pg", `
		multiple rows in result set
		no rows in result set
		transaction has already been committed or rolled back
		Model(nil)
		end of hstore
		end of composite
		listener is closed`},
	{permanent, "bun", `
		Model(nil)
		string contains a NUL byte (0x00)`},
	{permanent, "pq", `
		COPY is only allowed inside a transaction
		could not detect default username; *
		private key has *
		ListenerConn has been closed
		could not complete operation in a failed transaction
		channel is already open
		channel is not open
		only text format supported for COPY`},
	{permanent, "sqlite", "statement has *"},

	// zk 1.0.4, gomemcache, go-redis 9.23.0.
	{permanent, "zk", `
		trying to acquire a lock twice
		not locked
		encode/decode expect *
		buffer too small`},
	{permanent, "memcache", "compare-and-swap conflict"},
	{permanent, "redis", `
		Watch requires *
		Submit requires *
		FDPipelined *
		* is not allowed *
		no commands to aggregate
		invalid cursor ID type
		FT.CURSOR command requires *
		Wait on a zero AutoFuture`},
	{throttled, "redis", "autopipeline: queue full *"},

	// clickhouse-go 2.50.0.
	{permanent, "clickhouse", `
		batch has already been sent
		batch is invalid. check appended data is correct
		no valid address supplied
		invalid retry, batch not sent yet
		cluster secret *
		QueryFormat and InsertFormat are only supported *`},
	{timeout, "clickhouse", "acquire conn timeout. *"},

	// ent 0.14.5, privacy; scany 2.1.4; guregu/dynamo 2.1.1; atlas 0.32.1, sql/migrate and
	// sql/schema; firestore; etcd's client 3.7.3 and raft 3.7.0; otter 2.
	{permanent, "ent/privacy", "deny rule"},
	{permanent, "scany", "no row was found"},
	{permanent, "dynamo", `
		no item found
		too many items`},
	{permanent, "sql/migrate", `
		no plan for matched states
		no pending migration files`},
	{transient, "sql/schema", "lock is held by other session"},
	{permanent, "firestore", `
		write in read-only transaction
		read after write in transaction
		nested transaction
		ID in DocumentRef contains *
		* available only after the iterator reaches the end`},
	{permanent, "etcdclient", "old cluster version"},
	{permanent, "raft", `
		stopped
		cannot step *`},
	{permanent, "otter", "the entry was not found in the data source"},

	// redsync 4.18.1 and redislock 0.9.4: a lock that is not held any more cannot be extended
	// or released, and one that others hold may be released.
	{permanent, "redsync", `
		failed to extend lock
		failed to unlock, lock was already expired`},
	{permanent, "redislock", "lock not held"},
	{transient, "redislock", "not obtained"},
	{transient, "redsync", "failed to acquire lock"},
}

var storeTypes = []typeRow{
	{permanent, "github.com/gocql/gocql.MarshalError"},
	{permanent, "github.com/gocql/gocql.UnmarshalError"},
	{permanent, "github.com/golang-migrate/migrate.ErrDirty"},
	{permanent, "github.com/golang-migrate/migrate.ErrShortLimit"},

	// bigquery 1.86.2: the rows that were refused; Put retries what may succeed.
	{permanent, "cloud.google.com/go/bigquery.PutMultiError"},

	// spanner 1.96.1: the commit may have succeeded.
	{unrepeatable, "cloud.google.com/go/spanner.TransactionOutcomeUnknownError"},

	// mongo-driver 2.10.0: what cannot be encoded or decoded.
	{permanent, "go.mongodb.org/mongo-driver/mongo.MarshalError"},
	{permanent, "go.mongodb.org/mongo-driver/mongo.InvalidArgumentError"},
	{permanent, "go.mongodb.org/mongo-driver/mongo.ErrMapForOrderedArgument"},
	{permanent, "go.mongodb.org/mongo-driver/internal/codecutil.MarshalError"},
	{permanent, "go.mongodb.org/mongo-driver/bson.DecodeError"},
	{permanent, "go.mongodb.org/mongo-driver/bson.ValueEncoderError"},
	{permanent, "go.mongodb.org/mongo-driver/bson.ValueDecoderError"},
	{permanent, "go.mongodb.org/mongo-driver/bson.errNoEncoder"},
	{permanent, "go.mongodb.org/mongo-driver/bson.errNoDecoder"},
	{permanent, "go.mongodb.org/mongo-driver/bson.errMaxDocumentSizeExceeded"},

	// neo4j-go-driver 5.28.4: a limit of the transaction functions' own retries.
	{permanent, "github.com/neo4j/neo4j-go-driver/neo4j/internal/errorutil.TransactionExecutionLimit"},
	{permanent, "github.com/neo4j/neo4j-go-driver/neo4j/internal/errorutil.UsageError"},
	{permanent, "github.com/neo4j/neo4j-go-driver/neo4j.InvalidAuthenticationError"},
	{permanent, "github.com/neo4j/neo4j-go-driver/neo4j/db.FeatureNotSupportedError"},
	{permanent, "github.com/neo4j/neo4j-go-driver/neo4j/db.UnsupportedTypeError"},

	// pgx 5.12.0 and clickhouse-go 2.50.0: values that do not fit their columns.
	{permanent, "github.com/jackc/pgx.ScanArgError"},
	{permanent, "github.com/jackc/pgx.ErrPreprocessingBatch"},
	{permanent, "github.com/jackc/pgx/pgtype.nullAssignmentError"},
	{permanent, "github.com/ClickHouse/clickhouse-go/lib/column.Error"},
	{permanent, "github.com/ClickHouse/clickhouse-go/lib/column.ColumnConverterError"},
	{permanent, "github.com/ClickHouse/clickhouse-go/lib/column.UnsupportedColumnTypeError"},
	{permanent, "github.com/ClickHouse/clickhouse-go/lib/proto.BlockError"},

	// goleveldb 1.0.0.
	{permanent, "github.com/syndtr/goleveldb/leveldb/errors.ErrCorrupted"},

	// goleveldb 1.0.0: files that are damaged.
	{permanent, "github.com/syndtr/goleveldb/leveldb.ErrBatchCorrupted"},
	{permanent, "github.com/syndtr/goleveldb/leveldb.ErrInternalKeyCorrupted"},
	{permanent, "github.com/syndtr/goleveldb/leveldb.ErrManifestCorrupted"},
	{permanent, "github.com/syndtr/goleveldb/leveldb/errors.ErrMissingFiles"},
	{permanent, "github.com/syndtr/goleveldb/leveldb/journal.ErrCorrupted"},
	{permanent, "github.com/syndtr/goleveldb/leveldb/storage.ErrCorrupted"},
	{permanent, "github.com/syndtr/goleveldb/leveldb/table.ErrCorrupted"},

	// redsync 4.18.1: others hold the lock.
	{transient, "github.com/go-redsync/redsync.ErrTaken"},
	{transient, "github.com/go-redsync/redsync.ErrNodeTaken"},

	// ORMs and migrations: ent 0.14.5, bun 1.3.0, xorm 1.4.3, goqu 9.19.0, gorp 3.1.0,
	// migrate 4.20.1, sql-migrate 1.8.1, atlas 0.32.1.
	{permanent, "entgo.io/ent/dialect/sql/sqlgraph.ConstraintError"},
	{permanent, "github.com/uptrace/bun/dialect/feature.NotSupportError"},
	{permanent, "xorm.io/xorm/internal/statements.*"},
	{permanent, "xorm.io/xorm.ErrFieldIsNotExist"},
	{permanent, "xorm.io/xorm.ErrFieldIsNotValid"},
	{permanent, "github.com/doug-martin/goqu/internal/errors.Error"},
	{permanent, "github.com/go-gorp/gorp.NoFieldInTypeError"},
	{permanent, "github.com/go-gorp/gorp.OptimisticLockError"},
	{permanent, "github.com/golang-migrate/migrate/source.ErrDuplicateMigration"},
	{permanent, "github.com/rubenv/sql-migrate.PlanError"},
	{permanent, "ariga.io/atlas/sql/migrate.ChecksumError"},
	{permanent, "ariga.io/atlas/sql/migrate.HistoryChangedError"},
	{permanent, "ariga.io/atlas/sql/migrate.HistoryNonLinearError"},
	{permanent, "ariga.io/atlas/sql/migrate.MissingMigrationError"},
	{permanent, "ariga.io/atlas/sql/migrate.NotCleanError"},
	{permanent, "ariga.io/atlas/sql/schema.NotExistError"},

	// pgx 5.12.0, go-mssqldb 1.11.2, godror 0.40.4.
	{permanent, "github.com/jackc/pgx/pgconn.ParseConfigError"},
	{permanent, "github.com/jackc/pgx/pgconn.sslCertModeError"},
	{transient, "github.com/microsoft/go-mssqldb.RetryableError"},
	{permanent, "github.com/microsoft/go-mssqldb/aecmk/localcert.InvalidCertificatePathError"},
	{permanent, "github.com/godror/godror.CompileError"},

	// mongo-driver 2.10.0 and 1.17.10.
	{permanent, "go.mongodb.org/mongo-driver/mongo.MongocryptError"},
	{permanent, "go.mongodb.org/mongo-driver/bson.TransitionError"},
	{permanent, "go.mongodb.org/mongo-driver/bson.errNoTypeMapEntry"},
	{permanent, "go.mongodb.org/mongo-driver/bson.decodeBinaryError"},
	{permanent, "go.mongodb.org/mongo-driver/bson.vectorTypeError"},
	{permanent, "go.mongodb.org/mongo-driver/bson/bsoncodec.*"},
	{permanent, "go.mongodb.org/mongo-driver/bson/bsonrw.*"},
	{permanent, "go.mongodb.org/mongo-driver/x/bsonx/bsoncore.*"},
	{permanent, "go.mongodb.org/mongo-driver/x/mongo/driver.InvalidOperationError"},

	// gocb 2.11.1: the transaction was committed, or may have been.
	{permanent, "github.com/couchbase/gocb.invalidArgumentsError"},
	{unrepeatable, "github.com/couchbase/gocb.TransactionCommitAmbiguousError"},
	{unrepeatable, "github.com/couchbase/gocb.TransactionFailedPostCommit"},

	// cassandra-gocql-driver 2.1.2, neo4j-go-driver 5.28.4, go-driver of ArangoDB 2.4.1.
	{permanent, "github.com/apache/cassandra-gocql-driver.MarshalError"},
	{permanent, "github.com/apache/cassandra-gocql-driver.UnmarshalError"},
	{permanent, "github.com/apache/cassandra-gocql-driver.unsupportedProtocolVersionError"},
	{permanent, "github.com/neo4j/neo4j-go-driver/neo4j/internal/errorutil.PoolClosed"},
	{permanent, "github.com/neo4j/neo4j-go-driver/neo4j/internal/packstream.OverflowError"},
	{permanent, "github.com/neo4j/neo4j-go-driver/neo4j/internal/packstream.UnpackError"},
	{permanent, "github.com/arangodb/go-driver/arangodb/shared.NoMoreDocumentsError"},

	// rethinkdb-go 6.2.1, errors.go.
	{permanent, "gopkg.in/rethinkdb/rethinkdb-go.RQLCompileError"},
	{permanent, "gopkg.in/rethinkdb/rethinkdb-go.RQLDriverCompileError"},
	{permanent, "gopkg.in/rethinkdb/rethinkdb-go.RQLServerCompileError"},
	{permanent, "gopkg.in/rethinkdb/rethinkdb-go.RQLAuthError"},
	{permanent, "gopkg.in/rethinkdb/rethinkdb-go.RQLQueryLogicError"},
	{permanent, "gopkg.in/rethinkdb/rethinkdb-go.RQLNonExistenceError"},
	{permanent, "gopkg.in/rethinkdb/rethinkdb-go.RQLUserError"},
	{throttled, "gopkg.in/rethinkdb/rethinkdb-go.RQLResourceLimitError"},
	{transient, "gopkg.in/rethinkdb/rethinkdb-go.RQLOpFailedError"},
	{unrepeatable, "gopkg.in/rethinkdb/rethinkdb-go.RQLOpIndeterminateError"},

	// client-go of TiKV 2.0.4, error.go: a new transaction may succeed.
	{transient, "github.com/tikv/client-go/error.ErrDeadlock"},
	{transient, "github.com/tikv/client-go/error.ErrWriteConflict"},
	{transient, "github.com/tikv/client-go/error.ErrWriteConflictInLatch"},
	{transient, "github.com/tikv/client-go/error.ErrRetryable"},
	{throttled, "github.com/tikv/client-go/error.ErrTokenLimit"},
	{permanent, "github.com/tikv/client-go/error.ErrKeyExist"},
	{permanent, "github.com/tikv/client-go/error.ErrTxnTooLarge"},
	{permanent, "github.com/tikv/client-go/error.ErrEntryTooLarge"},
	{permanent, "github.com/tikv/client-go/error.ErrAssertionFailed"},
	{permanent, "github.com/tikv/client-go/error.ErrLockOnlyIfExistsNoReturnValue"},
	{permanent, "github.com/tikv/client-go/error.ErrLockOnlyIfExistsNoPrimaryKey"},

	// rclone 1.76.0, fs/fserrors; minio-go 7.4.1.
	{permanent, "github.com/rclone/rclone/fs/fserrors.wrappedFatalError"},
	{permanent, "github.com/rclone/rclone/fs/fserrors.wrappedNoRetryError"},
	{transient, "github.com/rclone/rclone/fs/fserrors.wrappedRetryError"},
	{transient, "github.com/rclone/rclone/fs/fserrors.retryError"},
	{permanent, "github.com/rclone/rclone/fs.FileTooSmallError"},
	{permanent, "github.com/rclone/rclone/fs/rc.ErrParamNotFound"},
	{permanent, "github.com/minio/minio-go/pkg/tags.errTag"},

	// aliyun-oss-go-sdk 3.0.2: the transfer was damaged.
	{transient, "github.com/aliyun/aliyun-oss-go-sdk/oss.CRCCheckError"},
}

var storeFields = []fieldRow{
	// gocbcore 10.8.1: the operation may or may not have been applied, or was not.
	{unrepeatable, "github.com/couchbase/gocbcore.dwError", "Message", "ambiguous timeout"},
	{timeout, "github.com/couchbase/gocbcore.dwError", "Message", "unambiguous timeout"},

	// aerospike-client-go 8.5.0, types/result_code.go and baseCommand.executeAt. In doubt
	// means that a write was sent and may have been applied.
	{unrepeatable, "github.com/aerospike/aerospike-client-go.AerospikeError", "InDoubt", "true"},
	{timeout, "github.com/aerospike/aerospike-client-go.AerospikeError", "ResultCode", "9|212"},
	{throttled, "github.com/aerospike/aerospike-client-go.AerospikeError", "ResultCode", "-15|8|14|18|83|152|211"},
	{transient, "github.com/aerospike/aerospike-client-go.AerospikeError", "ResultCode",
		"-21|-20|-19|-18|-17|-16|-12|-11|-8|-3|1|11|15|28|32|66|120|121|202|203|204|210|213|214"},
	{permanent, "github.com/aerospike/aerospike-client-go.AerospikeError", "ResultCode", ""},
	{permanent, "github.com/aerospike/aerospike-client-go.constAerospikeError", "AerospikeError.ResultCode", "2|4|27|51|54|60|80|-1|-9"},

	// gosnowflake 1.19.1, errors.go: the configuration, the files of a stage and conversions.
	// Snowflake refuses a password with the class of SQLSTATE that failed connections have.
	{transient, "github.com/snowflakedb/gosnowflake.SnowflakeError", "Number", "260005|260007|260008|279301|390111|390112"},
	{permanent, "github.com/snowflakedb/gosnowflake.SnowflakeError", "Number",
		"260*|264001|264004|264005|264006|264007|264008|264009|264011|264012|268*|269001|390100|390189|390201"},

	// bigquery 1.86.2, defaultRetryReasons and jobRetryReasons; cloud.google.com/bigquery,
	// error messages.
	{throttled, "cloud.google.com/go/bigquery.Error", "Reason", "rateLimitExceeded|jobRateLimitExceeded"},
	{transient, "cloud.google.com/go/bigquery.Error", "Reason", "backendError|internalError|jobBackendError|jobInternalError|tableUnavailable"},
	{timeout, "cloud.google.com/go/bigquery.Error", "Reason", "timeout"},
	{permanent, "cloud.google.com/go/bigquery.Error", "Reason",
		"accessDenied|billing*|blocked|duplicate|invalid*|notFound|notImplemented|quotaExceeded|required|resourceInUse|resourcesExceeded|responseTooLarge|stopped"},

	// go-driver of ArangoDB 2.4.1, shared/error.go: conflicts of transactions and locks have
	// the status 409; 503 is retried by RetryOn503.
	{transient, "github.com/arangodb/go-driver/arangodb/shared.ArangoError", "ErrorNum", "18|28|29|1200|1521"},
	{byStatus, "github.com/arangodb/go-driver/arangodb/shared.ArangoError", "Code", ""},

	// surrealdb.go 1.3.0 has the server's texts.
	{transient, "github.com/surrealdb/surrealdb.go.QueryError", "Message", "*can be retried*"},
	{permanent, "github.com/surrealdb/surrealdb.go/pkg/connection.RPCError", "Message", "*Parse error*|*problem with authentication*|*ermission*|*already exists*"},

	// go-client of Qdrant 1.17.1; the wait is in its field RetryAfterS.
	{throttled, "github.com/qdrant/go-client/qdrant.QdrantResourceExhaustedError", "", ""},

	// milvus-sdk-go 2.4.2, merr/errors.go.
	{throttled, "github.com/milvus-io/milvus-sdk-go/merr.milvusError", "errCode", "3|4|8"},
	{transient, "github.com/milvus-io/milvus-sdk-go/merr.milvusError", "retriable", "true"},
	{permanent, "github.com/milvus-io/milvus-sdk-go/merr.milvusError", "errCode",
		"7|9|10|100|101|102|200|201|300|500|600|700|701|702|800|801|802|1000|1100|1200|1300|1301|1400|1401|1600|1601|1602|1700|1701|18*"},

	// kivik 4.5.2, errors.Error and CompositeError, which begins with its status.
	{byStatus, "github.com/go-kivik/kivik/int/errors.Error", "Status", ""},
	{permanent, "github.com/go-kivik/kivik/int/errors.CompositeError", "", "4*|501*|503 client closed|503 database closed"},
	{byStatus, "github.com/go-kivik/kivik/couchdb.replicationError", "status", ""},
	{byWord, "github.com/go-kivik/kivik/couchdb.bulkGetError", "Err", ""},

	// gocloud.dev 0.47.0, gcerrors.ErrorCode.
	{permanent, "gocloud.dev/internal/gcerr.Error", "Code", "2|3|4|6|7|8"},
	{throttled, "gocloud.dev/internal/gcerr.Error", "Code", "9"},
	{timeout, "gocloud.dev/internal/gcerr.Error", "Code", "11"},

	// blazer 0.7.2, base.Action: 401 is followed by a new authorization and a repetition,
	// except of the authorization itself.
	{throttled, "github.com/Backblaze/blazer/base.b2err", "code", "429"},
	{permanent, "github.com/Backblaze/blazer/base.b2err", "msgCode", "bad_auth_token"},
	{byStatus, "github.com/Backblaze/blazer/base.b2err", "code", ""},

	// aliyun-oss-go-sdk 3.0.2, UnexpectedStatusCodeError.
	{byStatus, "github.com/aliyun/aliyun-oss-go-sdk/oss.UnexpectedStatusCodeError", "got", ""},

	// swift 2.0.5: 498 is Swift's limit of requests.
	{throttled, "github.com/ncw/swift.Error", "StatusCode", "498"},

	// bleve 2.6.3, error.go.
	{transient, "github.com/blevesearch/bleve.Error", "", "9|10"},
	{permanent, "github.com/blevesearch/bleve.Error", "", ""},

	// godror 0.40.4, with the numbers of the Oracle driver that DefaultClassifier knows.
	{none, "github.com/godror/godror.OraErr", "code", "0"},
	{unrepeatable, "github.com/godror/godror.OraErr", "code", "3113|3114|3135|25408"},
	{transient, "github.com/godror/godror.OraErr", "code",
		"28|54|60|1012|1033|1034|1089|1090|1092|1555|4021|4068|8177|12170|12514|12528|12537|12541|12545|30006"},
	{throttled, "github.com/godror/godror.OraErr", "code", "18|20|12516|12519|12520"},
	{permanent, "github.com/godror/godror.OraErr", "code", ""},

	// hdfs 2.4.0: the name of the name node's exception.
	{transient, "github.com/colinmarc/hdfs/internal/rpc.NamenodeError", "exception",
		"*.SafeModeException|*.RetriableException|*.StandbyException|*.NotReplicatedYetException|*.AlreadyBeingCreatedException"},
	{permanent, "github.com/colinmarc/hdfs/internal/rpc.NamenodeError", "exception",
		"*.AccessControlException|*.File*Exception|*.ParentNotDirectoryException|*QuotaExceededException|*.UnresolvedPathException|*.Invalid*Exception|*.PathIsNotEmptyDirectoryException"},

	// rqlite/gorqlite: SQLite's texts.
	{permanent, "github.com/rqlite/gorqlite.StatementError", "Message", "*constraint failed*|*syntax error*|no such *|*already exists|*datatype mismatch*"},

	// mgo, session.go: the server's codes.
	{permanent, "github.com/globalsign/mgo.LastError", "Code", "2|9|13|14|121|11000|11001|12582"},
	{permanent, "github.com/globalsign/mgo.QueryError", "Code", "2|9|13|14|26|48|59|121|11000|11001|12582"},

	// duckdb-go 2, errors.go, with the numbers of duckdb.h.
	{transient, "github.com/duckdb/duckdb-go.Error", "Type", "10"},
	{permanent, "github.com/duckdb/duckdb-go.Error", "Type", duckDBMistakes},
	{transient, "github.com/marcboeker/go-duckdb.Error", "Type", "10"},
	{permanent, "github.com/marcboeker/go-duckdb.Error", "Type", duckDBMistakes},
}

const duckDBMistakes = "1|2|3|5|6|7|8|11|12|13|14|15|18|22|23|24|26|27|32|34|35|36|39|42"
