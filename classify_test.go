package retry_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/retrytest"
)

// The errors of other libraries, by the methods that they have.
type (
	statusedError int
	httpCodeError struct{ code int }
	codedError    struct{ code string }
	codeAndStatus struct {
		codedError
		statusedError
	}
	sqlError       struct{ state string }
	redisError     struct{ text string }
	labelError     struct{ label string }
	retryableError struct{ yes bool }
	smithyWord     struct{ yes bool }
	canceledError  struct{ yes bool }
	connError      struct{ yes bool }
	pgxError       struct{ safe bool }
	azureError     struct{ statusedError }
	timeoutError   struct{ yes bool }
	retryAfter     time.Duration
	mongoError     []int
	statusField    struct{ StatusCode uint16 }

	statusFieldOfStripe struct {
		Code           string
		HTTPStatusCode int
	}
	responseField struct{ Response *http.Response }
	brokenError   struct{ inner error }
	hintedError   struct {
		hint  time.Duration
		inner error
	}
)

func (e statusedError) Error() string                { return fmt.Sprint("status ", int(e)) }
func (e statusedError) HTTPStatusCode() int          { return int(e) }
func (e httpCodeError) Error() string                { return fmt.Sprint("code ", e.code) }
func (e httpCodeError) HTTPCode() int                { return e.code }
func (e codedError) Error() string                   { return e.code }
func (e codedError) ErrorCode() string               { return e.code }
func (e codeAndStatus) Error() string                { return e.codedError.Error() }
func (e sqlError) Error() string                     { return e.state }
func (e sqlError) SQLState() string                  { return e.state }
func (e redisError) Error() string                   { return e.text }
func (redisError) RedisError()                       {}
func (e labelError) Error() string                   { return e.label }
func (e labelError) HasErrorLabel(label string) bool { return label == e.label }
func (e retryableError) Error() string               { return "own word" }
func (e retryableError) Retryable() bool             { return e.yes }
func (e smithyWord) Error() string                   { return "own word" }
func (e smithyWord) RetryableError() bool            { return e.yes }
func (e canceledError) Error() string                { return "canceled" }
func (e canceledError) CanceledError() bool          { return e.yes }
func (e connError) Error() string                    { return "connection" }
func (e connError) ConnectionError() bool            { return e.yes }
func (e pgxError) Error() string                     { return "pgx" }
func (e pgxError) SafeToRetry() bool                 { return e.safe }
func (azureError) NonRetriable()                     {}
func (e timeoutError) Error() string                 { return "timeout" }
func (e timeoutError) Timeout() bool                 { return e.yes }
func (e retryAfter) Error() string                   { return "later" }
func (e retryAfter) RetryAfter() time.Duration       { return time.Duration(e) }
func (brokenError) Error() string                    { return "half-built" }
func (e brokenError) Unwrap() error                  { return e.inner }
func (brokenError) HTTPStatusCode() int              { panic("no response") }
func (brokenError) HTTPCode() int                    { panic("no response") }
func (brokenError) ErrorCode() string                { panic("no response") }
func (brokenError) ErrorMessage() string             { panic("no response") }
func (brokenError) SQLState() string                 { panic("no response") }
func (brokenError) Retryable() bool                  { panic("no response") }
func (brokenError) RetryableError() bool             { panic("no response") }
func (brokenError) CanceledError() bool              { panic("no response") }
func (brokenError) ConnectionError() bool            { panic("no response") }
func (brokenError) SafeToRetry() bool                { panic("no response") }
func (brokenError) HasErrorLabel(string) bool        { panic("no response") }
func (brokenError) Timeout() bool                    { panic("no response") }
func (brokenError) RetryAfter() time.Duration        { panic("no response") }

func (hintedError) Error() string               { return "later" }
func (e hintedError) Unwrap() error             { return e.inner }
func (e hintedError) RetryAfter() time.Duration { return e.hint }

