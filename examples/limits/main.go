//go:build !js

// Limits starts two servers that allow 100 calls in 4 seconds, and for each of them five
// processes with eight workers. The processes of one server keep to the limit, as a Transport
// does by itself; those of the other do not. Each second, it prints what became of the calls.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

const (
	processes = 5
	workers   = 8
	limit     = 100
	window    = 4 * time.Second
)

func main() {
	length := flag.Duration("for", 30*time.Second, "how long the processes work")
	url := flag.String("call", "", "work as one of the processes and call this URL")
	limited := flag.Bool("limited", false, "keep to the limit")
	flag.Parse()
	var err error
	if *url != "" {
		work(*url, *limited, *length)
	} else {
		err = watch(*length)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		os.Exit(1)
	}
}

// work calls the server until the time is over. It prints a line for each call.
func work(url string, limited bool, length time.Duration) {
	transport := &retryhttp.Transport{}
	if !limited { // as other clients
		transport.PerScope = retryhttp.Unlimited()
		transport.Policy.Budget = retry.NoBudget{}
	}
	client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for time.Now().Before(end) {
				if err := call(client, url); err != nil {
					fmt.Println("failed")
				} else {
					fmt.Println("succeeded")
				}
				time.Sleep(50 * time.Millisecond) // work between the calls
			}
		})
	}
	all.Wait()
}

func call(client *http.Client, url string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}

// A side is a server and what became of the calls to it.
type side struct {
	mu     sync.Mutex
	end    time.Time // of the window
	left   int
	counts map[string]int
}

// ServeHTTP allows a number of calls in each window, and says how many are left.
func (s *side) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !now.Before(s.end) {
		s.end, s.left = now.Truncate(window).Add(window), limit
	}
	reset := strconv.Itoa(int(s.end.Sub(now)/time.Second) + 1)
	refused := s.left == 0
	s.left = max(0, s.left-1)
	w.Header().Set("RateLimit-Limit", strconv.Itoa(limit))
	w.Header().Set("RateLimit-Remaining", strconv.Itoa(s.left))
	w.Header().Set("RateLimit-Reset", reset)
	if refused {
		s.counts["refused"]++
		w.Header().Set("Retry-After", reset)
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

// start starts the server and its processes.
func (s *side) start(all *sync.WaitGroup, limited bool, length time.Duration) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(listener, s)
	for range processes {
		cmd := exec.Command(program, "-call", "http://"+listener.Addr().String(), "-limited="+strconv.FormatBool(limited), "-for", length.String())
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		all.Go(func() {
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				s.mu.Lock()
				s.counts[lines.Text()]++
				s.mu.Unlock()
			}
			_ = cmd.Wait()
		})
	}
	return nil
}

func (s *side) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%9d %9d %9d", s.counts["succeeded"], s.counts["refused"], s.counts["failed"])
}

// watch prints a line each second, until the processes end.
func watch(length time.Duration) error {
	without, with := &side{counts: map[string]int{}}, &side{counts: map[string]int{}}
	var all sync.WaitGroup
	if err := without.start(&all, false, length); err != nil {
		return err
	}
	if err := with.start(&all, true, length); err != nil {
		return err
	}
	fmt.Println("        without a Limiter                with one")
	fmt.Println("second  succeeded   refused    failed    succeeded   refused    failed")
	for second := range int(length / time.Second) {
		time.Sleep(time.Second)
		fmt.Printf("%6d  %v    %v\n", second+1, without, with)
	}
	all.Wait() // the last calls
	fmt.Printf("   end  %v    %v\n", without, with)
	return nil
}
