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
		{"another classifier alone", mine(retry.ClassUnknown), errLost, retry.ClassTransient, false},
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
		{"a plain error", nil, errOp, retry.ClassTransient, false},
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
		"a hint":                         {says(retry.Verdict{Hint: s}), errOp, retry.Verdict{Class: transient, Hint: s}},
		"a hint before the error's own":  {says(retry.Verdict{Class: throttled, Hint: s}), retryAfter(9 * s), retry.Verdict{Class: throttled, Hint: s}},
		"no hint":                        {says(retry.Verdict{Class: throttled}), retryAfter(9 * s), retry.Verdict{Class: throttled, Hint: 9 * s}},
		"a negative hint":                {says(retry.Verdict{Class: throttled, Hint: -s}), retryAfter(9 * s), retry.Verdict{Class: throttled, Hint: 9 * s}},
		"After before a hint":            {says(retry.Verdict{Class: timeout, Hint: s}), retry.After(errOp, 2*s), retry.Verdict{Class: timeout, Hint: 2 * s}},
		"After 0 before a hint":          {says(retry.Verdict{Class: permanent, Hint: s, Unrepeatable: true}), retry.After(errOp, 0), retry.Verdict{Class: transient, Unrepeatable: true}},
		"progress":                       {says(retry.Verdict{Progress: true}), errOp, retry.Verdict{Class: transient, Progress: true}},
		"a marker with a class":          {says(retry.Verdict{Class: permanent, Hint: s, Unrepeatable: true}), retry.Throttled(retryAfter(9 * s)), retry.Verdict{Class: throttled, Hint: 9 * s}},
		"the first hint of a list":       {retry.FirstOf(says(retry.Verdict{Hint: 1}), says(retry.Verdict{Class: timeout, Hint: 2 * s})), errOp, retry.Verdict{Class: timeout, Hint: 1}},
		"progress and more of a list":    {retry.FirstOf(says(retry.Verdict{Progress: true}), says(retry.Verdict{Unrepeatable: true})), errOp, retry.Verdict{Class: transient, Progress: true, Unrepeatable: true}},
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
	others := []string{"Code", "ErrorMessage", "RedisError", "HasErrorLabel", "ErrorCodes", "Temporary", "IsRetriable", "RetryAfter"}
	comment := classifierComment(t)
	methods := []string{"Timeout"} // the interface is in another file
	for _, found := range regexp.MustCompile(`interface\{ (\w+)\((\w*)\) ?([\w.\[\]]*) \}`).FindAllStringSubmatch(string(source), -1) {
		methods = append(methods, found[1])
		if !slices.Contains(others, found[1]) {
			assert.Contains(t, comment, strings.TrimSpace(found[1]+"() "+found[3]))
		}
	}
	assert.Len(t, methods, 22)
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

// claims are the words of DefaultClassifier's comment that name methods, types, texts and
// numbers, with errors that they are about.
var claims = []struct {
	words string
	want  retry.Class
	errs  []error
}{
	{"RetryableError() bool, Retryable() bool, IsRetryable() bool, NonRetriable(), NonRetryable() bool and CanceledError() bool", permanent,
		[]error{smithyError{false}, retryableError{false}, isRetryableError{}, azureError{503}, nonRetryableError{retryableError{true}}, canceledError{true}}},
	{"methods that allow a retry: those, SafeToRetry() bool", transient,
		[]error{smithyError{true}, retryableError{true}, isRetryableError{retryableError{true}}, pgxError{true}}},
	{"HTTPStatusCode() int, HTTPCode() int or StatusCode() int", permanent, []error{statusedError(404), httpCodeError{404}, statusCodeError{404}}},
	{"statuses 429 and 529", throttled, []error{statusedError(429), statusedError(529)}},
	{"ErrorCode() string with a throttling code of AWS", throttled, []error{codedError{"ThrottlingException"}}},
	{"what libraries report as throttling", throttled, []error{errors.New("too many requests")}},
	{"MongoDB's labels", transient, []error{labelError{"RetryableWriteError"}}},
	{"408 is a timeout", timeout, []error{statusedError(408)}},
	{"421, 423, 425 and 500 to 529 are transient", transient,
		append(statuses(500, 528, 501, 505, 506, 508, 510, 511), statusedError(421), statusedError(423), statusedError(425))},
	{"except 501, 505, 506, 508, 510 and 511, permanent", permanent,
		append(statuses(505, 511, 507, 509), statusedError(501))},
	{"like other 4xx to 431", permanent, statuses(400, 431, 408, 420, 421, 423, 425, 429, 430)}, // 420 and 430 are throttling of two services
	{"SQLState() string and Redis replies", permanent, []error{sqlError{"23505"}, redisError{"WRONGTYPE Operation"}}},
	{"codes of gRPC, databases, Kafka, AMQP, SMTP and others", permanent, []error{mongoError{11000}, &textproto.Error{Code: 550}}},
	{"fields StatusCode, HTTPStatusCode or Response with an HTTP status", permanent,
		[]error{statusField{404}, &statusFieldOfStripe{HTTPStatusCode: 404}, &responseField{Response: &http.Response{StatusCode: 404}}}},
	{"Timeout() bool", timeout, []error{timeoutError{true}, context.DeadlineExceeded}},
	{"ConnectionError() bool, the errors of package net, and io.EOF", transient,
		[]error{connError{true}, &net.OpError{Op: "read", Err: errOp}, io.EOF}},
	{"broken connections and unknown host names are retried", transient,
		[]error{syscall.ECONNRESET, &net.DNSError{Err: "no such host", IsNotFound: true}}},
	{"failed TLS handshakes, invalid certificates, addresses, requests are not", permanent,
		[]error{tls.AlertError(40), x509.UnknownAuthorityError{}, &net.AddrError{Err: "missing port"}, &url.Error{Op: "Get", Err: errors.New("unsupported protocol scheme")}}},
	{"fs.ErrNotExist, exec.ErrNotFound, sql.ErrNoRows, encoding errors", permanent,
		[]error{fs.ErrNotExist, exec.ErrNotFound, sql.ErrNoRows, &json.SyntaxError{}, hex.InvalidByteError('x')}},
	{`texts such as "key not found"`, permanent, []error{errors.New("key not found")}},
	{"connection lost during a MySQL statement, are unrepeatable", transient, []error{errors.New("invalid connection")}},
	{"Any other error", unknown, []error{errOp}},
	{"context.Canceled is the operation's own", permanent, []error{context.Canceled}},
	{"Methods that panic are ignored", unknown, []error{brokenError{}}},
}

// TestClaims: what the comment of DefaultClassifier says is true, and claims has all of it.
func TestClaims(t *testing.T) {
	rest := strings.Join(strings.Fields(classifierComment(t)), " ")
	for _, claim := range claims {
		before, after, found := strings.Cut(rest, claim.words)
		assert.True(t, found, "the comment lacks %q", claim.words)
		rest = before + " … " + after
		for _, err := range claim.errs {
			assert.Equal(t, claim.want, retry.DefaultClassifier{}.Classify(err).Class, "%s: %v", claim.words, err)
		}
	}
	assert.Equal(t, unknown, retry.DefaultClassifier{}.Classify(statusedError(432)).Class)
	assert.True(t, retry.DefaultClassifier{}.Classify(errors.New("invalid connection")).Unrepeatable)
	assert.Empty(t, regexp.MustCompile(`\w+\(\)|\b[a-z]\w*\.[A-Z]\w*|\b\d{3}\b|"[^"]*"`).FindAllString(rest, -1), "claims lacks words of the comment")
}
