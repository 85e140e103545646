package budget

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
	"github.com/gobackoff/retry/retrysql"
)

type store struct {
	db     *sql.DB
	other  *sql.DB
	reads  retry.Policy
	writes retry.Policy
	ofTwo  retry.Policy
	far    retry.Policy
}

func newStore(db, other *sql.DB, common *retry.SharedBudget) *store {
	return &store{
		db:     db,
		other:  other,
		reads:  retry.Policy{MaxAttempts: 3, Budget: &retry.SharedBudget{}},
		writes: retry.Policy{MaxAttempts: 2, Budget: &retry.SharedBudget{}}, // want `these calls go to the same server as those of the budget in line [0-9]+, so each budget bounds only a part of the retries: share one budget`
		ofTwo:  retry.Policy{Budget: common},
		far:    retry.Policy{Budget: &retry.SharedBudget{}},
	}
}

func (s *store) read(ctx context.Context) (n int, err error) {
	return retry.DoValue(ctx, s.reads, func(ctx context.Context) (int, error) {
		err := s.db.QueryRowContext(ctx, "SELECT 1").Scan(&n)
		return n, err
	})
}

func (s *store) write(ctx context.Context) error {
	return retrysql.InTx(ctx, s.writes, s.db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE x SET n = 1")
		return err
	})
}

func (s *store) remove(ctx context.Context) error {
	return retry.Do(ctx, s.ofTwo, func(ctx context.Context) error { return exec(ctx, s.db) })
}

func (s *store) copies(ctx context.Context) error {
	return retry.Do(ctx, s.far, func(ctx context.Context) error { return exec(ctx, s.other) })
}

func exec(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "DELETE FROM x")
	return err
}

// Two types that get the same pool.
type users struct {
	db     *sql.DB
	policy retry.Policy
}

type orders struct {
	pool   *sql.DB
	policy retry.Policy
}

func newUsers(db *sql.DB) *users { return &users{db, withBudget()} }

func newOrders(db *sql.DB) *orders {
	return &orders{pool: db, policy: withBudget()} // want `these calls go to the same server as those of the budget in line [0-9]+`
}

func withBudget() retry.Policy { return retry.Policy{Budget: new(retry.SharedBudget)} }

func services(db *sql.DB) (*users, *orders) { return newUsers(db), newOrders(db) }

func (u *users) get(ctx context.Context) error {
	return retry.Do(ctx, u.policy, func(ctx context.Context) error { return u.find(ctx) })
}

func (u *users) find(ctx context.Context) error { return u.db.PingContext(ctx) }

func (o *orders) get(ctx context.Context) error { return retry.Do(ctx, o.policy, o.pool.PingContext) }

// Parts of one budget, and a copy of a policy.
var (
	common = &retry.SharedBudget{}
	gets   = retry.Policy{Budget: common.Part("gets")}
	puts   = retry.Policy{Budget: common.Part("puts")}
	many   = retry.Policy{Budget: common, MaxAttempts: 9}
)

func (u *users) others(ctx context.Context) {
	policy := u.policy
	policy.MaxAttempts = 9
	for _, p := range []retry.Policy{gets, puts, many, policy} {
		_ = retry.Do(ctx, p, u.db.PingContext)
	}
	_ = retry.Do(ctx, gets, u.db.PingContext)
	_ = retry.Do(ctx, puts, u.db.PingContext)
	_ = retry.Do(ctx, policy, u.db.PingContext)
}

// HTTP.
const endpoint = "https://api.example.com"

type web struct {
	client *http.Client
	base   string
	mirror string
}

var (
	ofList   = retry.Policy{Budget: &retry.SharedBudget{}}
	ofItem   = retry.Policy{Budget: &retry.SharedBudget{}} // want `these calls go to the same server as those of the budget in line [0-9]+`
	ofMirror = retry.Policy{Budget: &retry.SharedBudget{}}
	ofFirst  = retry.Policy{Budget: &retry.SharedBudget{}}
	ofSecond = retry.Policy{Budget: &retry.SharedBudget{}} // want `these calls go to the same server as those of the budget in line [0-9]+`
	ofThird  = retry.Policy{Budget: &retry.SharedBudget{}}
)

func (w *web) fetch(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (w *web) list(ctx context.Context) error {
	return retry.Do(ctx, ofList, func(ctx context.Context) error {
		resp, err := w.client.Get(w.base + "/items")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

func (w *web) item(ctx context.Context, id int) error {
	return retry.Do(ctx, ofItem, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/items/%d", w.base, id), nil)
		if err != nil {
			return err
		}
		resp, err := w.client.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

func (w *web) mirrored(ctx context.Context) error {
	return retry.Do(ctx, ofMirror, func(ctx context.Context) error {
		resp, err := w.client.Get(w.mirror + "/items")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

func constants(ctx context.Context) {
	_ = retry.Do(ctx, ofFirst, func(ctx context.Context) error { _, err := http.Get(endpoint + "/a"); return err })
	_ = retry.Do(ctx, ofSecond, func(ctx context.Context) error { _, err := http.Get("https://api.example.com/b"); return err })
	_ = retry.Do(ctx, ofThird, func(ctx context.Context) error { _, err := http.Get("https://www.example.com/b"); return err })
}

// Two shards have a budget each.
type shard struct{ db *sql.DB }

type cluster struct{ first, second shard }

var (
	ofFirstShard  = retry.Policy{Budget: &retry.SharedBudget{}}
	ofSecondShard = retry.Policy{Budget: &retry.SharedBudget{}}
)

func (c *cluster) ping(ctx context.Context) {
	_ = retry.Do(ctx, ofFirstShard, func(ctx context.Context) error { return c.first.db.PingContext(ctx) })
	_ = retry.Do(ctx, ofSecondShard, func(ctx context.Context) error { return c.second.db.PingContext(ctx) })
}

func parsed(ctx context.Context, text string, op func(context.Context) error) error {
	p, err := retryconfig.Parse("full base=50ms attempts=4 budget=shared") // want `the result of retryconfig.Parse is made for each call of retry.Do, so it bounds nothing`
	if err != nil {
		return err
	}
	if err = retry.Do(ctx, p, op); err != nil {
		return err
	}
	q, err := retryconfig.Parse("full base=50ms attempts=4")
	if err != nil {
		return err
	}
	return retry.Do(ctx, q, op)
}
