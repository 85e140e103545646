//go:build !js

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

const rate = 280 // calls a second: 70 % of what a server can serve

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// crowd is the clients of a server. They have four attempts and no budget, as many
// clients do.
type crowd struct {
	client *http.Client
	url    string

	mu               sync.Mutex
	succeeded, ended int // in this second
	all              [2]int
}

func newCrowd(dial dialer, address string) *crowd {
	return &crowd{url: "http://" + address, client: &http.Client{Transport: &retryhttp.Transport{
		Base:   &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 1000},
		Policy: retry.Policy{MaxAttempts: 4, AttemptTimeout: time.Second, Budget: retry.NoBudget{}},
	}}}
}

// run makes calls at random times.
func (c *crowd) run(ctx context.Context, until time.Time) {
	var calls sync.WaitGroup
	for next := time.Now(); next.Before(until); {
		next = next.Add(time.Duration(rand.ExpFloat64() / rate * float64(time.Second)))
		time.Sleep(time.Until(next))
		calls.Go(func() { c.count(c.call(ctx)) })
	}
	calls.Wait()
}

func (c *crowd) call(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return false
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

func (c *crowd) count(ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended++
	c.all[1]++
	if ok {
		c.succeeded++
		c.all[0]++
	}
}

// second returns the share of the calls that ended in the last second and succeeded.
func (c *crowd) second() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.succeeded, c.ended = 0, 0 }()
	return share(c.succeeded, c.ended)
}

func share(part, all int) string {
	if all == 0 {
		return "none ended"
	}
	return fmt.Sprintf("%.0f %% of %d", 100*float64(part)/float64(all), all)
}

// watch calls both servers, first the one without a gate, and prints a line a second.
func watch(ctx context.Context, w io.Writer, crowds [2]*crowd) {
	fmt.Fprintln(w, "Calls that end in each second and succeed. Both servers stall from second 5 to 7.")
	fmt.Fprintf(w, "%6s  %-16s %s\n", "second", "without a gate", "with a gate")
	start := time.Now()
	var all sync.WaitGroup
	for _, c := range crowds {
		all.Go(func() { c.run(ctx, start.Add(length)) })
	}
	for second := range int(length / time.Second) {
		//retrycheck:ignore sleep the example prints every second, to its end
		time.Sleep(time.Until(start.Add(time.Duration(second+1) * time.Second)))
		fmt.Fprintf(w, "%6d  %-16s %s\n", second, crowds[0].second(), crowds[1].second())
	}
	all.Wait()
	fmt.Fprintf(w, "%6s  %-16s %s\n", "all", share(crowds[0].all[0], crowds[0].all[1]), share(crowds[1].all[0], crowds[1].all[1]))
}
