package retryhttp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
)

// attempt is the context of an attempt. One at a request that must not be executed
// twice is a watch.
type attempt struct {
	context.Context
	number  int
	request *http.Request // that has this context
}

type attemptKey struct{}

func (a *attempt) Value(key any) any {
	if key == (attemptKey{}) {
		return a
	}
	return a.Context.Value(key)
}

// AttemptNumber returns the number of the attempt that ctx belongs to, 1 for
// the first, or 0 if it belongs to none. What sits below a [Transport] finds it in
// the context of the request, and what sits above in the context of the answer's
// Request. The hooks of the Policy have it as the Number of the attempt.
func AttemptNumber(ctx context.Context) int {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a.number
	}
	return 0
}

// attemptBehind returns the attempt that brought an answer, nil if that does not
// come from a Transport.
func attemptBehind(resp *http.Response) *attempt {
	if resp.Request == nil {
		return nil
	}
	if a, _ := resp.Request.Context().Value(attemptKey{}).(*attempt); a != nil && a.request == resp.Request {
		return a
	}
	return nil
}

// watch is the context of an attempt at a request that must not be executed
// twice: net/http tells it what it does. Most of it is made when somebody looks
// at it, which a Base that answers without a network does not.
type watch struct {
	attempt
	empty bool // the request has no body

	once   sync.Once
	inner  context.Context
	cancel context.CancelCauseFunc // nil unless the request is empty

	asked atomic.Bool  // for a connection
	conns atomic.Int32 // that it has got
	http2 atomic.Bool  // what was sent was sent over HTTP/2
}

// errResent ends an attempt that net/http is about to make a second time.
var errResent = errors.New("HTTP/2 stream refused or reset, and net/http does not say which")

func (w *watch) look() context.Context {
	w.once.Do(func() {
		w.inner = w.Context
		trace := &httptrace.ClientTrace{
			GetConn: func(string) { w.asked.Store(true); w.stop() },
			GotConn: func(httptrace.GotConnInfo) { w.conns.Add(1); w.stop() },
		}
		if w.empty {
			w.inner, w.cancel = context.WithCancelCause(w.Context)
			trace.WroteHeaderField = func(name string, _ []string) {
				if strings.HasPrefix(name, ":") {
					w.http2.Store(true)
				}
			}
		}
		w.inner = httptrace.WithClientTrace(w.inner, trace)
	})
	return w.inner
}

// stop keeps net/http from sending a request without a body again over HTTP/2,
// where it does so also if a stream was reset that may have been processed. A
// request with a body it cannot send again, because that has no GetBody; and over
// HTTP/1 it sends again only what was not written, or may be repeated.
func (w *watch) stop() {
	if w.cancel != nil && w.http2.Load() {
		w.cancel(errResent)
	}
}

// release frees what the context holds. A nil watch holds nothing.
func (w *watch) release() {
	if w != nil && w.cancel != nil {
		w.cancel(nil)
	}
}

// unsent reports whether it is certain that no server has processed the request
// of the attempt, which failed with err.
func (w *watch) unsent(err error) bool {
	switch conns := w.conns.Load(); {
	case conns > 1:
		return false // sent again, so err is not about all that was sent
	case conns == 1:
		return isRefused(err)
	}
	// Other RoundTrippers than http.Transport may never tell of connections.
	return w.asked.Load() || isRefused(err) || isDial(err)
}

func (w *watch) Done() <-chan struct{} { return w.look().Done() }
func (w *watch) Err() error            { return w.look().Err() }
func (w *watch) Value(key any) any {
	if key == (attemptKey{}) {
		return &w.attempt
	}
	return w.look().Value(key)
}
