package compat

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	avast "github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v7"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
)

func networkFaults(t *testing.T) []fault {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	get := func(url string) error {
		resp, err := http.Get(url)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	dial := func(network, address string) error {
		_, err := (&net.Dialer{}).DialContext(t.Context(), network, address)
		return err
	}
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	require.NoError(t, client.SetReadDeadline(time.Unix(1, 0)))
	_, late := client.Read(make([]byte, 1))
	unknownName := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "service", IsNotFound: true}}
	return []fault{
		{name: "connection refused", err: get(closed.URL), class: transient},
		{name: "unix socket that does not exist yet", err: dial("unix", filepath.Join(t.TempDir(), "socket")), class: transient},
		{name: "name unknown to DNS", err: unknownName, class: transient},
		{name: "`io.EOF`", err: io.EOF, class: transient},
		{name: "`io.ErrUnexpectedEOF`", err: io.ErrUnexpectedEOF, class: transient},
		{name: "deadline of a connection", err: late, class: timeout},
		{name: "certificate of an unknown authority", err: get(secure.URL), class: permanent},
	}
}

// requestFaults are of requests that net/http does not send, or does not follow.
func requestFaults(*testing.T) []fault {
	circle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }))
	defer circle.Close()
	get := func(url string) error {
		resp, err := http.Get(url)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	_, tooLarge := io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(strings.NewReader("too large")), 1))
	return []fault{
		{name: "too many redirects", err: get(circle.URL), class: permanent},
		{name: "unsupported scheme", err: get("no-scheme://host"), class: permanent},
		{name: "no host", err: get("http:///"), class: permanent},
		{name: "URL that cannot be parsed", err: get("http://[::1"), class: permanent},
		{name: "port out of range", err: get("http://127.0.0.1:99999"), class: permanent},
		{name: "HTTP response to an HTTPS client", err: get("https" + strings.TrimPrefix(circle.URL, "http")), class: permanent},
		{name: "`http.MaxBytesError`", err: tooLarge, class: permanent},
	}
}

// parseFaults are of texts that are not what they should be.
func parseFaults(*testing.T) []fault {
	_, number := strconv.Atoi("x")
	_, moment := time.Parse(time.RFC3339, "x")
	_, address := netip.ParseAddr("x")
	_, pattern := regexp.Compile(strings.Repeat("(", 1)) // staticcheck refuses constant ones that are invalid
	execute := template.Must(template.New("x").Parse("{{.X.Y}}")).Execute(io.Discard, 5)
	return []fault{
		{name: "number", err: number, class: permanent},
		{name: "time", err: moment, class: permanent},
		{name: "IP address", err: address, class: permanent},
		{name: "regular expression", err: pattern, class: permanent},
		{name: "template of another type", err: execute, class: permanent},
	}
}

func localFaults(t *testing.T) []fault {
	missing := filepath.Join(t.TempDir(), "missing")
	_, open := os.Open(missing)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, inFile := os.Open(filepath.Join(file, "x"))
	_, directory := os.ReadFile(t.TempDir())
	_, tooLong := os.Open(strings.Repeat("x", 5000))
	_, exists := os.OpenFile(file, os.O_CREATE|os.O_EXCL, 0o600)
	var number struct{ N int }
	cut := json.NewDecoder(strings.NewReader(`{"N":`)).Decode(&number)
	return []fault{
		{name: "`fs.ErrNotExist` of a file", err: open, class: permanent},
		{name: "`fs.ErrNotExist`", err: os.ErrNotExist, class: permanent},
		{name: "`fs.ErrExist` of a file", err: exists, class: permanent},
		{name: "`fs.ErrPermission`", err: &fs.PathError{Op: "open", Path: file, Err: syscall.EACCES}, class: permanent},
		{name: "read-only file system", err: &fs.PathError{Op: "open", Path: file, Err: syscall.EROFS}, class: permanent},
		{name: "directory, not a file", err: directory, class: permanent},
		{name: "file, not a directory", err: inFile, class: permanent},
		{name: "name that is too long", err: tooLong, class: permanent},
		{name: "`errors.ErrUnsupported`", err: errors.ErrUnsupported, class: permanent},
		{name: "`exec.ErrNotFound`", err: exec.Command("no-such-program").Run(), class: permanent},
		{name: "bare `exec.ErrNotFound`", err: exec.ErrNotFound, class: permanent},
		{name: "program that does not exist", err: exec.Command(missing).Run(), class: permanent},
		{name: "exit status of a program", err: exec.Command("go", "no-such-command").Run(), class: unknown},
		{name: "JSON syntax error", err: json.Unmarshal([]byte("{}}"), &number), class: permanent},
		{name: "JSON that ends too early", err: json.Unmarshal([]byte("{"), &number), class: transient},
		{name: "JSON of another type", err: json.Unmarshal([]byte(`{"N":"x"}`), &number), class: permanent},
		{name: "JSON cut off in a stream", err: cut, class: transient},
	}
}

func databaseFaults(t *testing.T) []fault {
	db, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	defer db.Close()
	noRows := db.QueryRowContext(t.Context(), "SELECT 1 WHERE 0").Scan(new(int))
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	return []fault{
		{name: "`sql.ErrNoRows`", err: noRows, class: permanent},
		{name: "`sql.ErrConnDone`", err: conn.PingContext(context.Background()), class: permanent},
		{name: "`sql.ErrTxDone`", err: tx.Commit(), class: permanent},
		{name: "`driver.ErrBadConn`", err: driver.ErrBadConn, class: transient},
	}
}

// markerFaults are errors that other libraries' users marked as final, although a retry
// might help.
func markerFaults(*testing.T) []fault {
	busy := apiError{StatusCode: 503}
	return []fault{
		{name: "`backoff.Permanent` of cenkalti", err: backoff.Permanent(busy), class: permanent},
		{name: "`retry.Unrecoverable` of avast", err: avast.Unrecoverable(busy), class: permanent},
		{name: "`temporal.NewNonRetryableApplicationError`", err: temporal.NewNonRetryableApplicationError("x", "type", busy), class: permanent},
	}
}
