package retry_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/doc"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/retrytest"
)

type classCase struct {
	name string
	err  error
	want retry.Class
}

func checkClasses(t *testing.T, cases []classCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, retry.DefaultClassifier{}.Classify(tt.err).Class)
		})
	}
}

// dialed returns the error of an http.Client that could not connect.
func dialed(err error) error {
	return &url.Error{Op: "Get", URL: "http://host/", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}
}

func TestClassOfPlainErrors(t *testing.T) {
	checkClasses(t, []classCase{
		{"plain", errOp, unknown},
		{"wrapped", wrapped(errOp), unknown},
		{"context canceled", context.Canceled, permanent},
		{"own time limit", context.DeadlineExceeded, timeout},
		{"i/o time limit", wrapped(os.ErrDeadlineExceeded), timeout},
	})
}

func TestClassOfStatuses(t *testing.T) {
	checkClasses(t, []classCase{
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
		{"status 451", statusedError(451), unknown},
		{"status 499", statusedError(499), unknown},
		{"status 529", statusedError(529), throttled},
		{"status of another method", httpCodeError{404}, permanent},
		{"code Throttling", codedError{"Throttling"}, throttled},
		{"code SlowDown", codeAndStatus{codedError{"SlowDown"}, statusedError(503)}, throttled},
		{"code outweighs status", codeAndStatus{codedError{"ThrottlingException"}, statusedError(400)}, throttled},
		{"code RequestTimeout", codeAndStatus{codedError{"RequestTimeout"}, statusedError(400)}, timeout},
		{"code AccessDenied", codeAndStatus{codedError{"AccessDenied"}, statusedError(403)}, permanent},
		{"code alone", codedError{"Something"}, unknown},
	})
}

func TestClassOfDatabases(t *testing.T) {
	checkClasses(t, []classCase{
		{"serialization failure", sqlError{"40001"}, transient},
		{"deadlock", wrapped(sqlError{"40P01"}), transient},
		{"outcome unknown", sqlError{"40003"}, transient},
		{"outcome of the connection unknown", sqlError{"08007"}, transient},
		{"too many connections", sqlError{"53300"}, throttled},
		{"shutdown", sqlError{"57P01"}, transient},
		{"canceled statement", sqlError{"57014"}, permanent},
		{"unique violation", sqlError{"23505"}, permanent},
		{"redis busy", redisError{"BUSY running a script"}, transient},
		{"redis loading", wrapped(redisError{"LOADING dataset"}), transient},
		{"redis wrong type", redisError{"WRONGTYPE Operation"}, permanent},
		{"redis nil", redisError{"redis: nil"}, permanent},
		{"overload of MongoDB", labelError{"SystemOverloadedError"}, throttled},
		{"duplicate key of MongoDB", mongoError{0, 11000}, permanent},
		{"stepped down", mongoError{189}, transient},
		{"no code of MongoDB", mongoError{}, unknown},
	})
}

func TestClassOfMethods(t *testing.T) {
	checkClasses(t, []classCase{
		{"label of a transaction", labelError{"TransientTransactionError"}, transient},
		{"label of a write", labelError{"RetryableWriteError"}, transient},
		{"other label", labelError{"Other"}, unknown},
		{"retryable", retryableError{true}, transient},
		{"not retryable", retryableError{false}, permanent},
		{"smithy, retryable", smithyError{true}, transient},
		{"smithy, not retryable", wrapped(smithyError{false}), permanent},
		{"canceled by the caller", canceledError{true}, permanent},
		{"not canceled", canceledError{false}, unknown},
		{"safe to retry", pgxError{true}, transient},
		{"not known to be safe", pgxError{false}, unknown},
		{"azure, not retryable", azureError{statusedError(503)}, permanent},
		{"a method outweighs the status", errors.Join(retryableError{true}, statusedError(404)), transient},
		{"not retryable outweighs throttling", errors.Join(retryableError{false}, statusedError(429)), permanent},
	})
}

