package transaction

import (
	"context"
	"database/sql"
	"net/http"
	"net/smtp"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

type mailer interface {
	Send(ctx context.Context, to, text string) error
}

type outboxWriter interface {
	Publish(ctx context.Context, text string) error
}

type events struct{ list []string }

func (e *events) Publish(text string) error {
	e.list = append(e.list, text)
	return nil
}

type shop struct {
	mail   mailer
	outbox outboxWriter
	client *http.Client
}

func (s *shop) registers(ctx context.Context, p retry.Policy, db *sql.DB, user string) error {
	var after []func() error
	err := retrysql.InTx(ctx, p, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		if err := update(ctx, tx); err != nil {
			return err
		}
		if err := s.welcomes(ctx, user); err != nil {
			return err
		}
		if _, err := s.client.Post("https://example.com/users", "text/plain", strings.NewReader(user)); err != nil { // want `retrysql.InTx does this again if the transaction runs again`
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/users", strings.NewReader(user))
		if err != nil {
			return err
		}
		if _, err := s.client.Do(req); err != nil { // want `retrysql.InTx does this again if the transaction runs again`
			return err
		}
		after = []func() error{func() error { return s.mail.Send(ctx, user, "welcome") }}
		if err := s.outbox.Publish(ctx, user); err != nil {
			return err
		}
		var collected events
		return collected.Publish(user)
	})
	if err != nil {
		return err
	}
	if err := after[0](); err != nil {
		return err
	}
	return s.mail.Send(ctx, user, "welcome")
}

func (s *shop) welcomes(ctx context.Context, user string) error {
	if err := smtp.SendMail("localhost:25", nil, "shop@example.com", []string{user}, nil); err != nil { // want `retrysql.InTx does this again if the transaction runs again`
		return err
	}
	return s.mail.Send(ctx, user, "welcome") // want `retrysql.InTx does this again if the transaction runs again, and a rollback does not undo it: do it after retrysql.InTx, or store it in the transaction and let another job do it`
}

type payments interface {
	Charge(ctx context.Context, key string, amount int) error
}

func charges(ctx context.Context, p retry.Policy, db *sql.DB, pay payments, order string) error {
	key := retrysql.Key{In: retrysql.PostgresKeys, ID: "orders/" + order}
	_, err := retrysql.Once(ctx, p, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		return nil, pay.Charge(ctx, order, 5)
	})
	if err != nil {
		return err
	}
	_, err = retrysql.Once(ctx, p, db, nil, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		return nil, pay.Charge(ctx, "shop", 5) // want `retrysql.Once does this again if the transaction runs again`
	})
	return err
}
