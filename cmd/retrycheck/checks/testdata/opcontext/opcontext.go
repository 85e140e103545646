package opcontext

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	sethvargo "github.com/sethvargo/go-retry"
	"golang.org/x/sync/errgroup"
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

type audit struct {
	policy retry.Policy
	send   func(context.Context) error
	group  sync.WaitGroup
}

func (a *audit) logins(w http.ResponseWriter, r *http.Request) {
	go func() {
		_ = retry.Do(r.Context(), a.policy, a.send) // want `r.Context\(\) ends when the handler returns, and nothing here waits for this goroutine: use context.WithoutCancel\(r.Context\(\)\)`
	}()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	send := func() {
		_ = retry.Do(ctx, a.policy, a.send) // want `ctx ends when the handler returns`
	}
	go send()
	go a.sends(r.Context()) // want `r.Context\(\) ends when the handler returns`
	go func(ctx context.Context) {
		_ = retry.Do(ctx, a.policy, func(ctx context.Context) error { // want `ctx ends when the handler returns`
			return a.send(ctx)
		})
	}(r.Context())
	a.group.Go(func() {
		a.sends(ctx) // want `ctx ends when the handler returns`
	})
	time.AfterFunc(time.Second, func() { a.sends(ctx) }) // want `ctx ends when the handler returns`
	a.sendLater(r.Context())
	a.sendRequest(r)
	w.WriteHeader(http.StatusNoContent)
}

func (a *audit) sends(ctx context.Context) {
	if err := retry.Do(ctx, a.policy, a.send); err != nil {
		log.Print(err)
	}
}

func (a *audit) sendLater(ctx context.Context) {
	go func() {
		_ = retry.Do(ctx, a.policy, a.send) // want `ctx ends when the handler returns`
	}()
}

func (a *audit) sendRequest(r *http.Request) {
	go a.sends(r.Context()) // want `r.Context\(\) ends when the handler returns`
}

// sendInBackground is called with contexts of no request.
func (a *audit) sendInBackground(ctx context.Context) {
	go func() { _ = retry.Do(ctx, a.policy, a.send) }()
}

var mux = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	a := &audit{}
	go retry.Do(r.Context(), a.policy, a.send) // want `r.Context\(\) ends when the handler returns`
})

func (a *audit) waits(w http.ResponseWriter, r *http.Request) {
	a.sends(r.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Add(1)
	go func() {
		defer wg.Done()
		_ = retry.Do(r.Context(), a.policy, a.send)
	}()
}

func (a *audit) waitsForGroup(w http.ResponseWriter, r *http.Request) {
	g, ctx := errgroup.WithContext(r.Context())
	g.Go(func() error { return retry.Do(ctx, a.policy, a.send) })
	if err := g.Wait(); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (a *audit) receives(w http.ResponseWriter, r *http.Request) {
	done := make(chan error, 1)
	go func() { done <- retry.Do(r.Context(), a.policy, a.send) }()
	if err := <-done; err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (a *audit) detaches(w http.ResponseWriter, r *http.Request) {
	ctx := context.WithoutCancel(r.Context())
	go func() {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_ = retry.Do(ctx, a.policy, a.send)
	}()
	go a.sends(context.WithoutCancel(r.Context()))
	a.sendInBackground(ctx)
}

func starts(ctx context.Context, a *audit) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	go a.sends(ctx) // want `ctx ends when this function returns, and nothing here waits for this goroutine`
	log.Print("started")
}

func serves(ctx context.Context, a *audit, server *http.Server) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go a.sends(ctx)
	return server.ListenAndServe()
}

type lock interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

func locks(ctx context.Context, p retry.Policy, l lock, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := retry.Do(ctx, p, l.Lock); err != nil {
		return err
	}
	defer func() {
		if err := retry.Do(ctx, p, l.Unlock); err != nil { // want `this is not done if ctx has ended: use context.WithoutCancel\(ctx\)`
			log.Print(err)
		}
	}()
	if err := work(ctx); err != nil {
		_ = retry.Do(ctx, p, l.Unlock) // want `this is not done if ctx has ended, which may be why the call above failed`
		return err
	}
	return nil
}

func locksShortly(ctx context.Context, p retry.Policy, l lock, work func(context.Context) error) error {
	defer func() {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_ = retry.Do(ctx, p, func(ctx context.Context) error { return l.Unlock(ctx) }) // want `this is not done if ctx has ended`
	}()
	return work(ctx)
}

func reversed(ctx context.Context, p retry.Policy, report func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		_ = retry.Do(ctx, p, report) // want `deferred calls run in reverse order, so ctx has ended here: use context.WithoutCancel\(ctx\)`
	}()
	defer cancel()
	return report(ctx)
}