func TestClassOfConnections(t *testing.T) {
	checkClasses(t, []classCase{
		{"connection", connError{true}, transient},
		{"no connection", connError{false}, unknown},
		{"timeout", timeoutError{true}, timeout},
		{"no timeout", timeoutError{false}, unknown},
		{"connection refused", dialed(os.NewSyscallError("connect", syscall.ECONNREFUSED)), transient},
		{"dial timeout", dialed(os.ErrDeadlineExceeded), timeout},
		{"no such host", dialed(&net.DNSError{Err: "no such host", IsNotFound: true}), transient},
		{"DNS is down", dialed(&net.DNSError{Err: "server misbehaving", IsTemporary: true}), transient},
		{"DNS is slow", dialed(&net.DNSError{Err: "i/o timeout", IsTimeout: true}), timeout},
		{"bare reset", syscall.ECONNRESET, transient},
		{"other errno", syscall.EINVAL, unknown},
		{"closed before a response", &url.Error{Op: "Get", Err: io.EOF}, transient},
		{"closed within a response", io.ErrUnexpectedEOF, transient},
		{"unknown certificate", &url.Error{Op: "Get", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, permanent},
		{"bad certificate", &tls.CertificateVerificationError{Err: errOp}, permanent},
		{"certificate of another name", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "host"}, permanent},
		{"not TLS at all", &url.Error{Op: "Get", Err: tls.RecordHeaderError{Msg: "not TLS"}}, permanent},
		{"alert of the server", &url.Error{Op: "Get", Err: &net.OpError{Op: "remote error", Err: tls.AlertError(40)}}, permanent},
	})
}

func TestClassOfLocalFailures(t *testing.T) {
	checkClasses(t, []classCase{
		{"no such file", &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, permanent},
		{"no such file, wrapped", wrapped(fs.ErrNotExist), permanent},
		{"no such socket yet", dialed(os.NewSyscallError("connect", syscall.ENOENT)), transient},
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
	})
}

func TestClassOfFields(t *testing.T) {
	checkClasses(t, []classCase{
		{"field for the status", statusField{404}, permanent},
		{"field of a pointer", wrapped(&statusField{429}), throttled},
		{"field for something else", statusField{7}, unknown},
		{"field of a nil pointer", (*statusField)(nil), unknown},
		{"field of another name", &statusFieldOfStripe{HTTPStatusCode: 503}, transient},
		{"response", &responseField{Response: &http.Response{StatusCode: 404}}, permanent},
		{"no response", &responseField{}, unknown},
	})
}

func TestClassOfTrees(t *testing.T) {
	checkClasses(t, []classCase{
		{"the outermost status", fmt.Errorf("%w after %w", statusedError(503), statusedError(404)), transient},
		{"a tree", errors.Join(errOp, wrapped(statusedError(404))), permanent},
		{"half-built", brokenError{}, unknown},
		{"a nil pointer", (*net.DNSError)(nil), transient},
		{"a nil pointer that cannot unwrap", wrapped((*url.Error)(nil)), unknown},
		{"a nil pointer of the network", (*net.OpError)(nil), transient},
		{"half-built around more", brokenError{statusedError(404)}, permanent},
	})
}

// errLost has the text of go-sql-driver/mysql's ErrInvalidConn.
var errLost = errors.New("invalid connection")

