package repeat

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrysql"
)

type order struct {
	ID             string
	IdempotencyKey string
}

type orders struct {
	client   *http.Client
	retrying *http.Client
	sent     []string
	total    int
	left     int
	log      string
}

func newOrders(p retry.Policy) *orders {
	return &orders{client: &http.Client{Timeout: time.Second}, retrying: retryhttp.NewClient(p)}
}

func (o *orders) create(ctx context.Context, p retry.Policy, id string) error {
	if err := retry.Do(ctx, p, func(ctx context.Context) error { return o.post(ctx, id) }); err != nil {
		return err
	}
	if err := retry.Do(ctx, p, func(ctx context.Context) error { return o.postSafely(ctx, id) }); err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		o.log = ""
		return o.logs(ctx, id)
	})
}

func (o *orders) post(ctx context.Context, id string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader(id)) // want `a POST whose response is lost is executed again`
	if err != nil {
		return retry.Permanent(err)
	}
	if err := checked(o.client.Do(req)); err != nil {
		return err
	}
	o.sent = append(o.sent, id) // want `a retry appends to o.sent again`
	o.total = o.total + len(id) // want `a retry adds to o.total again`
	o.left -= len(id)           // want `a retry subtracts from o.left again`
	return store(ctx, "end")
}

func (o *orders) postSafely(ctx context.Context, id string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader(id))
	if err != nil {
		return retry.Permanent(err)
	}
	resp, err := o.retrying.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}

func (o *orders) logs(ctx context.Context, id string) error {
	o.log += id
	return store(ctx, id)
}

// unrepeatable does not repeat a POST whose response is lost.
func unrepeatable(ctx context.Context, p retry.Policy, id string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader(id))
		if err != nil {
			return retry.Permanent(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return retry.Unrepeatable(err)
		}
		defer resp.Body.Close()
		return retry.Unrepeatable(retryhttp.CheckStatus(resp))
	})
}

func (o *orders) numbered(ctx context.Context, p retry.Policy, id string, create func(context.Context, order) error) error {
	n := 0
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		n++
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", bytes.NewReader([]byte(id)))
		if err != nil {
			return retry.Permanent(err)
		}
		req.Header.Set("Idempotency-Key", id+"-"+strconv.Itoa(n)) // want `each attempt has another key`
		if err := checked(o.client.Do(req)); err != nil {
			return err
		}
		a, _ := retry.AttemptFrom(ctx)
		key := fmt.Sprintf("%s/%d", id, a.Number)
		if err := create(ctx, order{ID: id, IdempotencyKey: key}); err != nil { // want `each attempt has another key`
			return err
		}
		one := order{ID: id}
		one.IdempotencyKey = rand.Text() // want `each attempt has another key`
		return create(ctx, one)
	})
	if err != nil {
		return err
	}
	key := rand.Text()
	return retry.Do(ctx, p, func(ctx context.Context) error {
		return create(ctx, order{ID: id, IdempotencyKey: key})
	})
}

func (o *orders) all(ctx context.Context, p retry.Policy, ids []string, create func(context.Context, order) error) error {
	key := rand.Text()
	for _, id := range ids {
		err := retry.Do(ctx, p, func(ctx context.Context) error {
			return create(ctx, order{ID: id, IdempotencyKey: key}) // want `all items have the same key, so the server executes only the first: make a key for each`
		})
		if err != nil {
			return err
		}
		own := rand.Text()
		err = retry.Do(ctx, p, func(ctx context.Context) error {
			return create(ctx, order{ID: id, IdempotencyKey: own})
		})
		if err != nil {
			return err
		}
		err = retry.Do(ctx, p, func(ctx context.Context) error {
			return create(ctx, order{ID: id, IdempotencyKey: key + "/" + id})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var number atomic.Int64

var moreKeys = []retryhttp.Transport{
	{IdempotencyKey: func(*http.Request) string { return "order-" + strconv.FormatInt(number.Add(1), 10) }}, // want `the counter begins again with the program, so the server takes new requests for old ones`
	{IdempotencyKey: func(*http.Request) string { return time.Now().Format(time.RFC3339) }},                 // want `requests at the same time have the same key`
	{IdempotencyKey: func(*http.Request) string { return strconv.FormatInt(time.Now().UnixNano(), 10) }},
	{IdempotencyKey: func(*http.Request) string { return time.Now().Format(time.RFC3339) + rand.Text() }},
	{Unprocessed: []int{http.StatusUnauthorized, http.StatusBadGateway}}, // want `a server may have executed a request that it answers with 502`
	{Unprocessed: []int{http.StatusServiceUnavailable}},
}

func ids(order string) []retrysql.Key {
	id, saved := rand.Text(), rand.Text()
	return []retrysql.Key{
		{In: retrysql.PostgresKeys, ID: "orders/" + id},                               // want `nobody can send this key again`
		{In: retrysql.PostgresKeys, ID: fmt.Sprint("orders/", time.Now().UnixNano())}, // want `nobody can send this key again`
		{In: retrysql.PostgresKeys, ID: "orders/" + order},
		{In: retrysql.PostgresKeys, ID: "orders/" + saved, Request: []byte(saved)},
		{In: retrysql.PostgresKeys, ID: "reports/" + time.Now().Format(time.DateOnly)},
	}
}

func init() {
	former := http.DefaultTransport
	http.DefaultTransport = &retryhttp.Transport{Base: former}
	http.DefaultTransport = &retryhttp.Transport{} // want `this Transport sends through http.DefaultTransport, which it becomes here, so it calls itself for ever`
}

func questions(ctx context.Context, p retry.Policy, url, question string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(question))
		if err != nil {
			return retry.Permanent(err)
		}
		if err := checked(http.DefaultClient.Do(req)); err != nil {
			return err
		}
		return checked(http.Post("https://example.com/orders/_search?size=5", "application/json", strings.NewReader(question)))
	})
}

func logs(ctx context.Context, p retry.Policy, get func(context.Context) ([]byte, error)) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		data, err := get(ctx)
		if err != nil {
			return err
		}
		file, err := os.OpenFile("log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer file.Close()
		fresh, err := os.Create("copy")
		if err != nil {
			return err
		}
		defer fresh.Close()
		if _, err := fresh.Write(data); err != nil {
			return err
		}
		_, err = file.Write(data) // want `a retry appends to file again`
		return err
	})
}
