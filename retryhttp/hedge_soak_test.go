package retryhttp_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhedge"
)

var hedgeCalls = flag.Int("hedge.calls", 300, "calls that TestHedgeSoak makes with each version of HTTP")

// TestHedgeSoak makes calls that are canceled at random moments, and whose copies start at
// once. No goroutine, connection or body may be left. The long form is
//
//	go test -race -v -run TestHedgeSoak ./retryhttp -hedge.calls 10000
func TestHedgeSoak(t *testing.T) {
	overBoth(t, func(t *testing.T, protocol string) {
		content := bytes.Repeat([]byte("content "), 1<<10)
		s := newServer(t, protocol, func(x *exchange) {
			_, _ = io.Copy(io.Discard, x.request.Body)
			if n := rand.IntN(10); n < 3 {
				time.Sleep(time.Duration(n) * time.Millisecond)
			} else if n == 3 {
				select {
				case <-x.request.Context().Done():
				case <-time.After(time.Second): // the copy may hang, too
				}
			}
			_, _ = x.Write(content)
		})
		s.base.MaxIdleConnsPerHost = 32
		r := &hedgeSoak{url: s.URL, content: content}
		hedge := &retryhedge.Hedge{After: 500 * time.Microsecond, Budget: &retry.TokenBudget{Capacity: 1e9}, OnEvent: func(_ context.Context, e retryhedge.Event) {
			if e.Kind == retryhedge.Won {
				r.won.Add(1)
			}
			r.events.Add(1)
		}}
		for _, base := range []http.RoundTripper{s.base, &countingBase{s.base, &r.responses}} {
			tr := s.transport()
			tr.Base, tr.Hedge = base, hedge
			r.client = &http.Client{Transport: tr}
			r.run(t, *hedgeCalls/2)
		}
		eventually(t, "request bodies are left", func() bool { return r.requests.Load() == 0 })
		eventually(t, "response bodies are left", func() bool { return r.responses.Load() == 0 })
		assert.Positive(t, r.won.Load())
		t.Logf("%d calls: %d good, %d canceled; %d events, %d won by the copy", *hedgeCalls, r.good.Load(), r.canceled.Load(), r.events.Load(), r.won.Load())
	})
}

type hedgeSoak struct {
	url     string
	content []byte
	client  *http.Client

	requests, responses         atomic.Int64 // open bodies
	good, canceled, events, won atomic.Int64
}

func (r *hedgeSoak) run(t *testing.T, calls int) {
	var workers sync.WaitGroup
	for worker := range 16 {
		workers.Go(func() {
			for i := worker; i < calls; i += 16 {
				r.call(t)
			}
		})
	}
	workers.Wait()
}

// call may be canceled before, during and after its copy, and while the body is read.
func (r *hedgeSoak) call(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if rand.IntN(2) == 0 {
		defer time.AfterFunc(time.Duration(rand.IntN(8000))*time.Microsecond, cancel).Stop()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, r.url, nil)
	assert.NoError(t, err)
	if rand.IntN(2) == 0 {
		req.GetBody = func() (io.ReadCloser, error) {
			r.requests.Add(1)
			return &countedBody{ReadCloser: io.NopCloser(bytes.NewReader(r.content)), open: &r.requests}, nil
		}
		req.Body, _ = req.GetBody()
		req.ContentLength = int64(len(r.content))
	}
	resp, err := r.client.Do(req)
	if err != nil {
		assert.ErrorIs(t, err, context.Canceled)
		r.canceled.Add(1)
		return
	}
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	if rand.IntN(4) > 0 {
		if content, err := io.ReadAll(resp.Body); err == nil {
			assert.Len(t, content, len(r.content))
			r.good.Add(1)
		} else {
			assert.ErrorIs(t, err, context.Canceled)
		}
	}
	assert.NoError(t, resp.Body.Close())
}

// countingBase counts the open bodies of its responses.
type countingBase struct {
	http.RoundTripper
	open *atomic.Int64
}

func (b *countingBase) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(req)
	if err == nil {
		b.open.Add(1)
		resp.Body = &countedBody{ReadCloser: resp.Body, open: b.open}
	}
	return resp, err
}

type countedBody struct {
	io.ReadCloser
	open *atomic.Int64
	once sync.Once
}

func (b *countedBody) Close() error {
	b.once.Do(func() { b.open.Add(-1) })
	return b.ReadCloser.Close()
}