func TestUnrepeatableErrors(t *testing.T) {
	mine := func(class retry.Class) retry.Classifier {
		return retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: class} })
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
		{"another classifier decides first", retry.FirstOf(mine(retry.ClassTransient), retry.DefaultClassifier{}), errLost, retry.ClassTransient, false},
		{"another classifier alone", mine(retry.ClassUnknown), errLost, retry.ClassUnknown, false},
		{"called by another classifier", retry.ClassifierFunc(retry.DefaultClassifier{}.Classify), errLost, retry.ClassTransient, true},
		{"in a list called by another classifier", retry.ClassifierFunc(retry.FirstOf(retry.DefaultClassifier{}).Classify), errLost, retry.ClassTransient, true},
		{"statement with an unknown outcome", nil, sqlError{"40003"}, retry.ClassTransient, true},
		{"transaction with an unknown outcome", nil, wrapped(sqlError{"08007"}), retry.ClassTransient, true},
		{"commit with an unknown outcome", nil, labelError{"UnknownTransactionCommitResult"}, retry.ClassTransient, true},
		{"unknown outcome before a lost connection", nil, errors.Join(labelError{"UnknownTransactionCommitResult"}, labelError{"RetryableWriteError"}, errors.New("invalid connection")), retry.ClassTransient, true},
		{"retryable further out", nil, errors.Join(retryableError{true}, errLost), retry.ClassTransient, false},
		{"not retryable further out", nil, errors.Join(retryableError{false}, errLost), retry.ClassPermanent, false},
		{"marked transient", nil, retry.Transient(errLost), retry.ClassTransient, false},
		{"marked with a hint", nil, retry.After(errLost, time.Second), retry.ClassTransient, true},
		{"a plain error", nil, errOp, retry.ClassUnknown, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := failed(t, tt.classifier, tt.err)
			assert.Equal(t, tt.class, a.Class)
			assert.Equal(t, tt.unrepeatable, a.Unrepeatable)
		})
	}
	op := retrytest.Script(errLost, nil)
	err := retry.Do(t.Context(), retry.Policy{Backoff: retry.NoDelay{}}, op.Run)
	require.ErrorIs(t, err, retry.ErrUnrepeatable)
	assert.EqualError(t, err, "gave up after 1 attempt (not safe to repeat; retry.Transient overrides this): invalid connection")
}

// counting is a Classifier around another, as programs write them for logs and metrics.
type counting struct {
	next retry.Classifier
	seen map[retry.Class]int
}

func (c counting) Classify(err error) retry.Verdict {
	v := c.next.Classify(err)
	c.seen[v.Class]++
	return v
}

// decorations are Classifiers that should judge an error which may have taken effect as
// the default does.
var decorations = map[string]retry.Classifier{
	"none":    nil,
	"default": retry.DefaultClassifier{},
	"only if": retry.OnlyIf(nil),
	"three layers": counting{retry.ClassifierFunc(func(err error) retry.Verdict {
		return retry.FirstOf(retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{} }), retry.DefaultClassifier{}).Classify(err)
	}), map[retry.Class]int{}},
	"policy in a classifier": retry.ClassifierFunc(func(err error) retry.Verdict { return retry.Policy{}.Classify(err) }),
	"nothing known":          retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Unrepeatable: true} }),
	"nothing known, in a list": retry.FirstOf(
		retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Unrepeatable: true} }),
		retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassTransient} })),
}

// TestUnrepeatableUnderEveryClassifier: an error that may have taken effect ends the call,
// however its Classifier is composed, and even if the attempt was too long.
func TestUnrepeatableUnderEveryClassifier(t *testing.T) {
	for name, err := range map[string]error{
		"MySQL, lost connection":        errLost,
		"MySQL, lost connection, below": errors.Join(errOp, wrapped(errLost)),
		"PostgreSQL, unknown outcome":   sqlError{"40003"},
		"SQL, connection lost in it":    wrapped(sqlError{"08007"}),
		"MongoDB, unknown commit":       labelError{"UnknownTransactionCommitResult"},
	} {
		for decoration, c := range decorations {
			for _, limit := range []time.Duration{0, time.Second} {
				t.Run(fmt.Sprint(name, "/", decoration, "/", limit), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						calls := 0
						got := retry.Do(t.Context(), retry.Policy{Classifier: c, AttemptTimeout: limit}, func(context.Context) error {
							calls++
							time.Sleep(2 * limit)
							return err
						})
						assert.ErrorIs(t, got, retry.ErrUnrepeatable)
						assert.ErrorIs(t, got, err)
						assert.Equal(t, 1, calls)
					})
				})
			}
		}
	}
}