func (e statusField) Error() string          { return "field" }
func (e *statusFieldOfStripe) Error() string { return "field" }
func (e *responseField) Error() string       { return "field" }
func (e mongoError) Error() string           { return "mongo" }
func (e mongoError) ErrorCodes() []int       { return e }

func wrapped(err error) error { return fmt.Errorf("outer: %w", err) }

func TestDefaultClassifier(t *testing.T) {
	dial := func(err error) error {
		return &url.Error{Op: "Get", URL: "http://host/", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}
	}
	const (
		unknown   = retry.ClassUnknown
		permanent = retry.ClassPermanent
		transient = retry.ClassTransient
		timeout   = retry.ClassTimeout
		throttled = retry.ClassThrottled
	)
	tests := []struct {
		name string
		err  error
		want retry.Class
	}{
		{"plain", errOp, unknown},
		{"wrapped", wrapped(errOp), unknown},
		{"context canceled", context.Canceled, permanent},
		{"own time limit", context.DeadlineExceeded, timeout},
		{"i/o time limit", wrapped(os.ErrDeadlineExceeded), timeout},

		{"status 200", statusedError(200), unknown},
		{"status 302", statusedError(302), unknown},
		{"status 400", statusedError(400), permanent},
		{"status 401", statusedError(401), permanent},
		{"status 404", wrapped(statusedError(404)), permanent},
		{"status 408", statusedError(408), timeout},
		{"status 409", statusedError(409), permanent},
		{"status 425", statusedError(425), transient},
		{"status 429", wrapped(statusedError(429)), throttled},
		{"status 500", statusedError(500), transient},
		{"status 501", statusedError(501), permanent},
		{"status 503", statusedError(503), transient},
		{"status 505", statusedError(505), permanent},
		{"status 529", statusedError(529), transient},
		{"status of another method", httpCodeError{404}, permanent},

		{"code Throttling", codedError{"Throttling"}, throttled},
		{"code SlowDown", codeAndStatus{codedError{"SlowDown"}, statusedError(503)}, throttled},
		{"code outweighs status", codeAndStatus{codedError{"ThrottlingException"}, statusedError(400)}, throttled},
		{"code RequestTimeout", codeAndStatus{codedError{"RequestTimeout"}, statusedError(400)}, timeout},
		{"code AccessDenied", codeAndStatus{codedError{"AccessDenied"}, statusedError(403)}, permanent},
		{"code alone", codedError{"Something"}, unknown},

		{"serialization failure", sqlError{"40001"}, transient},
		{"deadlock", wrapped(sqlError{"40P01"}), transient},
		{"outcome unknown", sqlError{"40003"}, permanent},
		{"outcome of the connection unknown", sqlError{"08007"}, permanent},
		{"too many connections", sqlError{"53300"}, throttled},
		{"shutdown", sqlError{"57P01"}, transient},
		{"canceled statement", sqlError{"57014"}, permanent},
		{"unique violation", sqlError{"23505"}, permanent},

		{"redis busy", redisError{"BUSY running a script"}, transient},
		{"redis loading", wrapped(redisError{"LOADING dataset"}), transient},
		{"redis wrong type", redisError{"WRONGTYPE Operation"}, permanent},
		{"redis nil", redisError{"redis: nil"}, permanent},

		{"label of a transaction", labelError{"TransientTransactionError"}, transient},
		{"label of a write", labelError{"RetryableWriteError"}, transient},
		{"other label", labelError{"Other"}, unknown},
		{"retryable", retryableError{true}, transient},
		{"not retryable", retryableError{false}, permanent},
		{"smithy says yes", smithyWord{true}, transient},
		{"smithy says no", wrapped(smithyWord{false}), permanent},
		{"canceled by the caller", canceledError{true}, permanent},
		{"not canceled", canceledError{false}, unknown},
		{"safe to retry", pgxError{true}, transient},
		{"not known to be safe", pgxError{false}, unknown},
		{"azure says no", azureError{statusedError(503)}, permanent},
		{"own word outweighs status", errors.Join(retryableError{true}, statusedError(404)), transient},
		{"no outweighs throttling", errors.Join(retryableError{false}, statusedError(429)), permanent},

		{"connection", connError{true}, transient},
		{"no connection", connError{false}, unknown},
		{"timeout", timeoutError{true}, timeout},
		{"no timeout", timeoutError{false}, unknown},
		{"connection refused", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), transient},
		{"dial timeout", dial(os.ErrDeadlineExceeded), timeout},
		{"no such host", dial(&net.DNSError{Err: "no such host", IsNotFound: true}), transient},
		{"DNS is down", dial(&net.DNSError{Err: "server misbehaving", IsTemporary: true}), transient},
		{"DNS is slow", dial(&net.DNSError{Err: "i/o timeout", IsTimeout: true}), timeout},
		{"bare reset", syscall.ECONNRESET, transient},
		{"other errno", syscall.EINVAL, unknown},
		{"closed before an answer", &url.Error{Op: "Get", Err: io.EOF}, transient},
		{"closed within an answer", io.ErrUnexpectedEOF, transient},
		{"unknown certificate", &url.Error{Op: "Get", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, permanent},
		{"bad certificate", &tls.CertificateVerificationError{Err: errOp}, permanent},
		{"certificate of another name", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "host"}, permanent},
		{"not TLS at all", &url.Error{Op: "Get", Err: tls.RecordHeaderError{Msg: "not TLS"}}, permanent},
		{"alert of the server", &url.Error{Op: "Get", Err: &net.OpError{Op: "remote error", Err: tls.AlertError(40)}}, permanent},

		{"no such file", &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, permanent},
		{"no such file, from a file system of its own", wrapped(fs.ErrNotExist), permanent},
		{"no such socket yet", dial(os.NewSyscallError("connect", syscall.ENOENT)), transient},
		{"no such program", &exec.Error{Name: "x", Err: exec.ErrNotFound}, permanent},
		{"a program that failed", &exec.ExitError{}, unknown},
		{"JSON syntax", wrapped(&json.SyntaxError{}), permanent},
		{"JSON type", &json.UnmarshalTypeError{}, permanent},
		{"no rows", wrapped(sql.ErrNoRows), permanent},
		{"finished transaction", sql.ErrTxDone, permanent},
		{"returned connection", sql.ErrConnDone, permanent},
		{"bad connection", driver.ErrBadConn, transient},
		{"bad connection of a local failure", errors.Join(sql.ErrNoRows, io.EOF), transient},
		{"changed keys of a transaction", redisError{"redis: transaction failed"}, transient},

		{"field for the status", statusField{404}, permanent},
		{"field of a pointer", wrapped(&statusField{429}), throttled},
		{"field for something else", statusField{7}, unknown},
		{"field of a nil pointer", (*statusField)(nil), unknown},
		{"field of another name", &statusFieldOfStripe{HTTPStatusCode: 503}, transient},
		{"response", &responseField{Response: &http.Response{StatusCode: 404}}, permanent},
		{"no response", &responseField{}, unknown},

		{"overload of MongoDB", labelError{"SystemOverloadedError"}, throttled},
		{"duplicate key of MongoDB", mongoError{0, 11000}, permanent},
		{"stepped down", mongoError{189}, transient},
		{"no code of MongoDB", mongoError{}, unknown},

		{"the outermost status", fmt.Errorf("%w after %w", statusedError(503), statusedError(404)), transient},
		{"a tree", errors.Join(errOp, wrapped(statusedError(404))), permanent},
		{"half-built", brokenError{}, unknown},
		{"a nil pointer", (*net.DNSError)(nil), transient},
		{"a nil pointer that cannot unwrap", wrapped((*url.Error)(nil)), unknown},
		{"a nil pointer of the network", (*net.OpError)(nil), transient},
		{"half-built around more", brokenError{statusedError(404)}, permanent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, retry.DefaultClassifier{}.Classify(tt.err))
		})
	}
}

