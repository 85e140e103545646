//go:build unix

package sql_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// httpFrames reads one HTTP/1.1 message. There is no pipelining, so nothing follows it.
func httpFrames(r io.Reader, toServer, _ bool) ([]byte, error) {
	var message bytes.Buffer
	br := bufio.NewReader(io.TeeReader(r, &message))
	if toServer {
		req, err := http.ReadRequest(br)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, req.Body)
		return message.Bytes(), err
	}
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return message.Bytes(), err
}

// anywhere plans a cut before, within or after one message in ten.
func anywhere(seed uint64) func(message) fault {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, seed))
	return func(message) fault {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(10) > 0 {
			return fault{}
		}
		return fault{cut: before + cut(random.IntN(3)), reset: random.IntN(2) == 0}
	}
}

// shop is an HTTP server that executes each POST once per key, or each time if it has none.
type shop struct {
	db      *sql.DB
	address string
	server  *http.Server
	done    chan error
	runs    atomic.Int64
}

func (s *shop) start(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", s.address)
	require.NoError(t, err)
	s.address = listener.Addr().String()
	once := postOnce(s.db, func(ctx context.Context, tx *sql.Tx, body []byte) ([]byte, error) {
		run := s.runs.Add(1)
		_, err := tx.ExecContext(ctx, "INSERT INTO lost VALUES ($1::text::int, $2)", string(body), run)
		return fmt.Append(nil, run), err
	})
	s.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") == "" {
			r.Header.Set("Idempotency-Key", retryhttp.RandomKey(r))
		}
		once(w, r)
	})}
	s.done = make(chan error, 1)
	go func() { s.done <- s.server.Serve(listener) }()
}

// restart ends the server in the middle of its requests.
func (s *shop) restart(t *testing.T) {
	t.Helper()
	require.NoError(t, s.server.Close())
	<-s.done
	s.start(t)
}

// answers is what became of POSTs.
type answers struct{ executedTwice, lost, right, wrong, failed, failedExecuted int }

// post makes POSTs by 16 workers through a proxy that cuts connections, while the HTTP
// server and PostgreSQL restart. send returns the result.
func post(t *testing.T, posts int, client func() func(req *http.Request) (string, error)) (a answers) {
	const v = 1 // pgx stdlib
	addr := variants[v].address(t)
	direct := variants[v].connect(t, addr, 1).(sqlDatabase)
	keysOf(t, variants[v], direct)
	createTable(t, direct, "lost", "id INT, run INT")
	db := variants[v].open(t, addr, 16).(sqlDatabase)
	s := &shop{db: db.db, address: "127.0.0.1:0"}
	s.start(t)
	p := startProxy(t, s.address, httpFrames, anywhere(*seed))
	var next, began atomic.Int64
	var failure atomic.Pointer[error]
	results := make([]string, posts+1)
	var workers sync.WaitGroup
	for range 16 {
		send := client()
		workers.Go(func() {
			for id := int(next.Add(1)); id <= posts; id = int(next.Add(1)) {
				began.Store(int64(id))
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.addr(), strings.NewReader(fmt.Sprint(id)))
				if !assert.NoError(t, err) {
					return
				}
				result, err := send(req)
				if results[id] = result; err != nil {
					results[id] = ""
					failure.Store(&err)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { workers.Wait(); close(over) }()
	for i := 1; i < 8; i++ { // restarts between them, in turn
		for int(began.Load()) < posts*i/8 {
			time.Sleep(time.Millisecond)
		}
		if i%4 == 2 {
			require.NoError(t, postgres.Stop("QUIT")) // immediate shutdown
			require.NoError(t, postgres.Run())
		} else {
			s.restart(t)
		}
	}
	<-over
	require.NoError(t, s.server.Close())
	db.Close()
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.NoError(c, direct.exec(t.Context(), "SELECT 1")) }, soon, time.Millisecond)
	settleServer(t, variants[v], direct)
	stored := map[int][]string{}
	rows, err := direct.db.QueryContext(t.Context(), "SELECT id, run FROM lost")
	require.NoError(t, err)
	for rows.Next() {
		var id int
		var run string
		require.NoError(t, rows.Scan(&id, &run))
		stored[id] = append(stored[id], run)
	}
	require.NoError(t, rows.Err())
	for id, result := range results[1:] {
		runs := stored[id+1]
		if len(runs) > 1 {
			a.executedTwice++
		}
		switch {
		case result == "" && len(runs) > 0:
			a.failedExecuted++
			a.failed++
		case result == "":
			a.failed++
		case len(runs) == 0:
			a.lost++
		case result == runs[0]:
			a.right++
		default:
			a.wrong++
		}
	}
	t.Logf("%d POSTs, %d connections cut, %d runs: %+v", posts, p.cuts.Load(), s.runs.Load(), a)
	if err := failure.Load(); err != nil {
		t.Logf("the last failure: %v", *err)
	}
	return a
}

func throughTransport(key func(*http.Request) string) func() func(*http.Request) (string, error) {
	client := &http.Client{Transport: &retryhttp.Transport{
		Base:   &http.Transport{MaxIdleConnsPerHost: 16},
		Policy: retry.Policy{MaxElapsed: time.Minute, Budget: retry.NoBudget{}}, IdempotencyKey: key,
	}}
	return func() func(*http.Request) (string, error) {
		return func(req *http.Request) (string, error) {
			resp, content, err := retryhttp.Read(client, req)
			if err == nil && resp.StatusCode != http.StatusOK {
				err = retryhttp.CheckStatus(resp)
			}
			return string(content), err
		}
	}
}

// TestExactlyOnce: with a key, a POST is executed once and gets the result, whatever is cut,
// killed or restarted.
func TestExactlyOnce(t *testing.T) {
	a := post(t, size(400), throughTransport(retryhttp.RandomKey))
	assert.Zero(t, a.executedTwice)
	assert.Zero(t, a.lost)
	assert.Zero(t, a.wrong)
	assert.LessOrEqual(t, a.failed, size(400)/1000)
}

// TestWithoutKey shows what the key is worth: without one, POSTs fail, but none is executed
// twice.
func TestWithoutKey(t *testing.T) {
	a := post(t, size(400), throughTransport(nil))
	assert.Zero(t, a.executedTwice)
	assert.Zero(t, a.lost)
	assert.Zero(t, a.wrong)
	assert.NotZero(t, a.failed)
	assert.NotZero(t, a.failedExecuted)
}

// TestRetryableHTTP: go-retryablehttp executes POSTs again whose responses were lost.
func TestRetryableHTTP(t *testing.T) {
	a := post(t, size(400), func() func(*http.Request) (string, error) {
		client := retryablehttp.NewClient()
		client.Logger, client.RetryMax, client.RetryWaitMin, client.RetryWaitMax = nil, 20, 50*time.Millisecond, 10*time.Second
		return func(plain *http.Request) (string, error) {
			req, err := retryablehttp.FromRequest(plain)
			if err != nil {
				return "", err
			}
			resp, err := client.Do(req)
			if err != nil {
				return "", err
			}
			defer func() { _ = resp.Body.Close() }()
			content, err := io.ReadAll(resp.Body)
			if err == nil && resp.StatusCode != http.StatusOK {
				err = fmt.Errorf("status %d", resp.StatusCode)
			}
			return string(content), err
		}
	})
	assert.NotZero(t, a.executedTwice)
}