// TestVerdictOfClassifier: every field of a Classifier's verdict reaches the call, and
// After overrides the class and the hint.
func TestVerdictOfClassifier(t *testing.T) {
	const s = time.Second
	says := func(v retry.Verdict) retry.Classifier {
		return retry.ClassifierFunc(func(error) retry.Verdict { return v })
	}
	for name, tt := range map[string]struct {
		classifier retry.Classifier
		err        error
		want       retry.Verdict
	}{
		"a hint":                         {says(retry.Verdict{Hint: s}), errOp, retry.Verdict{Class: unknown, Hint: s}},
		"a hint before the error's own":  {says(retry.Verdict{Class: throttled, Hint: s}), retryAfter(9 * s), retry.Verdict{Class: throttled, Hint: s}},
		"no hint":                        {says(retry.Verdict{Class: throttled}), retryAfter(9 * s), retry.Verdict{Class: throttled, Hint: 9 * s}},
		"a negative hint":                {says(retry.Verdict{Class: throttled, Hint: -s}), retryAfter(9 * s), retry.Verdict{Class: throttled, Hint: 9 * s}},
		"the outer of two hints":         {nil, fmt.Errorf("%w, %w", retryAfter(2*s), retryAfter(9*s)), retry.Verdict{Class: unknown, Hint: 2 * s}},
		"the outer After":                {nil, retry.After(wrapped(retry.After(errOp, 9*s)), 2*s), retry.Verdict{Class: unknown, Hint: 2 * s}},
		"After inside a hint":            {nil, hintedError{9 * s, retry.After(errOp, 2*s)}, retry.Verdict{Class: unknown, Hint: 2 * s}},
		"After before a hint":            {says(retry.Verdict{Class: timeout, Hint: s}), retry.After(errOp, 2*s), retry.Verdict{Class: timeout, Hint: 2 * s}},
		"After 0 before a hint":          {says(retry.Verdict{Class: permanent, Hint: s, Unrepeatable: true}), retry.After(errOp, 0), retry.Verdict{Class: transient, Unrepeatable: true}},
		"progress":                       {says(retry.Verdict{Progress: true}), errOp, retry.Verdict{Class: unknown, Progress: true}},
		"a marker with a class":          {says(retry.Verdict{Class: permanent, Hint: s, Unrepeatable: true}), retry.Throttled(retryAfter(9 * s)), retry.Verdict{Class: throttled, Hint: 9 * s}},
		"the first hint of a list":       {retry.FirstOf(says(retry.Verdict{Hint: 1}), says(retry.Verdict{Class: timeout, Hint: 2 * s})), errOp, retry.Verdict{Class: timeout, Hint: 1}},
		"progress and more of a list":    {retry.FirstOf(says(retry.Verdict{Progress: true}), says(retry.Verdict{Unrepeatable: true})), errOp, retry.Verdict{Class: unknown, Progress: true, Unrepeatable: true}},
		"nothing after the first class":  {retry.FirstOf(says(retry.Verdict{Class: timeout}), says(retry.Verdict{Unrepeatable: true})), errOp, retry.Verdict{Class: timeout}},
		"OnlyIf of a permanent status":   {retry.OnlyIf(nil), statusedError(404), retry.Verdict{Class: transient}},
		"OnlyIf of a throttling service": {retry.OnlyIf(nil), codedError{"SlowDown"}, retry.Verdict{Class: throttled}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, retry.Policy{Classifier: tt.classifier}.Classify(tt.err))
			assert.Equal(t, tt.want, failed(t, tt.classifier, tt.err).Verdict, "as Do has it")
		})
	}
}

// TestClassesOfFacts: the classes of errfacts have the values of this package's
// classes.
func TestClassesOfFacts(t *testing.T) {
	assert.Equal(t, []retry.Class{retry.ClassUnknown, retry.ClassPermanent, retry.ClassTransient, retry.ClassTimeout, retry.ClassThrottled},
		[]retry.Class{retry.Class(errfacts.Unknown), retry.Class(errfacts.Permanent), retry.Class(errfacts.Transient),
			retry.Class(errfacts.TimedOut), retry.Class(errfacts.Throttled)})
}

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
		assert.Equal(t, tt.want, retry.DefaultClassifier{}.Classify(tt.err).Class, "%s: %v", name, tt.err)
	}
}

