package known

// Databases, caches, search engines and object stores.

var storeTexts = []textRow{
	// gocql 1.7.0, session.go.
	{permanent, `
		session has been closed
		use statements aren't supported. *
		frame length is bigger than the maximum allowed
		too many statements
		UDT are not available on protocols less than 3, please update config`},

	// gocb 2.11.1 with gocbcore 10.8.1, retry.go: the reasons for which the client retries.
	{permanent, `scope exists
		collection exists
		dataset exists
		dataverse exists
		authentication failure - possible reasons *
		parsing failure
		encoding failure
		decoding failure
		compilation failure
		feature is not available
		document not locked
		document not json
		value not json
		value invalid
		value too deep
		path exists
		path invalid
		path too deep
		delta invalid
		durability level not available
		xattr invalid *
		xattr unknown *
		xattr cannot modify virtual attribute
		bucket not flushable
		memdclient closed`},
	{throttled, `quota limited failure
		job queue full
		queue overflowed`},
	{unrepeatable, "durability ambiguous"},

	// goleveldb 1.0.0, buntdb 1.3.0, pebble 1.1.5 and blazer 0.7.2: what a closed or a
	// read-only database refuses.
	{permanent, `leveldb: closed
		leveldb: read-only mode
		leveldb: snapshot released
		leveldb: transaction already closed
		tx not writable
		tx is iterating
		pebble: closed
		pebble: read-only
		pebble: batch not indexed`},

	// gorqlite, conn.go and write.go: SQLite's texts of violated constraints.
	{permanent, `gorqlite: connection is closed
		UNIQUE constraint failed: *
		NOT NULL constraint failed: *
		CHECK constraint failed: *
		FOREIGN KEY constraint failed
		near "*": syntax error`},

	// migrate 4.20.1, migrate.go; goose 3.29.0, provider_errors.go.
	{permanent, `no change
		no migration
		no migrations found
		migration already applied
		migration not applied`},

	// go-pg 10.11.0, internal/error.go; bun's pgdriver 1.2.18.
	{permanent, `pg: multiple rows in result set
		pg: transaction has already been committed or rolled back`},

	// rueidis 1.0.79 and valkey-go 1.0.79.
	{permanent, `cache unmarshal error
		unknown redis mode*`},

	// bigcache 3.1.0, freecache 1.2.7, go-redis/cache 9.0.0.
	{permanent, "entry is bigger than max shard size"},

	// blob stores: gocloud.dev 0.47.0, gcerrors; storj.io/uplink 1.14.5, the comments of its
	// errors; go-sdk of Qiniu 7.11.0.
	{permanent, `bucket name invalid
		bucket not empty
		object key invalid
		upload ID invalid
		upload done
		storage limit exceeded
		segments limit exceeded`},

	// bbolt 1.5.0 and badger 4.9.6, errors.go.
	{permanent, `database not open
		database is in read-only mode
		the source and target *
		Txn is too big to fit into one request
		No sets or deletes are allowed in a read-only transaction
		This transaction has been discarded. Create a new one
		Key is using *
		Encryption key*
		manifest has *
		Cannot run value log GC when DB is opened in *
		Value log GC attempt didn't result in any cleanup`},

	// mongo-driver 2.10.0, mongo/errors.go, x/mongo/driver/session and topology.
	{permanent, `client is disconnected
		topology is closed
		ended session was used
		no transaction started
		transaction already in progress
		cannot call *Transaction after calling *Transaction
		multiple indexes would be dropped
		this MongoDB deployment does not support retryable writes. *`},
	{unrepeatable, "unacknowledged write"},

	// go-sql-driver/mysql 1.10.1, errors.go and dsn.go; pq 1.12.3; pgx 5.12.0.
	{permanent, `invalid DSN: *
		this user requires *
		pq: COPY is only allowed inside a transaction
		pq: could not detect default username; *
		pq: private key has *
		pq: ListenerConn has been closed`},

	// raft 1.8.0, zk 1.0.4, gomemcache, go-redis 9.23.0.
	{permanent, `raft is already shutdown
		bootstrap only works on new clusters
		nothing new to snapshot
		node is not a voter
		zk: trying to acquire a lock twice
		zk: not locked
		memcache: compare-and-swap conflict
		redis: Watch requires *`},

	// clickhouse-go 2.50.0, clickhouse.go.
	{permanent, `clickhouse: batch has already been sent
		clickhouse: batch is invalid. check appended data is correct
		clickhouse: no valid address supplied`},
	{timeout, "clickhouse: acquire conn timeout. *"},

	// gorm 1.31.2, errors.go; ent 0.14.5, privacy; xorm 1.4.3; goqu 9.19.0; squirrel 1.5.4;
	// scany 2.1.4; radix 4.1.4; guregu/dynamo 2.1.1.
	{permanent, `invalid transaction
		registered
		empty slice found
		ent/privacy: deny rule
		Params type error
		mp should be a * pointer
		It's impossible to rollback this migration
		No migration defined
		no element on slice when insert
		cannot run; no Runner set (RunWith)
		scany: no row was found
		no stream entries
		dynamo: no item found
		dynamo: too many items`},

	// redsync 4.18.1 and redislock 0.9.4: a lock that is not held any more cannot be extended
	// or released, and one that others hold may be released.
	{permanent, `redsync: failed to extend lock
		redsync: failed to unlock, lock was already expired
		redislock: lock not held`},
	{transient, `redislock: not obtained
		redsync: failed to acquire lock`},

	// migrate 4.20.1, its drivers and sources; atlas 0.32.1, sql/migrate; goose 3.29.0, lock.
	{permanent, `database is dirty
		can't unlock, as not currently locked
		unable to release already released lock
		failed to append PEM
		both x-advisory-lock-timeout-interval and *
		no directory
		no checkpoint found
		checksum file format invalid
		sql/migrate: no plan for matched states
		sql/migrate: no pending migration files
		lock not implemented`},
	{transient, `can't acquire lock
		unable to obtain lock
		database locked
		sql/schema: lock is held by other session`},

	// rueidis and valkey-go 1.0.79, rueidislock; go-redis 9.23.0, autopipeline.go.
	{permanent, `ReplicaOnly conflicts with *
		rueidis does not support SUBSCRIBE/*
		valkey does not support SUBSCRIBE/*
		no SendToReplicas provided for standalone client with replicas
		invalid pool type
		redis: Submit requires *
		redis: FDPipelined *
		redis: * is not allowed *
		redis: no commands to aggregate
		redis: invalid cursor ID type
		redis: FT.CURSOR command requires *
		redis: Wait on a zero AutoFuture`},
	{throttled, "redis: autopipeline: queue full *"},

	// pgx 5.12.0, pq 1.12.3, go-mssqldb 1.11.2, godror 0.40.4, clickhouse-go 2.50.0.
	{permanent, `scan target type changed
		pq: could not complete operation in a failed transaction
		pq: channel is already open
		pq: channel is not open
		krb5-*
		user id is required to login with krb5 *
		failed to create krb5 client from login parameters
		all fields mustn't skip
		the number of elements in columnStr and tvpFieldIndexes do not align
		cannot be marshaled
		no digit found
		not collection
		not exist
		pq: only text format supported for COPY
		pg: Model(nil)
		pg: end of hstore
		pg: end of composite
		pg: listener is closed
		bun: Model(nil)
		bun: string contains a NUL byte (0x00)
		sqlite: statement has *
		no LastInsertId available after the empty statement
		no RowsAffected available after the empty statement
		nothing to migrate
		not a DuckDB driver connection
		data chunks cannot exceed *
		cannot write to a NULL column
		mismatch between the column types and names
		clickhouse: invalid retry, batch not sent yet
		clickhouse [bind]: mixed named, *
		clickhouse: cluster secret *
		clickhouse: QueryFormat and InsertFormat are only supported *`},

	// mongo-driver 2.10.0 and 1.17.10, mongo, bsoncore and gridfs; neo4j-go-driver 5.28.4;
	// gocql 1.7.0; gocb 2.11.1; rethinkdb-go 6.2.1.
	{permanent, `cursor is nil
		files collection document does not contain *
		EOF missing one or more chunks
		chunk size does not match expected size
		chunk index does not match expected index
		stream is closed or aborted
		session was not created by this client
		element is missing *
		document or array end is missing null byte
		cannot perform a decoder lookup on <nil>
		loadBalanced cannot be set to true if *
		srvMaxHosts cannot be a positive value if *
		read preference in a transaction must be primary
		a write concern cannot have both w=0 and j=true
		write concern *w* field cannot be a negative number
		a negative value was provided for MaxTime on an operation
		invalid transaction handle
		result cursor is not available anymore
		result failed due to invalid transaction
		unknown retry type returned by retry policy
		document too deep
		document already alive
		bucket already selected
		no supported authentication mechanisms
		planning failure
		eventing function compilation failure
		eventing function identical keyspace
		commit is not allowed in the current transaction state
		rollback is not allowed in the current transaction state
		no result was available
		cluster closed`},
	{permanent, `can not specify tags, max staleness, or hedge with mode primary
		cannot create a ValueWriter from a nil io.Writer
		float64 can only be truncated to a lower precision type when *
		firestore: write in read-only transaction
		firestore: read after write in transaction
		firestore: nested transaction
		firestore: ID in DocumentRef contains *
		firestore: * available only after the iterator reaches the end`},
	{unrepeatable, "execution result undetermined"}, // of tikv's client-go 2.0.4

	// etcd's client 3.7.3 and raft 3.7.0; hashicorp/raft 1.8.0; zk 1.0.4; juju.
	{permanent, `etcdclient: old cluster version
		mutex: session is expired
		mutex: lock has already been released
		election: not leader
		raft: stopped
		raft: cannot step *
		requested index is unavailable due to compaction
		requested index is older than the existing snapshot
		transport shutdown
		append pipeline closed
		attempts to perform a reconfiguration operation when *
		zk: encode/decode expect *
		zk: buffer too small`},
	{transient, "mutex: Locked by another session"},

	// badger 4.9.6, bbolt 1.5.0, goleveldb 1.0.0, tidwall/wal 1.2.1, bolthold, bleve 2.6.3,
	// bigcache 3.1.0, otter 2.
	{permanent, `Value log GC can't run because threshold is set to zero
		Data dump cannot be read
		Log truncate required to run DB. *
		database isn't correctly mapped
		free pages are not pre-loaded
		leveldb/*: iterator released
		leveldb: resource already relesed
		log corrupt
		log closed
		out of order
		No data found for this key
		This Key already exists in this bolthold for this type
		This value cannot be written due to the unique constraint on the field
		scorch closed
		unknown budget currency
		Iterator is in invalid state. *
		otter: the entry was not found in the data source`},

	// minio-go 7.4.1, gocloud.dev 0.47.0, cos-go-sdk 0.7.70, hdfs 2.4.0; rclone 1.76.0,
	// fs/fs.go; go-elasticsearch 8 and 9, elastic-transport-go 8.9.0.
	{permanent, `invalid ARN format*
		RDMA support not compiled in *
		Variable has been Closed
		can't * object - incompatible remotes
		can't move directory - incompatible remotes
		can't purge directory
		can't upload empty files to this remote
		can't set modified time*
		can't sync or move files on overlapping remotes *
		this backend can't share directories with link
		can't list root
		directory not empty
		immutable file modified
		bucket or container name is needed in remote
		didn't find section in config file
		recursive directory listing not available
		max transfer * reached as set by *
		bucket already deleted
		elastictransport is *closed
		cannot build path, check for missing path parameters`},
	{transient, "replication in progress"},
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
