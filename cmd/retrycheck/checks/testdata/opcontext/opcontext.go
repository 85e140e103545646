package opcontext

import (
	"context"
	"database/sql"
	"net/http"
	"os/exec"
	"time"

	"github.com/gobackoff/retry"
	sethvargo "github.com/sethvargo/go-retry"
	"k8s.io/apimachinery/pkg/util/wait"
)

func get(ctx context.Context) error { return ctx.Err() }

func outer(ctx context.Context, p retry.Policy) error {
	return retry.Do(ctx, p, func(context.Context) error {
		return get(ctx) // want `the operation uses ctx instead of the context that retry.Do gives it`
	})
}

func renamed(ctx context.Context, p retry.Policy) (int, error) {
	return retry.DoValue(ctx, p, func(attempt context.Context) (int, error) {
		return 1, get(ctx) // want `the operation uses ctx instead`
	})
}

func variable(ctx context.Context, p retry.Policy) error {
	op := func(_ context.Context) error {
		return get(ctx) // want `the operation uses ctx instead`
	}
	return retry.Do(ctx, p, op)
}

func polls(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(context.Context) (bool, error) {
		return true, get(ctx) // want `the operation uses ctx instead of the context that wait.PollUntilContextTimeout gives it`
	})
}

func deaf(ctx context.Context, p retry.Policy, db *sql.DB) {
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		_, err := db.Exec("DELETE FROM job") // want `the operation ignores its context: .*use ExecContext`
		return err
	})
	_ = retry.Do(ctx, p, func(context.Context) error {
		return exec.Command("sync").Run() // want `use CommandContext`
	})
	_ = sethvargo.Do(ctx, sethvargo.NewConstant(time.Second), func(context.Context) error {
		resp, err := http.Get("https://example.com/") // want `use http.NewRequestWithContext`
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		return get(context.Background()) // want `use its context`
	})
	_ = retry.Do(ctx, p, func(context.Context) error {
		time.Sleep(time.Minute) // want `use a select with ctx.Done`
		return nil
	})
}

func detached(ctx context.Context, p retry.Policy) {
	_ = retry.Do(context.Background(), p, get) // want `retry.Do goes on after ctx is done: pass ctx to it`
	func() {
		_ = sethvargo.Do(context.TODO(), sethvargo.NewConstant(time.Second), get) // want `go-retry.Do goes on after ctx is done`
	}()
}

func none(p retry.Policy) { _ = retry.Do(context.Background(), p, get) }

func right(ctx context.Context, p retry.Policy, set func()) {
	_ = retry.Do(ctx, p, get)
	_ = retry.Do(ctx, p, func(ctx context.Context) error { return get(ctx) })
	_ = retry.Do(ctx, p, func(attempt context.Context) error {
		audit := context.WithoutCancel(ctx)
		return exec.CommandContext(attempt, "sync", audit.Value("id").(string)).Run()
	})
	_ = retry.Do(ctx, p, func(context.Context) error { set(); return nil })
	// The context of sethvargo/go-retry is the caller's.
	_ = sethvargo.Do(ctx, sethvargo.NewConstant(time.Second), func(context.Context) error { return get(ctx) })
}

func handler(w http.ResponseWriter, r *http.Request) {
	_ = retry.Do(context.Background(), retry.Policy{}, get) // want `retry.Do goes on after r.Context\(\) is done: pass r.Context\(\) to it`
	_ = retry.Do(r.Context(), retry.Policy{}, get)
	go func() { _ = retry.Do(context.Background(), retry.Policy{}, get) }()
}