// writeTLS returns the error of a failed write to a TLS connection, which crypto/tls
// wraps in its own type.
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
		return retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: c} })
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
		assert.Equal(t, tt.want, retry.FirstOf(tt.list...).Classify(errOp).Class)
	}
	list := []retry.Classifier{says(retry.ClassTimeout)}
	c := retry.FirstOf(list...)
	list[0] = says(retry.ClassPermanent)
	assert.Equal(t, retry.ClassTimeout, c.Classify(errOp).Class, "the list is copied")
}

// TestPartsOfClassifier: a package can find a Classifier that another one consults.
func TestPartsOfClassifier(t *testing.T) {
	type parts interface{ Unwrap() []retry.Classifier }
	mine, other := retry.OnlyIf(nil), retry.DefaultClassifier{}
	first, ok := retry.FirstOf(retry.DefaultClassifier{}, other).(parts)
	require.True(t, ok)
	assert.Equal(t, []retry.Classifier{retry.DefaultClassifier{}, other}, first.Unwrap())
	first.Unwrap()[0] = mine
	assert.Equal(t, retry.DefaultClassifier{}, first.Unwrap()[0], "the list is copied")
	assert.Equal(t, []retry.Classifier{other}, retry.Codes{Else: other}.Unwrap())
}

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
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, c.Classify(tt.err).Class) })
	}
	all := retry.OnlyIf(nil)
	assert.NoError(t, retry.Policy{Classifier: all}.Validate())
	assert.Equal(t, retry.Verdict{Class: retry.ClassTransient}, all.Classify(statusedError(404)))
	assert.True(t, retry.Policy{Classifier: all}.Classify(retry.Unrepeatable(errOp)).Unrepeatable, "even then")
}

// TestComment: the comment of DefaultClassifier names the methods that decide about a class.
// The others are for hints and for the AWS SDKs, or belong to one library, which the
// comment names.
func TestComment(t *testing.T) {
	source, err := os.ReadFile("internal/errfacts/methods.go")
	require.NoError(t, err)
	others := []string{"Code", "ErrorMessage", "HasErrorLabel", "ErrorCodes", "Temporary", "IsRetriable", "RetryAfter"}
	comment := classifierComment(t)
	methods := []string{"Timeout"} // the interface is in another file
	for _, found := range regexp.MustCompile(`interface\{ (\w+)\((\w*)\) ?([\w.\[\]]*) \}`).FindAllStringSubmatch(string(source), -1) {
		methods = append(methods, found[1])
		if !slices.Contains(others, found[1]) {
			assert.Contains(t, comment, strings.TrimSpace(found[1]+"() "+found[3]))
		}
	}
	assert.Len(t, methods, 29)
	for _, named := range regexp.MustCompile(`(\w+)\(\)`).FindAllStringSubmatch(comment, -1) {
		assert.Contains(t, methods, named[1])
	}
}

// classifierComment returns the comment of DefaultClassifier.
func classifierComment(t *testing.T) string {
	t.Helper()
	types := parsePackage(t, ".").Types
	i := slices.IndexFunc(types, func(typ *doc.Type) bool { return typ.Name == "DefaultClassifier" })
	require.GreaterOrEqual(t, i, 0)
	return types[i].Doc
}

// statuses returns an error for each HTTP status from first to last, except some.
func statuses(first, last int, except ...int) (errs []error) {
	for status := first; status <= last; status++ {
		if !slices.Contains(except, status) {
			errs = append(errs, statusedError(status))
		}
	}
	return errs
}

type (
	isRetryableError  struct{ retryableError }
	nonRetryableError struct{ retryableError }
	statusCodeError   struct{ code int }
)

func (e isRetryableError) IsRetryable() bool   { return e.yes }
func (isRetryableError) Retryable(int)         {} // hides the method
func (e nonRetryableError) NonRetryable() bool { return e.yes }
func (statusCodeError) Error() string          { return "status" }
func (e statusCodeError) StatusCode() int      { return e.code }