func locksLonger(ctx context.Context, p retry.Policy, l lock, report, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() { _ = retry.Do(ctx, p, report) }()
	defer func() { _ = retry.Do(context.WithoutCancel(ctx), p, l.Unlock) }()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = retry.Do(ctx, p, l.Unlock)
	}()
	if err := work(ctx); err != nil {
		_ = retry.Do(context.WithoutCancel(ctx), p, l.Unlock)
	}
	return retry.Do(ctx, p, l.Unlock)
}

func stops(ctx context.Context, p retry.Policy, leave func(context.Context) error) error {
	<-ctx.Done()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return retry.Do(ctx, p, leave) // want `ctx has ended here, so retry.Do makes no attempt: use context.WithoutCancel\(ctx\)`
}

func stopsOnSignal(p retry.Policy, leave func(context.Context) error, w *worker) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return w.run(ctx, p, leave)
}

type worker struct {
	jobs  chan func(context.Context) error
	flush func(context.Context) error
}

func (w *worker) run(ctx context.Context, p retry.Policy, leave func(context.Context) error) error {
	defer func() { _ = retry.Do(ctx, p, leave) }() // want `ctx has ended here`
loop:
	for {
		select {
		case <-ctx.Done():
			break loop
		case job := <-w.jobs:
			_ = retry.Do(ctx, p, job)
		}
	}
	return w.flushAll(ctx, p) // want `ctx has ended here, so flushAll makes no attempt`
}

func (w *worker) flushAll(ctx context.Context, p retry.Policy) error {
	return retry.Do(ctx, p, w.flush)
}

func (w *worker) runs(ctx context.Context, p retry.Policy) error {
	context.AfterFunc(ctx, func() {
		_ = retry.Do(ctx, p, w.flush) // want `ctx has ended here`
	})
	for ctx.Err() == nil {
		_ = retry.Do(ctx, p, w.flush)
	}
	return retry.Do(ctx, p, w.flush) // want `ctx has ended here`
}

func (w *worker) selects(ctx context.Context, p retry.Policy, end chan bool) error {
	for {
		select {
		case <-ctx.Done():
			return retry.Do(ctx, p, w.flush) // want `ctx has ended here`
		case <-end:
			return retry.Do(ctx, p, w.flush)
		case job := <-w.jobs:
			err := retry.Do(ctx, p, job)
			if ctx.Err() != nil {
				_ = retry.Do(ctx, p, w.flush) // want `ctx has ended here`
				return err
			}
		}
	}
}

func (w *worker) runsUntil(ctx context.Context, p retry.Policy, end chan bool) error {
loop:
	for {
		select {
		case <-ctx.Done():
			break loop
		case <-end:
			break loop
		}
	}
	if err := retry.Do(ctx, p, w.flush); err != nil {
		return err
	}
	<-ctx.Done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return retry.Do(ctx, p, w.flush)
}

