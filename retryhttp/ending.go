package retryhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
)

// An ending is what is known about the server when an exchange ends.
type ending uint8

const (
	answered    ending = iota // it responded
	unsent                    // nothing of the request left
	unprocessed               // it received the request and did not act on it
	unknown
)

// errLost and errHidden are the errors of stopped exchanges. They replace net/http's
// error, which reports a canceled request.
const (
	errLost   lostError = "no response: the connection was lost or the stream was reset"
	errHidden lostError = errLost + " (the reason is unknown because Base hides its http.Transport: give the request an Idempotency-Key or a body)"
)

type lostError string

func (e lostError) Error() string { return string(e) }

// ConnectionError makes the error transient for retry.DefaultClassifier.
func (lostError) ConnectionError() bool { return true }

// isDial reports whether err means that no connection could be established. It does not
// look into joined errors, because one of them may be about a request that was sent.
func isDial(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if op, ok := err.(*net.OpError); ok && slices.Contains([]string{"dial", "proxyconnect", "socks connect"}, op.Op) {
			return true
		}
	}
	return false
}

// ending returns how the exchange ended with err, whose text means m, after the phase
// last. again reports whether the request should be sent again at once: not if no
// connection could be established, because a server that is down needs a wait.
func (x *exchange) ending(err error, m meaning, last phase) (end ending, again bool) {
	switch {
	case err == nil:
		return answered, false
	case last == held:
		return unsent, true
	case last == stopped: // net/http would have sent it again; without a body, it does not say why
		return unknown, x.mayRepeat
	case last == asking, (last == quiet || !x.watched) && isDial(err):
		return unsent, false
	// After several connections, err is about the last. An http.Transport sends a request
	// that must not be executed twice over the next only if it is unsent.
	case !x.mayRepeat && x.direct == nil && last > written:
		return unknown, false
	case m == notSent:
		return unsent, true
	case m == notTaken, m == refused && (x.mayRepeat || x.transport.TrustRefusedStream):
		return unprocessed, true
	}
	return unknown, false
}

// connectStatus returns the status with which a proxy refused CONNECT, or 0. net/http's
// error contains only the reason phrase, so it counts only if Base is an http.Transport
// that uses a proxy for the request.
func (x *exchange) connectStatus(err error) int {
	if errors.Unwrap(err) != nil || x.direct == nil || x.direct.Proxy == nil || x.request.URL == nil || x.request.URL.Scheme != "https" {
		return 0
	}
	if proxy, failed := x.direct.Proxy(&x.request); proxy == nil || failed != nil {
		return 0
	}
	for status := 400; status < 600; status++ {
		if text := http.StatusText(status); text != "" && text == err.Error() {
			return status
		}
	}
	return 0
}

// CheckConnect is a function for the field OnProxyConnectResponse of an
// [http.Transport] that is a Transport's Base. With it, the response of a proxy that
// refuses CONNECT becomes a [*StatusError], with its Retry-After. Without it, only the
// reason phrase is known, and only a standard one is recognized.
func CheckConnect(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	return CheckStatus(resp)
}
