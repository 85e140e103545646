package retryhttp

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp/internal/wire"
)

// wireFor returns how the requests of a call to a host are sent.
func (t *Transport) wireFor(to *host, mayRepeat bool) wire.Settings {
	s := wire.Settings{
		Base: t.top(), Host: &to.Host, MayRepeat: mayRepeat,
		TrustRefusedStream: t.TrustRefusedStream, DistrustGoAway: t.DistrustGoAway,
	}
	if t.Wrap != nil {
		s.Lower = &t.lower
	} else {
		s.Direct, _ = s.Base.(*http.Transport)
	}
	return s
}

// top returns the RoundTripper to which requests are given.
func (t *Transport) top() http.RoundTripper {
	if t.Wrap == nil {
		return t.base()
	}
	t.wrapping.Do(func() {
		t.lower = wire.Lower{Base: t.base, Host: func(u *url.URL) *wire.Host { return &t.hosts.host(u).Host }}
		t.wrapped = t.Wrap(&t.lower)
		if t.wrapped == nil {
			t.wrapped = noWrapper{}
		}
	})
	return t.wrapped
}

// noWrapper is used if Wrap returned nil.
type noWrapper struct{}

func (noWrapper) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return nil, retry.Permanent(fmt.Errorf("%w Transport.Wrap: it returned nil", retry.ErrInvalid))
}
