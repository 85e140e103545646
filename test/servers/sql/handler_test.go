//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// The following Go code is also in docs/sql.md.

// postOnce answers a POST by what do returns. The status codes are those of
// draft-ietf-httpapi-idempotency-key-header-07.
func postOnce(db *sql.DB, do func(ctx context.Context, tx *sql.Tx, body []byte) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		key := retrysql.Key{In: retrysql.PostgresKeys, ID: r.Header.Get("Idempotency-Key"), Request: body}
		result, err := retrysql.Once(r.Context(), policy, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			return do(ctx, tx, body)
		})
		switch {
		case err == nil:
			_, _ = w.Write(result)
		case errors.Is(err, retry.ErrInvalid):
			http.Error(w, "the header Idempotency-Key needs 1 to 255 bytes", http.StatusBadRequest)
		case errors.Is(err, retrysql.ErrOtherRequest):
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		case errors.Is(err, retrysql.ErrInProgress):
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Error(), http.StatusConflict)
		default:
			http.Error(w, "try again with the same key", http.StatusServiceUnavailable)
		}
	}
}

// TestPostOnce: what the handler responds to each kind of request.
func TestPostOnce(t *testing.T) {
	const v = 1 // pgx stdlib
	db := variants[v].connect(t, variants[v].address(t), 4).(sqlDatabase)
	keysOf(t, variants[v], db)
	begun, finish := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(postOnce(db.db, func(ctx context.Context, tx *sql.Tx, body []byte) ([]byte, error) {
		if string(body) == "slow" {
			close(begun)
			<-finish
		}
		if string(body) == "fails" {
			return nil, retry.Permanent(errors.New("failure"))
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO lost VALUES (1)")
		return append([]byte("did "), body...), err
	}))
	defer server.Close()
	post := func(key, body string) (status int, text string, hint string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Idempotency-Key", key)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(data), resp.Header.Get("Retry-After")
	}
	check := func(key, body string, status int, text string) {
		t.Helper()
		gotStatus, gotText, hint := post(key, body)
		assert.Equal(t, status, gotStatus)
		assert.Contains(t, gotText, text)
		assert.Equal(t, status == http.StatusConflict, hint == "1")
	}
	check("", "a", http.StatusBadRequest, "1 to 255")
	check(strings.Repeat("k", 256), "a", http.StatusBadRequest, "1 to 255")
	check("k", strings.Repeat("a", 1<<20+1), http.StatusBadRequest, "too large")
	check("k", "a", http.StatusOK, "did a")
	check("k", "a", http.StatusOK, "did a")
	check("k", "b", http.StatusUnprocessableEntity, "another request")
	check("f", "fails", http.StatusServiceUnavailable, "same key")
	done := make(chan struct{})
	go func() {
		defer close(done)
		status, text, _ := post("s", "slow")
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, "did slow", text)
	}()
	<-begun
	check("s", "slow", http.StatusConflict, "in progress")
	close(finish)
	<-done
	check("s", "slow", http.StatusOK, "did slow")
	assert.Equal(t, 2, number(t, db, "SELECT count(*) FROM lost"))
}
