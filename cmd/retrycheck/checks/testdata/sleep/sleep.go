package sleep

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gobackoff/retry"
)

func call() error { return errors.New("down") }

func callWith(ctx context.Context) error { return ctx.Err() }

func polls(ctx context.Context) error {
	for {
		if call() == nil {
			return nil
		}
		time.Sleep(time.Second) // want `this loop sleeps and never looks at ctx`
	}
}

func bounded(ctx context.Context) (err error) {
	for i := range 5 {
		if err = call(); err == nil {
			break
		}
		<-time.After(time.Duration(i) * time.Second) // want `never looks at ctx`
	}
	return err
}

func closure(ctx context.Context, each func(func())) {
	each(func() {
		for range 3 {
			if call() != nil {
				time.Sleep(time.Second) // want `never looks at ctx`
			}
		}
	})
	go func() {
		for {
			time.Sleep(time.Second)
		}
	}()
}

func goroutine(ctx context.Context, wg *sync.WaitGroup) {
	wg.Go(func() {
		for call() != nil {
			time.Sleep(time.Second) // want `never looks at ctx`
		}
	})
}

func changedRequest(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
	req.Header = http.Header{}
	for range 3 {
		if _, err = http.DefaultClient.Do(req); err == nil {
			return
		}
		time.Sleep(time.Second)
	}
}

func countdown(ctx context.Context) {
	for i := range 10 {
		log.Println("restart in", 10-i)
		time.Sleep(time.Second)
	}
}

func waits(ctx context.Context, mu *sync.Mutex, done *bool) (err error) {
	go func() { err = callWith(ctx) }()
	for {
		mu.Lock()
		if *done {
			defer mu.Unlock()
			return err
		}
		mu.Unlock()
		time.Sleep(time.Second)
	}
}

func pace(ctx context.Context, items []func() error) {
	for _, item := range items {
		_ = item()
		time.Sleep(time.Second) // want `never looks at ctx`
	}
}

func twice(ctx context.Context) {
	for call() != nil {
		time.Sleep(time.Second) // want `never looks at ctx`
		if call() == nil {
			time.Sleep(time.Minute)
		}
	}
}

func request(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
	for range 3 {
		if _, err = http.DefaultClient.Do(req); err == nil {
			return
		}
		time.Sleep(time.Second)
	}
}

func otherFailure(ctx context.Context) {
	for {
		if err := callWith(ctx); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				time.Sleep(time.Second)
				continue
			}
			println(err.Error())
		}
		break
	}
}

func untilSuccess(ctx context.Context) {
	for {
		err := callWith(ctx)
		if err == nil {
			return
		}
		println(err.Error())
		time.Sleep(time.Second) // want `no failure ends this loop, so once ctx is done it fails and sleeps forever`
	}
}

func untilFailure(ctx context.Context) {
	for {
		if err := callWith(ctx); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

func lastly(ctx context.Context, codes []int, code int) error {
	for _, c := range codes {
		if c == code {
			time.Sleep(time.Second)
			return call()
		}
	}
	return nil
}

func detached(ctx context.Context) {
	for range 3 {
		if callWith(context.Background()) == nil {
			return
		}
		time.Sleep(time.Second) // want `never looks at ctx`
	}
}

func fatal(ctx context.Context, t interface{ Fatal(...any) }) {
	for {
		err := callWith(ctx)
		if err == nil {
			return
		}
		if errors.Is(err, os.ErrNotExist) {
			time.Sleep(time.Second)
			continue
		}
		t.Fatal(err)
	}
}

func throughVariable(ctx context.Context) {
	execute := func() error { return callWith(ctx) }
	for execute() == nil {
		time.Sleep(time.Second)
	}
}

func canceled(ctx context.Context, next func() error) {
	for {
		if err := next(); errors.Is(err, context.Canceled) {
			break
		}
		time.Sleep(time.Second)
	}
}

func looks(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(time.Second)
	}
}

func passesOn(ctx context.Context) error {
	for {
		if err := callWith(ctx); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
}

func selects(ctx context.Context, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
		time.Sleep(time.Second)
	}
}

func outer(ctx context.Context) {
	for ctx.Err() == nil {
		for range 3 {
			time.Sleep(time.Second)
		}
	}
}

func none() {
	for {
		time.Sleep(time.Second)
	}
}

func unnamed(context.Context) {
	for {
		time.Sleep(time.Second)
	}
}

func once(ctx context.Context) {
	time.Sleep(time.Second)
}

func waitsTwice(ctx context.Context, p retry.Policy) {
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		err := call()
		if err != nil {
			time.Sleep(time.Second) // want `retry.Do waits after a failure by itself, unless its context is done: set the wait in the policy's Backoff`
		}
		return err
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		time.Sleep(time.Second) // until the job may be ready
		return call()
	})
}

func nested(ctx context.Context, p retry.Policy, ready func() bool) {
	_ = retry.Do(ctx, p, func(context.Context) error {
		var err error
		for range 3 {
			if err = call(); err == nil {
				return nil
			}
			time.Sleep(time.Second) // want `this loop sleeps` `this loop retries in an operation that retry.Do retries, so attempts multiply: make one attempt in the operation`
		}
		return err
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		for !ready() && ctx.Err() == nil {
			time.Sleep(time.Second)
		}
		return call()
	})
}
