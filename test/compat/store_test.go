package compat

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/bradfitz/gomemcache/memcache"
	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-zookeeper/zk"
	redigo "github.com/gomodule/redigo/redis"
	"github.com/hashicorp/raft"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/sijms/go-ora/v2/network"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/gobackoff/retry"
)

func zookeeperFaults(*testing.T) []fault {
	return []fault{
		{name: "`ErrNoNode`", err: zk.ErrNoNode, class: permanent},
		{name: "`ErrNodeExists`", err: zk.ErrNodeExists, class: permanent},
		{name: "`ErrBadVersion`", err: zk.ErrBadVersion, class: permanent},
		{name: "`ErrNoAuth`", err: zk.ErrNoAuth, class: permanent},
		{name: "`ErrConnectionClosed`", err: zk.ErrConnectionClosed, class: unknown},
		{name: "`ErrSessionExpired`", err: zk.ErrSessionExpired, class: unknown},
		{name: "`ErrNoServer`", err: zk.ErrNoServer, class: unknown},
	}
}

func etcdFaults(*testing.T) []fault {
	return []fault{
		{name: "no leader", err: rpctypes.ErrNoLeader, class: transient},
		{name: "leader changed", err: rpctypes.ErrLeaderChanged, class: transient},
		{name: "too many requests", err: rpctypes.ErrTooManyRequests, class: throttled},
		{name: "out of space", err: rpctypes.ErrNoSpace, class: permanent},
		{name: "out of space, over gRPC", err: rpctypes.ErrGRPCNoSpace, class: permanent},
		{name: "empty key", err: rpctypes.ErrEmptyKey, class: permanent},
		{name: "compacted", err: rpctypes.ErrCompacted, class: permanent},
		{name: "permission denied", err: rpctypes.ErrPermissionDenied, class: permanent},
		{name: "lease not found", err: rpctypes.ErrLeaseNotFound, class: permanent},
	}
}

// serveMemcache responds to "gets KEY" with what the key says.
func serveMemcache(t *testing.T) *memcache.Client {
	t.Helper()
	address := listen(t, func(conn net.Conn) {
		in := bufio.NewScanner(conn)
		for in.Scan() {
			response := "END"
			if strings.HasSuffix(in.Text(), "busy") {
				response = "SERVER_ERROR busy"
			}
			if _, err := io.WriteString(conn, response+"\r\n"); err != nil {
				return
			}
		}
	})
	return memcache.New(address.String())
}

func memcacheFaults(t *testing.T) []fault {
	client := serveMemcache(t)
	defer client.Close()
	get := func(key string) error {
		_, err := client.Get(key)
		return err
	}
	return []fault{
		{name: "`ErrCacheMiss`", err: get("missing"), class: permanent},
		{name: "`ErrNoServers`", err: memcache.ErrNoServers, class: unknown},
		{name: "server error", err: get("busy"), class: unknown},
		{name: "connection refused", err: memcache.New("127.0.0.1:1").Ping(), class: transient},
	}
}

func redigoFaults(t *testing.T) []fault {
	ours, theirs := net.Pipe()
	go serveRedis(theirs)
	conn := redigo.NewConn(ours, 0, 0)
	defer conn.Close()
	var faults []fault
	for _, tt := range []struct {
		reply string
		class retry.Class
	}{
		{"BUSY script", transient}, {"LOADING dataset", transient}, {"READONLY replica", transient}, {"CLUSTERDOWN hash slot", transient},
		{"ERR max number of clients reached", throttled}, {"WRONGTYPE operation", permanent}, {"NOAUTH required", permanent}, {"NOSCRIPT no", permanent},
	} {
		_, err := conn.Do("ECHO", tt.reply)
		word, _, _ := strings.Cut(tt.reply, " ")
		if tt.class == throttled {
			word = tt.reply
		}
		faults = append(faults, fault{name: word, err: err, class: tt.class})
	}
	return append(faults,
		fault{name: "`ErrNil`", err: redigo.ErrNil, class: permanent},
		fault{name: "`ErrPoolExhausted`", err: redigo.ErrPoolExhausted, class: unknown})
}

func clickhouseFaults(*testing.T) []fault { return clickhouseCodes(clickhouseException) }

func chFaults(*testing.T) []fault { return clickhouseCodes(chException) }

func clickhouseException(code int) error { return &clickhouse.Exception{Code: int32(code)} }

func chException(code int) error { return &ch.Exception{Code: proto.Error(code)} }

