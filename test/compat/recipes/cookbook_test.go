package recipes

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	_ "modernc.org/sqlite"

	"github.com/gobackoff/retry/retryhttp"
)

// TestCharge: a second call for the order, such as after a restart, sends the key of the first.
func TestCharge(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "CREATE TABLE charges (order_id TEXT PRIMARY KEY, idempotency_key TEXT NOT NULL)")
	require.NoError(t, err)
	keys := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		key := req.Header.Get("Idempotency-Key")
		keys[key]++
		if keys[key] == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	client := retryhttp.NewClient(quick)
	require.NoError(t, Charge(t.Context(), db, client, server.URL, "17"))
	require.NoError(t, Charge(t.Context(), db, client, server.URL, "17"))
	assert.Len(t, keys, 1)
	require.NoError(t, Charge(t.Context(), db, client, server.URL, "18"))
	assert.Len(t, keys, 2)
	assert.NotContains(t, keys, "")
}

// contested is an object that others change between the first reads and writes.
type contested struct {
	changes int // by others
	version int
}

type object struct {
	seen  int
	value string
}

func (c *contested) Get(context.Context, string) (*object, error) {
	return &object{seen: c.version}, nil
}

func (c *contested) Update(_ context.Context, o *object) (*object, error) {
	if c.changes > 0 {
		c.changes--
		c.version++
	}
	if o.seen != c.version {
		return o, apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "web", nil)
	}
	return o, nil
}

func TestChange(t *testing.T) {
	set := func(o *object) { o.value = "new" }
	got, err := Change(t.Context(), &contested{changes: 4}, "web", set)
	require.NoError(t, err)
	assert.Equal(t, &object{seen: 4, value: "new"}, got)

	_, err = Change(t.Context(), &contested{changes: 9}, "web", set)
	assert.True(t, apierrors.IsConflict(err), "%v", err)
}

// TestLookup: the attempts of the client and of Do do not multiply.
func TestLookup(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	var gets atomic.Int32
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { // a Redis that is still loading its data
				defer conn.Close()
				lines := bufio.NewScanner(conn)
				for lines.Scan() {
					line := lines.Text()
					if strings.EqualFold(line, "get") {
						gets.Add(1)
					}
					if strings.HasPrefix(line, "*") {
						fmt.Fprint(conn, "-LOADING Redis is loading the dataset in memory\r\n")
					}
				}
			}()
		}
	}()
	client := NewRedis(listener.Addr().String())
	defer client.Close()
	_, ok, err := Lookup(t.Context(), quick, client, "key")
	assert.Error(t, err)
	assert.False(t, ok)
	assert.EqualValues(t, quick.MaxAttempts, gets.Load())
}
