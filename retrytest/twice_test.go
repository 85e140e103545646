package retrytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrytest"
)

// shop is a server that accepts orders. It recognizes repeated orders by their key.
type shop struct {
	mu     sync.Mutex
	orders []string
	keys   map[string]int // the order made for a key
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, known := s.keys[r.Header.Get("Idempotency-Key")]
	if !known {
		s.orders = append(s.orders, r.FormValue("item"))
		number = len(s.orders)
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			s.keys[key] = number
		}
	}
	_ = json.NewEncoder(w).Encode(number)
}

// order returns an operation that places an order and returns its number.
func order(url, item, key string) func(context.Context) (int, error) {
	return func(ctx context.Context) (number int, err error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("item="+item))
		if err != nil {
			return 0, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		defer func() { _ = resp.Body.Close() }()
		return number, json.NewDecoder(resp.Body).Decode(&number)
	}
}

// TestTwice: an order without a key is placed twice, and one with a key once.
func TestTwice(t *testing.T) {
	for key, orders := range map[string][]string{"": {"tea", "tea"}, "1b9d6bcd": {"tea"}} {
		t.Run("key="+key, func(t *testing.T) {
			s := &shop{keys: map[string]int{}}
			server := httptest.NewServer(s)
			defer server.Close()
			number, err := retry.DoValue(t.Context(), retry.Policy{}, retrytest.TwiceValue(order(server.URL, "tea", key)))
			assert.NoError(t, err)
			assert.Equal(t, len(orders), number, "of the second response")
			assert.Equal(t, orders, s.orders)
		})
	}
}

// TestTwiceFails: only a success is repeated, and the caller sees the second result.
func TestTwiceFails(t *testing.T) {
	down, exists := errors.New("down"), errors.New("exists")
	op := retrytest.Script(down, nil, exists)
	twice := retrytest.Twice(op.Run)
	assert.Equal(t, down, twice(t.Context()))
	assert.Equal(t, 1, op.Calls())
	assert.Equal(t, exists, twice(t.Context()), "the first success is lost")
	assert.Equal(t, 3, op.Calls())

	failing := retrytest.TwiceValue(func(context.Context) (int, error) { return 7, down })
	value, err := failing(t.Context())
	assert.Equal(t, 7, value)
	assert.Equal(t, down, err)
}

// A withdrawal that is not recognized as a repetition takes the money twice.
func ExampleTwice() {
	balance := 100
	withdraw := func(context.Context) error {
		balance -= 10
		return nil
	}
	err := retry.Do(context.Background(), retry.Policy{}, retrytest.Twice(withdraw))
	fmt.Println(balance, err)
	// Output: 80 <nil>
}
