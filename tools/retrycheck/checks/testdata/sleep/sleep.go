package sleep

import (
	"context"
	"errors"
	"time"
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

func closure(ctx context.Context) func() {
	return func() {
		for range 3 {
			if call() != nil {
				time.Sleep(time.Second) // want `never looks at ctx`
			}
		}
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