// rules are the rows of the table in DefaultClassifier's comment, by their first words,
// with errors that they are about.
var rules = []struct {
	words string
	want  []retry.Verdict // one for all errors, or one for each
	errs  []error
}{
	{"marked", []retry.Verdict{{Class: permanent}, {Class: transient}, {Class: throttled}},
		[]error{retry.Permanent(errOp), wrapped(retry.Transient(statusedError(404))), retry.Throttled(statusedError(503))}},
	{"inner Do", []retry.Verdict{{Class: transient, GaveUp: true}, {Class: permanent, GaveUp: true}},
		[]error{&retry.Error{Err: statusedError(503), Reason: retry.ErrMaxAttempts}, &retry.Error{Err: statusedError(404), Reason: retry.ErrMaxAttempts}}},
	{"another library's permanent marker", nil, nil}, // see the tests of the errors of libraries
	{"listed in PermanentIf", []retry.Verdict{{Class: permanent}}, []error{errGone, wrapped(errGone), errors.Join(errOp, errGone)}},
	{"context.Canceled", []retry.Verdict{{Class: permanent}, {Class: transient}, {}}, []error{wrapped(context.Canceled), errors.Join(context.Canceled, statusedError(503)), errors.Join(errors.New("shard 3"), context.Canceled)}},
	{"method", []retry.Verdict{{Class: permanent}, {Class: permanent}, {Class: transient}, {Class: transient}},
		[]error{smithyError{false}, nonRetryableError{retryableError{true}}, isRetryableError{retryableError{true}}, pgxError{true}}},
	{"code insufficient_quota", []retry.Verdict{{Class: permanent}}, []error{codeAndStatus{codedError{"insufficient_quota"}, statusedError(429)}}},
	{"status 420, 429, 430, 529", []retry.Verdict{{Class: throttled}},
		[]error{statusedError(420), statusedError(429), statusedError(430), &statusField{529}, codeAndStatus{codedError{"ThrottlingException"}, statusedError(400)}, apiRateLimitError{}, tooManyRequests{}}},
	{"409 Conflict", []retry.Verdict{{Class: transient}},
		[]error{codeAndStatus{codedError{"ConflictException"}, statusedError(409)}, codeAndStatus{codedError{"OperationAborted"}, statusedError(409)}, &statusFieldOfStripe{HTTPStatusCode: 503}}},
	{"status 501, 505", []retry.Verdict{{Class: permanent}}, []error{statusedError(501), statusedError(505), statusedError(506), statusedError(508),
		statusedError(510), statusedError(511), statusedError(525), statusedError(526)}},
	{"status 408, 421", append(slices.Repeat([]retry.Verdict{{Class: transient}}, 25), retry.Verdict{Class: timeout}),
		append(statuses(500, 528, 501, 505, 506, 508, 510, 511, 525, 526), statusedError(421), statusedError(423), &statusField{425}, wrapped(statusedError(503)), statusedError(408))},
	{"other status from 400", []retry.Verdict{{Class: permanent}}, append(statuses(400, 431, 408, 420, 421, 423, 425, 429, 430),
		httpCodeError{404}, statusCodeError{404}, &responseField{Response: &http.Response{StatusCode: 404}})},
	{"code of gRPC", []retry.Verdict{{Class: permanent}, {Class: transient}, {Class: permanent}, {Class: permanent}, {Class: permanent}},
		[]error{sqlError{"23505"}, sqlError{"40001"}, redisError{"WRONGTYPE Operation"}, mongoError{11000}, &textproto.Error{Code: 550}}},
	{"connection lost", []retry.Verdict{{Class: transient, Unrepeatable: true}}, []error{errLost, wrapped(sqlError{"08007"})}},
	{"timeout; connection refused", []retry.Verdict{{Class: timeout}, {Class: timeout}, {Class: transient}},
		[]error{context.DeadlineExceeded, timeoutError{true}, syscall.ECONNRESET, dialed(syscall.ECONNREFUSED), io.ErrUnexpectedEOF, &net.DNSError{Err: "no such host", IsNotFound: true}, tls.AlertError(80), json.Unmarshal([]byte("{"), new(int))}},
	{"bad certificate", []retry.Verdict{{Class: permanent}}, []error{tls.AlertError(40), x509.UnknownAuthorityError{}, &net.AddrError{Err: "missing port"},
		&url.Error{Op: "Get", Err: errors.New("unsupported protocol scheme")}, &json.SyntaxError{}, hex.InvalidByteError('x')}},
	{"fs.ErrNotExist", []retry.Verdict{{Class: permanent}}, []error{wrapped(fs.ErrNotExist), fs.ErrExist, fs.ErrPermission, exec.ErrNotFound, &exec.Error{Name: "x", Err: exec.ErrNotFound}}},
	{"known variable", []retry.Verdict{{Class: permanent}}, []error{wrapped(sql.ErrNoRows), sql.ErrTxDone, http.ErrServerClosed, errors.New("redis: nil")}},
	{"anything else", []retry.Verdict{{Class: unknown}}, []error{errOp, errors.New("order not found"), fmt.Errorf("order %d not found", 17), errors.New("unauthorized"),
		errors.New("404 Not Found"), errors.New("no rows in result set"), errors.New("mypackage: closed"), fmt.Errorf("find user: %w", errors.New("record not found"))}},
}

