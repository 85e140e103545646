//go:build unix

package nats_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrynats"
	"github.com/gobackoff/retry/retrysql"
	"github.com/gobackoff/retry/test/testserver"
)

type payment struct {
	ID      string // chosen by the sender: the idempotency key
	Account string
	Amount  int
}

// book books a payment once, however often its message is delivered: the payment's ID and
// the booking are stored in one transaction.
func book(ctx context.Context, db *sql.DB, data []byte) error {
	var p payment
	if err := json.Unmarshal(data, &p); err != nil {
		return retry.Permanent(err) // a dead letter
	}
	key := retrysql.Key{In: retrysql.PostgresKeys, ID: p.ID, Request: data}
	_, err := retrysql.Once(ctx, retry.Policy{}, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + $1 WHERE id = $2", p.Amount, p.Account)
		return nil, err
	})
	if errors.Is(err, retrysql.ErrOtherRequest) || errors.Is(err, retry.ErrInvalid) {
		return err // a dead letter: two payments have one ID, or this one has none
	}
	return retry.Transient(err) // whatever else it is, another delivery does no harm
}

// TestBook: a payment is booked once, even if its acknowledgment is lost or it is sent twice.
func TestBook(t *testing.T) {
	postgres := testserver.Postgres(func(ctx context.Context, addr string) error {
		db, err := sql.Open("pgx", testserver.PostgresURL(addr))
		if err != nil {
			return err
		}
		defer db.Close()
		return db.PingContext(ctx)
	})
	t.Cleanup(postgres.Clean)
	db, err := sql.Open("pgx", testserver.PostgresURL(postgres.Start(t)))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), retrysql.PostgresKeysTable+"; CREATE TABLE account (id TEXT PRIMARY KEY, balance INT); INSERT INTO account VALUES ('a', 0)")
	require.NoError(t, err)
	js := startEmbedded(t).connect(t)
	consumer := createConsumer(t, js, nil)
	for _, data := range []string{`{"ID":"1","Account":"a","Amount":1}`, `{"ID":"2","Account":"a","Amount":10}`, `{"ID":"1","Account":"a","Amount":1}`, `malformed`, `{"Account":"a","Amount":100}`} {
		_, err := js.Publish(t.Context(), "work.do", []byte(data))
		require.NoError(t, err)
	}
	var mu sync.Mutex
	delivered := 0
	consume(t, retrynats.Worker{Policy: quick}, consumer, func(ctx context.Context, msg jetstream.Msg) error {
		err := book(ctx, db, msg.Data())
		mu.Lock()
		defer mu.Unlock()
		if delivered++; err == nil && delivered <= 2 {
			return errOp // as if the worker had crashed before the acknowledgment
		}
		return err
	})
	untilEmpty(t, js)
	var balance int
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT balance FROM account").Scan(&balance))
	assert.Equal(t, 11, balance)
	assert.Equal(t, 7, delivered)
}
