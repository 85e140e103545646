package recipes

import (
	"context"
	"database/sql"
	"net/http"
	"strings"

	"github.com/gobackoff/retry/retryhttp"
)

// Charge charges an order once, even if the program is restarted in between: the key is stored
// before the first request, and every later call for the order finds it.
func Charge(ctx context.Context, db *sql.DB, client *http.Client, address, order string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO charges (order_id, idempotency_key) VALUES (?, ?) ON CONFLICT DO NOTHING",
		order, retryhttp.RandomKey(nil))
	if err != nil {
		return err
	}
	var key string
	err = db.QueryRowContext(ctx, "SELECT idempotency_key FROM charges WHERE order_id = ?", order).Scan(&key)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(`{"order": "`+order+`"}`))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", key)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}