// errLost has the text of ErrInvalidConn of go-sql-driver/mysql.
var errLost = errors.New("invalid connection")

// TestUnrepeatableErrors: errors whose operation may have taken effect.
func TestUnrepeatableErrors(t *testing.T) {
	mine := func(class retry.Class) retry.Classifier {
		return retry.ClassifierFunc(func(error) retry.Class { return class })
	}
	tests := []struct {
		name         string
		classifier   retry.Classifier
		err          error
		class        retry.Class
		unrepeatable bool
	}{
		{"lost connection", nil, wrapped(errLost), retry.ClassTransient, true},
		{"named classifier", retry.DefaultClassifier{}, errLost, retry.ClassTransient, true},
		{"behind others", retry.FirstOf(mine(retry.ClassUnknown), retry.FirstOf(retry.DefaultClassifier{})), errLost, retry.ClassTransient, true},
		{"another decides first", retry.FirstOf(mine(retry.ClassTransient), retry.DefaultClassifier{}), errLost, retry.ClassTransient, false},
		{"another decides alone", mine(retry.ClassUnknown), errLost, retry.ClassTransient, false},
		{"hidden in another", retry.ClassifierFunc(retry.DefaultClassifier{}.Classify), errLost, retry.ClassPermanent, false},
		{"hidden in a list in another", retry.ClassifierFunc(retry.FirstOf(retry.DefaultClassifier{}).Classify), errLost, retry.ClassPermanent, false},
		{"statement with an unknown outcome", nil, sqlError{"40003"}, retry.ClassTransient, true},
		{"transaction with an unknown outcome", nil, wrapped(sqlError{"08007"}), retry.ClassTransient, true},
		{"commit with an unknown outcome", nil, labelError{"UnknownTransactionCommitResult"}, retry.ClassTransient, true},
		{"own word further out", nil, errors.Join(retryableError{true}, errLost), retry.ClassTransient, false},
		{"own no", nil, errors.Join(retryableError{false}, errLost), retry.ClassPermanent, false},
		{"marked transient", nil, retry.Transient(errLost), retry.ClassTransient, false},
		{"marked with a hint", nil, retry.After(errLost, time.Second), retry.ClassTransient, false},
		{"nothing of the kind", nil, errOp, retry.ClassTransient, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := failed(t, tt.classifier, tt.err)
			assert.Equal(t, tt.class, a.Class)
			assert.Equal(t, tt.unrepeatable, a.Unrepeatable)
		})
	}
	op := retrytest.Script(errLost, nil)
	require.ErrorIs(t, retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, op.Run), retry.ErrUnrepeatable)
}