var errGone = errors.New("gone")

type (
	apiRateLimitError struct{}
	tooManyRequests   struct{}
)

func (apiRateLimitError) Error() string { return "no" }
func (tooManyRequests) Error() string   { return "no" }

// TestRules: the table in DefaultClassifier's comment is true, and docs/errors.md has the same.
func TestRules(t *testing.T) {
	rows := rowsOf(classifierComment(t), regexp.MustCompile(`(?m)^\t(.+?)  +(.+)$`))
	page, err := os.ReadFile("docs/errors.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "<!-- rules -->\n")
	table, _, _ = strings.Cut(table, "<!-- end -->")
	assert.Equal(t, rows, rowsOf(strings.Replace(table, "|---|---|\n", "", 1), regexp.MustCompile(`(?m)^\| (.+?) +\| (.+) \|$`)))
	require.Len(t, rows, len(rules)+1, "and a head")
	policy := retry.Policy{Classifier: retry.PermanentIf(errGone)}
	for i, rule := range rules {
		assert.True(t, strings.HasPrefix(rows[i+1], rule.words), "%q is about %s", rows[i+1], rule.words)
		for j, err := range rule.errs {
			want := rule.want[min(j, len(rule.want)-1)]
			assert.Equal(t, want, policy.Classify(err), "%s: %v", rule.words, err)
		}
	}
}

// rowsOf returns the rows of a table of two columns.
func rowsOf(text string, row *regexp.Regexp) (rows []string) {
	for _, cells := range row.FindAllStringSubmatch(text, -1) {
		rows = append(rows, cells[1]+" | "+cells[2])
	}
	return rows
}

func TestPermanentIf(t *testing.T) {
	c := retry.PermanentIf(errGone, fs.ErrClosed)
	for name, tt := range map[string]struct {
		err  error
		want retry.Verdict
	}{
		"listed":                       {wrapped(errGone), retry.Verdict{Class: permanent}},
		"beside a retryable error":     {errors.Join(statusedError(503), errGone), retry.Verdict{Class: permanent}},
		"matched by a method":          {matchesGone{}, retry.Verdict{Class: permanent}},
		"not listed":                   {statusedError(503), retry.Verdict{Class: transient}},
		"permanent without the list":   {statusedError(404), retry.Verdict{Class: permanent}},
		"marked":                       {retry.Transient(errGone), retry.Verdict{Class: transient}},
		"marked inside":                {wrapped(retry.Throttled(errGone)), retry.Verdict{Class: throttled}},
		"hint":                         {retry.After(errGone, time.Second), retry.Verdict{Class: transient, Hint: time.Second}},
		"unrepeatable":                 {errLost, retry.Verdict{Class: transient, Unrepeatable: true}},
		"unrepeatable and listed":      {errors.Join(errLost, errGone), retry.Verdict{Class: permanent, Unrepeatable: true}},
		"listed beside a cancellation": {errors.Join(context.Canceled, errGone), retry.Verdict{Class: permanent}},
		"wraps itself":                 {newRing(), retry.Verdict{Class: unknown}},
	} {
		assert.Equal(t, tt.want, retry.Policy{Classifier: c}.Classify(tt.err), name)
	}
	assert.NoError(t, retry.Policy{Classifier: c}.Validate())
	assert.ErrorContains(t, retry.Policy{Classifier: retry.PermanentIf()}.Validate(), "PermanentIf has no error")
	assert.ErrorContains(t, retry.Policy{Classifier: retry.FirstOf(retry.PermanentIf(errGone, nil))}.Validate(), "PermanentIf[1] is nil")
	assert.Equal(t, retry.Verdict{Class: unknown}, retry.Policy{Classifier: retry.PermanentIf(nil)}.Classify(errOp))
}

// matchesGone matches errGone by its method Is.
type matchesGone struct{}

func (matchesGone) Error() string        { return "no" }
func (matchesGone) Is(target error) bool { return target == errGone }

// A ring is an error that wraps itself.
type ring struct{ next error }

func (r *ring) Error() string { return "ring" }
func (r *ring) Unwrap() error { return r.next }

func newRing() error {
	r := &ring{}
	r.next = wrapped(r)
	return r
}

// doubled wraps err twice in each of so many levels: a tree of 2^levels errors.
func doubled(err error, levels int) error {
	for range levels {
		err = errors.Join(err, err)
	}
	return err
}

// TestEndlessErrors: an error that wraps itself, or the same error in very many ways, is
// classified by the errors that are visited first.
func TestEndlessErrors(t *testing.T) {
	many := slices.Repeat([]error{errOp}, 1<<20)
	for name, tt := range map[string]struct {
		err  error
		want retry.Verdict
	}{
		"ring":                         {newRing(), retry.Verdict{Class: unknown}},
		"ring and more":                {errors.Join(statusedError(404), newRing()), retry.Verdict{Class: permanent}},
		"doubled":                      {doubled(errOp, 40), retry.Verdict{Class: unknown}},
		"doubled, known":               {doubled(statusedError(404), 40), retry.Verdict{Class: permanent}},
		"doubled after a lost one":     {errors.Join(errLost, doubled(statusedError(503), 40)), retry.Verdict{Class: transient, Unrepeatable: true}},
		"doubled after a marked one":   {errors.Join(retry.Permanent(errOp), doubled(errOp, 40)), retry.Verdict{Class: permanent}},
		"many":                         {errors.Join(many...), retry.Verdict{Class: unknown}},
		"many, a known one within 256": {errors.Join(append(many[:200:200], statusedError(404))...), retry.Verdict{Class: permanent}},
		"many, a known one after 256":  {errors.Join(append(many[:300:300], statusedError(404))...), retry.Verdict{Class: unknown}},
	} {
		assert.Equal(t, tt.want, retry.Policy{}.Classify(tt.err), name)
		assert.Error(t, retry.Do(t.Context(), retry.Policy{MaxAttempts: 1, AttemptTimeout: time.Hour}, func(context.Context) error { return tt.err }), name)
	}
	assert.False(t, (&retry.Error{Err: newRing(), Reason: retry.ErrMaxAttempts}).Timeout())
	assert.Equal(t, "wait", (&retry.Error{Reason: newRing()}).ReasonLabel())
	inner := &retry.Error{Err: errOp, Reason: newRing()}
	assert.True(t, retry.Policy{}.Classify(inner).GaveUp)
	err := retry.Do(t.Context(), retry.Policy{MaxAttempts: 1, AttemptTimeout: 1}, func(ctx context.Context) error {
		<-ctx.Done()
		return inner
	})
	assert.IsType(t, inner, err) // errors.As would not return
}
