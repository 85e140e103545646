package compat

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

func localFaults(t *testing.T) []fault {
	missing := filepath.Join(t.TempDir(), "missing")
	_, open := os.Open(missing)
	var number struct{ N int }
	cut := json.NewDecoder(strings.NewReader(`{"N":`)).Decode(&number)
	return []fault{
		{name: "`fs.ErrNotExist` of a file", err: open, class: permanent},
		{name: "`fs.ErrNotExist`", err: os.ErrNotExist, class: permanent},
		{name: "`exec.ErrNotFound`", err: exec.Command("no-such-program").Run(), class: permanent},
		{name: "program that does not exist", err: exec.Command(missing).Run(), class: permanent},
		{name: "exit status of a program", err: exec.Command("go", "no-such-command").Run(), class: unknown},
		{name: "JSON syntax error", err: json.Unmarshal([]byte("{"), &number), class: permanent},
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
