package loop

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

type store struct{}

func (store) get(ctx context.Context, key string) ([]byte, error) { return nil, ctx.Err() }

func hides(ctx context.Context, s store, key string) ([]byte, error) {
	var err error
	for range 5 {
		value, err := s.get(ctx, key) // want `this declares another err, and the one outside the loop stays nil: write = instead of :=`
		if err == nil {
			return value, nil
		}
		time.Sleep(time.Second)
	}
	return nil, err
}

func returnsAtOnce(ctx context.Context, s store, keys []string) error {
	var err error
	for _, key := range keys {
		_, err := s.get(ctx, key)
		if err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
	return err
}

func sets(ctx context.Context, s store, key string) (value []byte, err error) {
	for range 5 {
		value, err = s.get(ctx, key)
		if err == nil {
			break
		}
		time.Sleep(time.Second)
	}
	return value, err
}

func replaces(ctx context.Context, s store, key string) error {
	var last error
	for range 4 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 5*time.Second) // want `this replaces ctx, so the next attempt begins with the context of this one`
		_, last = s.get(ctx, key)
		cancel()
		if last == nil {
			break
		}
		time.Sleep(time.Second)
	}
	return last
}

func ofAttempt(ctx context.Context, s store, key string) error {
	var last error
	for range 4 {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, last = s.get(attempt, key)
		cancel()
		if last == nil {
			break
		}
		time.Sleep(time.Second)
	}
	return last
}

func reconnects(parent context.Context, s store) {
	ctx, cancel := context.WithCancel(parent)
	for parent.Err() == nil {
		_, _ = s.get(ctx, "session")
		cancel()
		ctx, cancel = context.WithCancel(parent)
		time.Sleep(time.Second)
	}
	cancel()
}

func forgets(ctx context.Context, s store, key string) error {
	for range 3 {
		_, err := s.get(ctx, key)
		if err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return nil // want `this is reached if all attempts have failed, and says that there was no error: return the last error`
}

func remembers(ctx context.Context, s store, key string) error {
	for i := 0; i < 3; i++ {
		_, err := s.get(ctx, key)
		if err == nil {
			return nil
		}
		if i == 2 {
			return err
		}
		time.Sleep(time.Second)
	}
	return nil
}

func untilGone(ctx context.Context, s store, key string) error {
	for range 3 {
		if _, err := s.get(ctx, key); err != nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return nil
}

func leavesOpen(client *http.Client, address string) ([]byte, error) {
	for {
		resp, err := client.Get(address)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close() // want `resp.Body.Close is called when the function returns, so each attempt keeps what it has opened: make the attempt a function`
		if resp.StatusCode == http.StatusOK {
			return io.ReadAll(resp.Body)
		}
		time.Sleep(time.Second)
	}
}

func closesLast(client *http.Client, address string) ([]byte, error) {
	for {
		resp, err := client.Get(address)
		if err == nil && resp.StatusCode == http.StatusOK {
			defer resp.Body.Close()
			return io.ReadAll(resp.Body)
		}
		time.Sleep(time.Second)
	}
}

func closesAtEnd(client *http.Client, address string) ([]byte, error) {
	for {
		resp, err := client.Get(address)
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		return text, nil
	}
}

func breaksSelect(ctx context.Context, s store) {
	for {
		_, _ = s.get(context.WithoutCancel(ctx), "queue")
		select {
		case <-ctx.Done(): // want `break leaves the select statement, and the loop goes on after the context is done: return, or break to a label`
			break
		case <-time.After(time.Second):
		}
	}
}

func breaksLoop(ctx context.Context, s store) {
loop:
	for {
		_, _ = s.get(context.WithoutCancel(ctx), "queue")
		select {
		case <-ctx.Done():
			break loop
		case <-time.After(time.Second):
		}
	}
}

func asks(ctx context.Context, s store) {
	for ctx.Err() == nil {
		_, _ = s.get(context.WithoutCancel(ctx), "queue")
		select {
		case <-ctx.Done():
			break
		case <-time.After(time.Second):
		}
	}
}

var errBusy = errors.New("busy")

func unread(client *http.Client, address string) error {
	for range 20 {
		resp, err := client.Get(address)
		if err != nil {
			return err
		}
		resp.Body.Close()
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // want `without a number in the header, seconds is 0, and the loop does not wait: use a backoff then`
		time.Sleep(time.Duration(seconds) * time.Second)
	}
	return errBusy
}

func read(client *http.Client, address string) error {
	for range 20 {
		resp, err := client.Get(address)
		if err != nil {
			return err
		}
		resp.Body.Close()
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		if seconds <= 0 {
			seconds = 1
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
	return errBusy
}

func neverWaits(ctx context.Context, s store) (err error) {
	var delay time.Duration // want `delay is 0, and stays 0 however often it is multiplied: begin with the first delay`
	for range 5 {
		if _, err = s.get(ctx, "key"); err == nil {
			return nil
		}
		time.Sleep(delay)
		delay = min(delay*2, time.Minute)
	}
	return err
}

func beginsLater(ctx context.Context, s store) (err error) {
	var delay time.Duration
	for range 5 {
		if _, err = s.get(ctx, "key"); err == nil {
			return nil
		}
		time.Sleep(delay)
		delay = max(delay*2, time.Second)
	}
	return err
}

func exclusive(n int) time.Duration {
	return time.Duration(2^n) * time.Second // want `\^ is the exclusive or, not the power: use 1 << n`
}

func power(n int) (time.Duration, int) {
	return time.Duration(1<<min(n, 10)) * time.Second, 2 ^ n
}

func again(ctx context.Context, s store, tries int) error {
	_, err := s.get(ctx, "key")
	if err == nil || tries <= 1 {
		return err
	}
	time.Sleep(time.Second + rand.N(time.Second))
	return again(ctx, s, tries) // want `tries is passed on as it is, so these retries never end: count it`
}

func counted(ctx context.Context, s store, tries, size int) error {
	_, err := s.get(ctx, "key")
	if err == nil || tries <= 1 {
		return err
	}
	time.Sleep(time.Second)
	return counted(ctx, s, tries-1, size)
}

func stopsTimer(ctx context.Context, s store) (err error) {
	for range 2 {
		timer := time.NewTimer(time.Second)
		defer timer.Stop()
		if _, err = s.get(ctx, "key"); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
	}
	return err
}

func oneTimer(ctx context.Context, s store, attempts int) (err error) {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	for range attempts {
		if _, err = s.get(ctx, "key"); err == nil {
			return nil
		}
		select {
		case <-timer.C: // want `the timer fires once, so the second wait never ends: reset it, or make it in each round`
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func endOfAll(ctx context.Context, s store, attempts int) (err error) {
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	for range attempts {
		if _, err = s.get(ctx, "key"); err == nil {
			return nil
		}
		select {
		case <-timer.C:
			return err
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}
