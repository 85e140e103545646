package compat

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/gocql/gocql"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/gobackoff/retry"
)

// serveRedis replies to "ECHO text" with an error that consists of the text. It refuses
// everything else, as servers before version 6 refuse HELLO.
func serveRedis(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		var parts, size int
		if _, err := fmt.Fscanf(in, "*%d\r\n", &parts); err != nil {
			return
		}
		words := make([]string, parts)
		for i := range words {
			if _, err := fmt.Fscanf(in, "$%d\r\n", &size); err != nil {
				return
			}
			word := make([]byte, size+2)
			if _, err := io.ReadFull(in, word); err != nil {
				return
			}
			words[i] = string(word[:size])
		}
		reply := "ERR unknown command '" + words[0] + "'"
		if strings.EqualFold(words[0], "echo") {
			reply = words[1]
		}
		if _, err := fmt.Fprintf(conn, "-%s\r\n", reply); err != nil {
			return
		}
	}
}

func redisFaults(t *testing.T) []fault {
	client := redis.NewClient(&redis.Options{
		MaxRetries: -1, Protocol: 2, DisableIdentity: true,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go serveRedis(theirs)
			return ours, nil
		},
	})
	defer client.Close()
	faults := []fault{
		{name: "`redis.Nil`", err: redis.Nil, class: permanent},
		{name: "`redis.TxFailedErr`", err: redis.TxFailedErr, class: transient},
	}
	for _, reply := range []string{"BUSY script", "LOADING dataset", "READONLY replica", "MASTERDOWN link", "CLUSTERDOWN hash slot", "TRYAGAIN keys"} {
		word, _, _ := strings.Cut(reply, " ")
		faults = append(faults, fault{name: word, err: client.Echo(t.Context(), reply).Err(), class: transient})
	}
	for _, reply := range []string{"WRONGTYPE operation", "NOAUTH required", "NOSCRIPT no", "OOM command", "ERR syntax"} {
		word, _, _ := strings.Cut(reply, " ")
		faults = append(faults, fault{name: word, err: client.Echo(t.Context(), reply).Err(), class: permanent})
	}
	return faults
}

func mongoFaults(*testing.T) []fault {
	command := func(code int32, labels ...string) error { return mongo.CommandError{Code: code, Labels: labels} }
	return []fault{
		{name: "label TransientTransactionError", err: command(112, "TransientTransactionError"), class: transient},
		{name: "label RetryableWriteError", err: command(91, "RetryableWriteError"), class: transient},
		{name: "label UnknownTransactionCommitResult", err: command(50, "UnknownTransactionCommitResult"), class: transient, unrepeatable: true},
		{name: "the same with RetryableWriteError", err: command(91, "RetryableWriteError", "UnknownTransactionCommitResult"), class: transient, unrepeatable: true},
		{name: "label SystemOverloadedError", err: command(462, "SystemOverloadedError", "RetryableError"), class: throttled},
		{name: "189 PrimarySteppedDown", err: command(189), class: transient},
		{name: "50 MaxTimeMSExpired", err: command(50), class: timeout},
		{name: "13 Unauthorized", err: command(13), class: permanent},
		{name: "11000 DuplicateKey", err: mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 11000}}}, class: permanent},
		{name: "11000 DuplicateKey in a bulk", err: mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{{WriteError: mongo.WriteError{Code: 11000}}}}, class: permanent},
		{name: "64 WriteConcernTimeout", err: mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 64}}, class: permanent},
		{name: "`mongo.ErrNoDocuments`", err: mongo.ErrNoDocuments, class: permanent},
	}
}

func rueidisFaults(t *testing.T) []fault {
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{"redis:6379"}, ForceSingleClient: true, AlwaysRESP2: true, DisableCache: true, DisableRetry: true,
		ClientSetInfo: rueidis.DisableClientSetInfo,
		DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go serveRedis(theirs)
			return ours, nil
		},
	})
	require.NoError(t, err)
	defer client.Close()
	faults := []fault{{name: "`Nil`", err: rueidis.Nil, class: permanent}}
	for reply, class := range map[string]retry.Class{
		"LOADING dataset": transient, "CLUSTERDOWN hash slot": transient, "WRONGTYPE operation": permanent, "NOAUTH required": permanent,
	} {
		word, _, _ := strings.Cut(reply, " ")
		err := client.Do(t.Context(), client.B().Echo().Message(reply).Build()).Error()
		faults = append(faults, fault{name: word, err: err, class: class})
	}
	return sorted(faults)
}

func gocqlFaults(*testing.T) []fault {
	marshal := func(typ gocql.Type, value any) error {
		_, err := gocql.Marshal(gocql.NewNativeType(4, typ, ""), value)
		return err
	}
	return []fault{
		{name: "`MarshalError`", err: marshal(gocql.TypeInt, "x"), class: permanent, unknown: true},
		{name: "`ErrNoConnections`", err: gocql.ErrNoConnections, class: unknown},
	}
}