func clickhouseCodes(exception func(code int) error) []fault {
	return []fault{
		{name: "159 TIMEOUT_EXCEEDED", err: exception(159), class: timeout},
		{name: "202 TOO_MANY_SIMULTANEOUS_QUERIES", err: exception(202), class: throttled},
		{name: "241 MEMORY_LIMIT_EXCEEDED", err: exception(241), class: throttled},
		{name: "252 TOO_MANY_PARTS", err: exception(252), class: throttled},
		{name: "210 NETWORK_ERROR", err: exception(210), class: transient},
		{name: "242 TABLE_IS_READ_ONLY", err: exception(242), class: transient},
		{name: "319 UNKNOWN_STATUS_OF_INSERT", err: exception(319), class: transient, unrepeatable: true},
		{name: "60 UNKNOWN_TABLE", err: exception(60), class: permanent},
		{name: "62 SYNTAX_ERROR", err: exception(62), class: permanent},
		{name: "497 ACCESS_DENIED", err: exception(497), class: permanent},
		{name: "516 AUTHENTICATION_FAILED", err: exception(516), class: permanent},
	}
}

func neo4jFaults(*testing.T) []fault {
	code := func(code string) error { return &neo4j.Neo4jError{Code: code} }
	return []fault{
		{name: "TransientError.Transaction.DeadlockDetected", err: code("Neo.TransientError.Transaction.DeadlockDetected"), class: transient},
		{name: "ClientError.Cluster.NotALeader", err: code("Neo.ClientError.Cluster.NotALeader"), class: transient},
		{name: "ClientError.Security.AuthorizationExpired", err: code("Neo.ClientError.Security.AuthorizationExpired"), class: transient},
		{name: "ClientError.Statement.SyntaxError", err: code("Neo.ClientError.Statement.SyntaxError"), class: permanent},
		{name: "ClientError.Security.Unauthorized", err: code("Neo.ClientError.Security.Unauthorized"), class: permanent},
		{name: "ClientError.Schema.ConstraintValidationFailed", err: code("Neo.ClientError.Schema.ConstraintValidationFailed"), class: permanent},
		{name: "DatabaseError.General.UnknownError", err: code("Neo.DatabaseError.General.UnknownError"), class: permanent},
		{name: "`ConnectivityError`", err: &neo4j.ConnectivityError{Inner: io.EOF}, class: transient, unknown: true},
	}
}

func oracleFaults(*testing.T) []fault {
	var faults []fault
	for _, number := range []struct {
		code         int
		name         string
		class        retry.Class
		unrepeatable bool
	}{
		{60, "deadlock", transient, false}, {8177, "cannot serialize", transient, false}, {54, "resource busy", transient, false},
		{1033, "startup or shutdown", transient, false}, {12514, "listener does not know the service", transient, false},
		{3113, "end of file", transient, true}, {3135, "lost contact", transient, true},
		{20, "maximum number of processes", throttled, false}, {12519, "no handler", throttled, false},
		{1, "unique constraint", permanent, false}, {942, "table does not exist", permanent, false}, {1017, "invalid password", permanent, false},
		{1013, "canceled by the user", permanent, false},
	} {
		faults = append(faults, fault{
			name: fmt.Sprintf("ORA-%05d %s", number.code, number.name), err: &network.OracleError{ErrCode: number.code},
			class: number.class, unrepeatable: number.unrepeatable,
		})
	}
	return faults
}

func raftFaults(*testing.T) []fault {
	return []fault{
		{name: "`ErrNotLeader`", err: raft.ErrNotLeader, class: unknown},
		{name: "`ErrEnqueueTimeout`", err: raft.ErrEnqueueTimeout, class: unknown},
		{name: "`ErrLeadershipLost`", err: raft.ErrLeadershipLost, class: transient, unrepeatable: true},
	}
}

func lockFaults(*testing.T) []fault {
	return []fault{
		{name: "`redislock.ErrNotObtained`", err: redislock.ErrNotObtained, class: transient, unknown: true},
		{name: "`redislock.ErrLockNotHeld`", err: redislock.ErrLockNotHeld, class: permanent, unknown: true},
		{name: "`redsync.ErrFailed`", err: redsync.ErrFailed, class: transient, unknown: true},
		{name: "`redsync.ErrTaken`", err: &redsync.ErrTaken{Nodes: []int{0}}, class: transient, unknown: true},
		{name: "`redsync.ErrExtendFailed`", err: redsync.ErrExtendFailed, class: permanent, unknown: true},
		{name: "`redsync.ErrLockAlreadyExpired`", err: redsync.ErrLockAlreadyExpired, class: permanent, unknown: true},
	}
}

func levelFaults(t *testing.T) []fault {
	db, err := leveldb.Open(storage.NewMemStorage(), nil)
	require.NoError(t, err)
	_, missing := db.Get([]byte("key"), nil)
	require.NoError(t, db.SetReadOnly())
	readOnly := db.Put([]byte("key"), nil, nil)
	require.NoError(t, db.Close())
	_, closed := db.Get([]byte("key"), nil)
	return []fault{
		{name: "`leveldb.ErrNotFound`", err: missing, class: permanent},
		{name: "`leveldb.ErrReadOnly`", err: readOnly, class: permanent, unknown: true},
		{name: "`leveldb.ErrClosed`", err: closed, class: permanent, unknown: true},
	}
}