// TestClassesOfFacts: DefaultClassifier converts the classes of errfacts.
func TestClassesOfFacts(t *testing.T) {
	assert.Equal(t, []retry.Class{retry.ClassUnknown, retry.ClassPermanent, retry.ClassTransient, retry.ClassTimeout, retry.ClassThrottled},
		[]retry.Class{retry.Class(errfacts.Unknown), retry.Class(errfacts.Permanent), retry.Class(errfacts.Transient),
			retry.Class(errfacts.TimedOut), retry.Class(errfacts.Throttled)})
}

// TestRealErrors: what real failures of net and net/http say.
func TestRealErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/reset":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			if secure, ok := conn.(*tls.Conn); ok {
				conn = secure.NetConn()
			}
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		case "/short":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		case "/slow":
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	secure := httptest.NewUnstartedServer(server.Config.Handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	closed := httptest.NewServer(nil)
	closed.Close()

	get := func(client *http.Client, url string) error {
		resp, err := client.Get(url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	impatient := &http.Client{Timeout: 5 * ms}
	defaultClient := &http.Client{Transport: &http.Transport{}}
	for name, tt := range map[string]struct {
		err  error
		want retry.Class
	}{
		"TLS, reset":      {get(secure.Client(), secure.URL+"/reset"), retry.ClassTransient},
		"TLS, in a write": {writeTLS(t, secure), retry.ClassTimeout},
		"reset":           {get(defaultClient, server.URL+"/reset"), retry.ClassTransient},
		"short":           {get(defaultClient, server.URL+"/short"), retry.ClassTransient},
		"slow":            {get(impatient, server.URL+"/slow"), retry.ClassTimeout},
		"refused":         {get(defaultClient, closed.URL), retry.ClassTransient},
		"bad certificate": {get(defaultClient, secure.URL), retry.ClassPermanent},
	} {
		require.Error(t, tt.err, name)
		assert.Equal(t, tt.want, retry.DefaultClassifier{}.Classify(tt.err), "%s: %v", name, tt.err)
	}
}

// writeTLS returns what a TLS connection says when the network fails a write:
// crypto/tls wraps the error of the network in a type of its own.
func writeTLS(t *testing.T, server *httptest.Server) error {
	t.Helper()
	config := server.Client().Transport.(*http.Transport).TLSClientConfig
	conn, err := tls.Dial("tcp", server.Listener.Addr().String(), config)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetWriteDeadline(time.Unix(1, 0)))
	_, err = conn.Write([]byte("GET"))
	return wrapped(err)
}

func TestFirstOf(t *testing.T) {
	says := func(c retry.Class) retry.Classifier {
		return retry.ClassifierFunc(func(error) retry.Class { return c })
	}
	for _, tt := range []struct {
		list []retry.Classifier
		want retry.Class
	}{
		{nil, retry.ClassUnknown},
		{[]retry.Classifier{says(retry.ClassUnknown)}, retry.ClassUnknown},
		{[]retry.Classifier{says(retry.ClassUnknown), says(retry.ClassPermanent), says(retry.ClassThrottled)}, retry.ClassPermanent},
		{[]retry.Classifier{nil, says(retry.ClassTimeout)}, retry.ClassTimeout},
	} {
		assert.Equal(t, tt.want, retry.FirstOf(tt.list...).Classify(errOp))
	}
}

func TestClassString(t *testing.T) {
	assert.Equal(t, "throttled", retry.ClassThrottled.String())
	assert.Equal(t, "unknown", retry.ClassUnknown.String())
	assert.Equal(t, "class(5)", retry.Class(5).String())
}

// outcome returns how a call sees an error: its class and hint.
func outcome(t *testing.T, c retry.Classifier, err error) (retry.Class, time.Duration) {
	t.Helper()
	a := failed(t, c, err)
	return a.Class, a.Hint
}

// failed returns how a call sees an attempt that failed with err.
func failed(t *testing.T, c retry.Classifier, err error) retry.Attempt {
	t.Helper()
	var seen retry.Attempt
	p := retry.Policy{
		MaxAttempts: 1,
		Classifier:  c,
		Hooks: retry.Hooks{OnAttempt: func(ctx context.Context, _ retry.Attempt) (context.Context, func(retry.Attempt)) {
			return ctx, func(a retry.Attempt) { seen = a }
		}},
	}
	require.Error(t, retry.Do(t.Context(), p, retrytest.Script(err).Run))
	return seen
}

// TestPolicyClassify: from outside a policy classifies as the loop does.
func TestPolicyClassify(t *testing.T) {
	for _, c := range []retry.Classifier{nil, retry.DefaultClassifier{}, awspreset.Classifier{}, retry.FirstOf()} {
		for _, err := range []error{
			errOp, io.EOF, codedError{"SlowDown"}, statusedError(404), retry.Permanent(errOp), retry.After(errOp, time.Minute),
			retry.Throttled(io.EOF), retryAfter(time.Second), retry.Unrepeatable(io.EOF), &retry.Error{Err: errOp, Reason: retry.ErrMaxAttempts},
		} {
			want := failed(t, c, err)
			want.Number = 0 // it is not known from outside
			assert.Equal(t, want, retry.Policy{Classifier: c}.Classify(err), "%T, %v", c, err)
		}
	}
	assert.Zero(t, retry.Policy{}.Classify(nil))
}

func TestMarkers(t *testing.T) {
	s := time.Second
	tests := []struct {
		name string
		err  error
		want retry.Class
		hint time.Duration
	}{
		{"permanent", retry.Permanent(errOp), retry.ClassPermanent, 0},
		{"permanent inside", wrapped(retry.Permanent(errOp)), retry.ClassPermanent, 0},
		{"permanent in a tree", errors.Join(errOp, wrapped(retry.Permanent(errOp))), retry.ClassPermanent, 0},
		{"transient", retry.Transient(statusedError(404)), retry.ClassTransient, 0},
		{"throttled", wrapped(retry.Throttled(statusedError(404))), retry.ClassThrottled, 0},
		{"after keeps the class", retry.After(statusedError(429), s), retry.ClassThrottled, s},
		{"after retries what is permanent", retry.After(statusedError(404), s), retry.ClassTransient, s},
		{"after of a plain error", retry.After(errOp, s), retry.ClassTransient, s},
		{"after 0", retry.After(statusedError(404), 0), retry.ClassTransient, 0},
		{"after 0 around a hint of its own", retry.After(retryAfter(s), 0), retry.ClassTransient, 0},
		{"after 0 around after", retry.After(retry.After(errOp, s), 0), retry.ClassTransient, 0},
		{"after 0 inside a hint", hintedError{s, retry.After(errOp, 0)}, retry.ClassTransient, s},
		{"a nil pointer that cannot unwrap", (*url.Error)(nil), retry.ClassTransient, 0},
		{"after a negative time", retry.After(errOp, -s), retry.ClassTransient, 0},
		{"the outermost class", retry.Transient(retry.Permanent(errOp)), retry.ClassTransient, 0},
		{"the outermost class again", retry.Permanent(retry.Throttled(errOp)), retry.ClassPermanent, 0},
		{"the outermost hint", retry.After(retry.After(errOp, s), 2*s), retry.ClassTransient, 2 * s},
		{"a class and a hint", retry.Throttled(retry.After(errOp, s)), retry.ClassThrottled, s},
		{"a hint and a class", retry.After(retry.Throttled(errOp), s), retry.ClassThrottled, s},
		{"a hint revives what is permanent inside", retry.After(wrapped(retry.Permanent(errOp)), s), retry.ClassTransient, s},
		{"a hint revives a give-up", retry.After(errors.Join(&retry.Error{Err: errOp, Reason: retry.ErrBudget}, errOp), s), retry.ClassTransient, s},
		{"a give-up hides what it is made of", &retry.Error{Err: retry.Transient(errOp), Reason: retry.ErrBudget}, retry.ClassPermanent, 0},
		{"a give-up beside a marker", errors.Join(&retry.Error{Err: errOp, Reason: retry.ErrBudget}, retry.Transient(errOp)), retry.ClassPermanent, 0},
		{"no hint of its own around one", hintedError{0, retry.After(errOp, s)}, retry.ClassTransient, s},
		{"a marker inside a hint of its own", hintedError{time.Second, retry.Permanent(errOp)}, retry.ClassPermanent, s},
		{"a hint does not revive what is permanent outside", retry.Permanent(retry.After(errOp, s)), retry.ClassPermanent, s},
		{"an error's own hint", wrapped(retryAfter(s)), retry.ClassTransient, s},
		{"a negative hint of its own", retryAfter(-s), retry.ClassTransient, 0},
		{"a marker's hint around one of its own", retry.After(retryAfter(s), 2*s), retry.ClassTransient, 2 * s},
		{"a half-built hint", brokenError{errOp}, retry.ClassTransient, 0},
		{"no marker", statusedError(404), retry.ClassPermanent, 0},
		{"nobody knows", errOp, retry.ClassTransient, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			class, hint := outcome(t, nil, tt.err)
			assert.Equal(t, tt.want, class)
			assert.Equal(t, tt.hint, hint)
		})
	}
	t.Run("final", func(t *testing.T) {
		for _, tt := range []struct {
			name  string
			err   error
			class retry.Class
			final bool
		}{
			{"keeps the class", retry.Unrepeatable(statusedError(429)), retry.ClassThrottled, true},
			{"inside another error", wrapped(retry.Unrepeatable(errOp)), retry.ClassTransient, true},
			{"in a tree", errors.Join(errOp, retry.Unrepeatable(errOp)), retry.ClassTransient, true},
			{"around a class", retry.Unrepeatable(retry.Throttled(errOp)), retry.ClassThrottled, true},
			{"around after", retry.Unrepeatable(retry.After(statusedError(404), s)), retry.ClassTransient, true},
			{"inside transient", retry.Transient(retry.Unrepeatable(errOp)), retry.ClassTransient, false},
			{"inside after", retry.After(retry.Unrepeatable(errOp), s), retry.ClassTransient, false},
			{"inside after 0", retry.After(retry.Unrepeatable(errOp), 0), retry.ClassTransient, false},
			{"of what is permanent", retry.Unrepeatable(statusedError(404)), retry.ClassPermanent, true},
			{"inside a give-up", &retry.Error{Err: retry.Unrepeatable(errOp), Reason: retry.ErrUnrepeatable}, retry.ClassPermanent, false},
			{"not there", errOp, retry.ClassTransient, false},
		} {
			a := failed(t, nil, tt.err)
			assert.Equal(t, tt.class, a.Class, tt.name)
			assert.Equal(t, tt.final, a.Unrepeatable, tt.name)
		}
		assert.Equal(t, s, failed(t, nil, retry.Unrepeatable(retry.After(errOp, s))).Hint)
	})
	t.Run("win over a classifier", func(t *testing.T) {
		never := retry.ClassifierFunc(func(error) retry.Class { return retry.ClassPermanent })
		class, _ := outcome(t, never, retry.Transient(errOp))
		assert.Equal(t, retry.ClassTransient, class)
		class, _ = outcome(t, never, errOp)
		assert.Equal(t, retry.ClassPermanent, class)
	})
	t.Run("keep text and chain", func(t *testing.T) {
		for _, err := range []error{retry.Permanent(errOp), retry.Transient(errOp), retry.Throttled(errOp), retry.After(errOp, s), retry.Unrepeatable(errOp)} {
			assert.EqualError(t, err, errOp.Error())
			assert.ErrorIs(t, err, errOp)
		}
	})
	t.Run("keep nil", func(t *testing.T) {
		assert.NoError(t, retry.Permanent(nil))
		assert.NoError(t, retry.Transient(nil))
		assert.NoError(t, retry.Throttled(nil))
		assert.NoError(t, retry.After(nil, s))
		assert.NoError(t, retry.Unrepeatable(nil))
	})
}

// TestOnlyIf: what is not allowed is permanent; the rest keeps a class that is retried.
func TestOnlyIf(t *testing.T) {
	allowed := statusedError(503)
	c := retry.OnlyIf(func(err error) bool {
		return errors.Is(err, allowed) || errors.Is(err, io.EOF) || errors.Is(err, errOp)
	})
	for name, tt := range map[string]struct {
		err  error
		want retry.Class
	}{
		"not on the list":           {errors.New("other"), retry.ClassPermanent},
		"retryable, not on it":      {statusedError(500), retry.ClassPermanent},
		"on the list":               {allowed, retry.ClassTransient},
		"nothing known":             {errOp, retry.ClassTransient},
		"throttling keeps its wait": {errors.Join(io.EOF, statusedError(429)), retry.ClassThrottled},
		"permanent otherwise":       {errors.Join(io.EOF, statusedError(404)), retry.ClassTransient},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, c.Classify(tt.err)) })
	}
	assert.ErrorContains(t, retry.Policy{Classifier: retry.OnlyIf(nil)}.Validate(), "Classifier is a nil retry.onlyIf")
}
