package known

// Databases, caches, search engines and object stores.

var storeTexts = []textRow{
	// gocql 1.7.0, session.go.
	{permanent, "no keyspace provided"},
	{permanent, "gocql: Scan called without calling Next"},
	{permanent, "keyspace does not exist"},
	{permanent, "session has been closed"},
	{permanent, "use statements aren't supported. *"},
	{permanent, "gocql: query argument length mismatch"},
	{permanent, "frame length is bigger than the maximum allowed"},
	{permanent, "too many statements"},
	{permanent, "no hosts provided"},
	{permanent, "UDT are not available on protocols less than 3, please update config"},

	// gocb 2.11.1 with gocbcore 10.8.1, retry.go: the reasons for which the client retries.
	{permanent, "document exists"},
	{permanent, "bucket exists"},
	{permanent, "scope exists"},
	{permanent, "scope not found"},
	{permanent, "collection exists"},
	{permanent, "user exists"},
	{permanent, "index exists"},
	{permanent, "dataset exists"},
	{permanent, "dataset not found"},
	{permanent, "dataverse exists"},
	{permanent, "dataverse not found"},
	{permanent, "view not found"},
	{permanent, "cas mismatch"},
	{permanent, "authentication failure - possible reasons *"},
	{permanent, "an invalid set of credentials was provided"},
	{permanent, "parsing failure"},
	{permanent, "encoding failure"},
	{permanent, "decoding failure"},
	{permanent, "compilation failure"},
	{permanent, "feature is not available"},
	{permanent, "collections are not enabled"},
	{permanent, "document not locked"},
	{permanent, "document not json"},
	{permanent, "value not json"},
	{permanent, "value invalid"},
	{permanent, "value too deep"},
	{permanent, "path exists"},
	{permanent, "path mismatch"},
	{permanent, "path invalid"},
	{permanent, "path too deep"},
	{permanent, "delta invalid"},
	{permanent, "durability level not available"},
	{permanent, "xattr invalid *"},
	{permanent, "xattr unknown *"},
	{permanent, "xattr cannot modify virtual attribute"},
	{permanent, "bucket not flushable"},
	{permanent, "memdclient closed"},
	{throttled, "quota limited failure"},
	{throttled, "job queue full"},
	{throttled, "queue overflowed"},
	{unrepeatable, "durability ambiguous"},

	// goleveldb 1.0.0, buntdb 1.3.0, pebble 1.1.5 and blazer 0.7.2: what a closed or a
	// read-only database refuses.
	{permanent, "leveldb: closed"},
	{permanent, "leveldb: read-only mode"},
	{permanent, "leveldb: iterator released"},
	{permanent, "leveldb: snapshot released"},
	{permanent, "leveldb: transaction already closed"},
	{permanent, "database closed"},
	{permanent, "tx closed"},
	{permanent, "tx not writable"},
	{permanent, "tx is iterating"},
	{permanent, "invalid sync policy"},
	{permanent, "pebble: closed"},
	{permanent, "pebble: read-only"},
	{permanent, "pebble: batch not indexed"},

	// gorqlite, conn.go and write.go: SQLite's texts of violated constraints.
	{permanent, "gorqlite: connection is closed"},
	{permanent, "UNIQUE constraint failed: *"},
	{permanent, "NOT NULL constraint failed: *"},
	{permanent, "CHECK constraint failed: *"},
	{permanent, "FOREIGN KEY constraint failed"},
	{permanent, "near \"*\": syntax error"},

	// migrate 4.20.1, migrate.go; goose 3.29.0, provider_errors.go.
	{permanent, "no change"},
	{permanent, "no migration"},
	{permanent, "version must be >= -1"},
	{permanent, "no migrations found"},
	{permanent, "no migration files found"},
	{permanent, "no current version found"},
	{permanent, "no next version found"},
	{permanent, "version not found"},
	{permanent, "migration already applied"},
	{permanent, "migration not applied"},

	// go-pg 10.11.0, internal/error.go; bun's pgdriver 1.2.18.
	{permanent, "pg: multiple rows in result set"},
	{permanent, "pg: transaction has already been committed or rolled back"},
	{permanent, "pg: database is closed"},
	{permanent, "pg: statement is closed"},

	// rueidis 1.0.79 and valkey-go 1.0.79.
	{permanent, "dedicated client should not be used after recycled"},
	{permanent, "MSETNX: no key was set"},
	{permanent, "cache unmarshal error"},
	{permanent, "unknown redis mode*"},

	// bigcache 3.1.0, freecache 1.2.7, go-redis/cache 9.0.0.
	{permanent, "entry is bigger than max shard size"},
	{permanent, "The key is larger than 65535"},
	{permanent, "The entry size is larger than 1/1024 of cache size"},
	{permanent, "cache: key is missing"},

	// blob stores: gocloud.dev 0.47.0, gcerrors; storj.io/uplink 1.14.5, the comments of its
	// errors; go-sdk of Qiniu 7.11.0.
	{permanent, "bucket name invalid"},
	{permanent, "bucket not empty"},
	{permanent, "object key invalid"},
	{permanent, "upload ID invalid"},
	{permanent, "upload done"},
	{permanent, "storage limit exceeded"},
	{permanent, "segments limit exceeded"},
	{permanent, "bucket not exist"},
	{permanent, "SAS can only be signed with a SharedKeyCredential"},

	// bbolt 1.5.0 and badger 4.9.6, errors.go.
	{permanent, "database not open"},
	{permanent, "database is in read-only mode"},
	{permanent, "bucket name required"},
	{permanent, "key required"},
	{permanent, "incompatible value"},
	{permanent, "the source and target *"},
	{permanent, "DB Closed"},
	{permanent, "Txn is too big to fit into one request"},
	{permanent, "No sets or deletes are allowed in a read-only transaction"},
	{permanent, "This transaction has been discarded. Create a new one"},
	{permanent, "Key cannot be empty"},
	{permanent, "Key is using *"},
	{permanent, "Encryption key*"},
	{permanent, "manifest has *"},
	{permanent, "Cannot run value log GC when DB is opened in *"},
	{permanent, "Value log GC attempt didn't result in any cleanup"},

	// mongo-driver 2.10.0, mongo/errors.go, x/mongo/driver/session and topology.
	{permanent, "client is disconnected"},
	{permanent, "topology is closed"},
	{permanent, "ended session was used"},
	{permanent, "no transaction started"},
	{permanent, "transaction already in progress"},
	{permanent, "cannot call *Transaction after calling *Transaction"},
	{permanent, "document is nil"},
	{permanent, "must provide at least one element in input slice"},
	{permanent, "must provide a non-empty slice"},
	{permanent, "multiple indexes would be dropped"},
	{permanent, "file with given parameters not found"},
	{permanent, "the provided hex string is not a valid ObjectID"},
	{permanent, "this MongoDB deployment does not support retryable writes. *"},
	{unrepeatable, "unacknowledged write"},

	// go-sql-driver/mysql 1.10.1, errors.go and dsn.go; pq 1.12.3; pgx 5.12.0.
	{permanent, "invalid DSN: *"},
	{permanent, "this user requires *"},
	{permanent, "MySQL server does not support required protocol 41+"},
	{permanent, "TLS requested but server does not support TLS"},
	{permanent, "pq: SSL is not enabled on the server"},
	{permanent, "pq: COPY is only allowed inside a transaction"},
	{permanent, "pq: could not detect default username; *"},
	{permanent, "pq: private key has *"},
	{permanent, "pq: ListenerConn has been closed"},

	// raft 1.8.0, zk 1.0.4, gomemcache, go-redis 9.23.0.
	{permanent, "raft is already shutdown"},
	{permanent, "bootstrap only works on new clusters"},
	{permanent, "nothing new to snapshot"},
	{permanent, "operation not supported with current protocol version"},
	{permanent, "node is not a voter"},
	{permanent, "zk: trying to acquire a lock twice"},
	{permanent, "zk: not locked"},
	{permanent, "memcache: compare-and-swap conflict"},
	{permanent, "redis: Watch requires *"},

	// clickhouse-go 2.50.0, clickhouse.go.
	{permanent, "clickhouse: batch has already been sent"},
	{permanent, "clickhouse: batch is invalid. check appended data is correct"},
	{permanent, "clickhouse: no valid address supplied"},
	{timeout, "clickhouse: acquire conn timeout. *"},
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
	{permanent, "github.com/surrealdb/surrealdb.go/pkg/connection.RPCError", "Code", "-32700|-32602|-32601|-32600"},

	// go-client of Qdrant 1.17.1; the wait is in its field RetryAfterS.
	{throttled, "github.com/qdrant/go-client/qdrant.QdrantResourceExhaustedError", "", ""},

	// milvus-sdk-go 2.4.2, merr/errors.go.
	{throttled, "github.com/milvus-io/milvus-sdk-go/merr.milvusError", "errCode", "3|4|8"},
	{transient, "github.com/milvus-io/milvus-sdk-go/merr.milvusError", "retriable", "true"},
	{permanent, "github.com/milvus-io/milvus-sdk-go/merr.milvusError", "errCode",
		"7|9|10|100|101|102|200|201|300|500|600|700|701|702|800|801|802|1000|1100|1200|1300|1301|1400|1401|1600|1601|1602|1700|1701|18*"},

	// kivik 4.5.2, errors.Error and CompositeError, which begins with its status.
	{byStatus, "github.com/go-kivik/kivik/int/errors.Error", "Status", ""},
	{permanent, "github.com/go-kivik/kivik/int/errors.CompositeError", "", "4*|501*"},

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
}