func (w *worker) runsGroup(ctx context.Context, p retry.Policy, jobs []func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, job := range jobs {
		g.Go(func() error { return retry.Do(ctx, p, job) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return retry.Do(ctx, p, w.flush) // want `ctx has ended here`
}

func (w *worker) runsBesideGroup(ctx context.Context, p retry.Policy, jobs []func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, job := range jobs {
		g.Go(func() error { return retry.Do(ctx, p, job) })
	}
	if err := retry.Do(ctx, p, w.flush); err != nil {
		return errors.Join(err, g.Wait())
	}
	if err := retry.Do(ctx, p, w.flush); err != nil {
		return err
	}
	return g.Wait()
}

func (w *worker) runsGroupFirst(ctx context.Context, p retry.Policy, jobs []func(context.Context) error) error {
	g, groupCtx := errgroup.WithContext(ctx)
	for _, job := range jobs {
		g.Go(func() error { return retry.Do(groupCtx, p, job) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return retry.Do(ctx, p, w.flush)
}

func cancelsAll(ctx context.Context, p retry.Policy) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		defer cancel() // want `the first attempt ends the context of all, so no retry follows: call cancel after retry.Do`
		return get(ctx)
	})
	if err != nil {
		return err
	}
	cancel()
	return retry.Do(ctx, p, get) // want `ctx has ended here`
}

func cancelsSome(ctx context.Context, p retry.Policy, isFatal func(error) bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return retry.Do(ctx, p, func(ctx context.Context) error {
		ctx, end := context.WithTimeout(ctx, time.Second)
		defer end()
		err := get(ctx)
		if isFatal(err) {
			cancel()
		}
		return err
	})
}

func nested(ctx context.Context, p retry.Policy, ops []func(context.Context) error) {
	var cancel context.CancelFunc
	for _, op := range ops {
		ctx, cancel = context.WithTimeout(ctx, time.Second) // want `each round derives ctx from that of the round before, which has ended: declare it with :=`
		_ = retry.Do(ctx, p, op)
		cancel()
	}
	for _, op := range ops {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		_ = retry.Do(ctx, p, op)
		cancel()
	}
}

func limited(ctx context.Context) context.Context {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return ctx // want `ctx has ended when the function returns it: return its cancel, too`
}

func limitedRight(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	return ctx, cancel
}

func transfers(ctx context.Context, p retry.Policy, credit, undoDebit func(context.Context) error) error {
	if err := retry.Do(ctx, p, credit); err != nil {
		if undo := retry.Do(ctx, p, undoDebit); undo != nil { // want `this is not done if ctx has ended, which may be why the call above failed`
			return undo
		}
		return err
	}
	return nil
}

type job struct {
	ctx  context.Context
	name string
}

type pool interface{ Submit(func()) }

func (a *audit) queues(w http.ResponseWriter, r *http.Request, jobs chan job, tasks chan func(), pool pool) {
	jobs <- job{r.Context(), "a"}                // want `r.Context\(\) ends when the handler returns, and nothing here waits for the receiver`
	jobs <- job{ctx: r.Context()}                // want `nothing here waits for the receiver`
	tasks <- func() { a.sends(r.Context()) }     // want `r.Context\(\) ends when the handler returns`
	pool.Submit(func() { a.sends(r.Context()) }) // want `r.Context\(\) ends when the handler returns`
	jobs <- job{context.WithoutCancel(r.Context()), r.FormValue("name")}
}

func (j job) run(p retry.Policy) error {
	return retry.Do(j.ctx, p, func(context.Context) error {
		return get(j.ctx) // want `the operation uses j.ctx instead of the context that retry.Do gives it`
	})
}

func serve(w http.ResponseWriter, r *http.Request) {
	_ = retry.Do(r.Context(), retry.Policy{}, func(ctx context.Context) error {
		return get(r.Context()) // want `the operation uses r.Context\(\) instead of the context that retry.Do gives it`
	})
}

func impatient(ctx context.Context, p retry.Policy) error {
	done := make(chan error, 1)
	go func() { done <- retry.Do(ctx, p, get) }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Second): // want `after this time, retry.Do goes on in its goroutine: give it a context of context.WithTimeout`
		return context.DeadlineExceeded
	}
}

func impatientRight(ctx context.Context, p retry.Policy) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- retry.Do(ctx, p, get) }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Second):
		return context.DeadlineExceeded
	}
}

func signals(p retry.Policy, leave func(context.Context) error) error {
	ctx := context.Background()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	<-ctx.Done()
	return retry.Do(ctx, p, leave) // want `ctx has ended here`
}
