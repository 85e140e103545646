package faults_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retrytest/faults"
)

// shopping returns a test of a program.
func shopping(p program) func(testing.TB, *faults.Transport) {
	return func(t testing.TB, rt *faults.Transport) {
		server := rt.NewServer(shop())
		if err := p(t.Context(), server.Client(), server.URL); err != nil {
			t.Fatal(err)
		}
	}
}

// inChild reports whether this is the process in which findings may fail tests.
func inChild() bool { return os.Getenv("FAULTS_CHILD") != "" }

// child runs the test again in a process of its own, and returns what each of its
// subtests prints.
func child(t *testing.T, run string) (output string, logs map[string]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run="+run, "-test.v")
	cmd.Env = append(os.Environ(), "FAULTS_CHILD=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, string(out))
	logs = map[string]string{}
	for _, log := range strings.Split(string(out), "\n=== ")[1:] {
		name, text, _ := strings.Cut(log, "\n")
		_, name, _ = strings.Cut(name, t.Name()+"/")
		name, _, _ = strings.Cut(name, "/")
		logs[strings.ReplaceAll(name, "_", " ")] += text + "\n"
	}
	return string(out), logs
}

func TestPrograms(t *testing.T) {
	if inChild() {
		for _, p := range append(mistakes, sound...) {
			t.Run(p.name, func(t *testing.T) { faults.Test(t, shopping(p.run)) })
		}
		return
	}
	out, logs := child(t, "^TestPrograms$")
	assert.NotContains(t, out, "DATA RACE")
	for _, p := range mistakes {
		if p.found == "" {
			assert.NotContains(t, logs[p.name], "! ", p.name)
		} else {
			assert.Contains(t, logs[p.name], "! "+p.found, p.name)
		}
	}
	for _, p := range sound {
		require.Contains(t, logs[p.name], "how the test ended", p.name)
		assert.NotContains(t, logs[p.name], "! ", p.name)
	}
}

var visits atomic.Int32

// uses are right and wrong uses of Test, and what they print.
var uses = []struct {
	name   string
	use    func(t *testing.T)
	prints string
}{
	{"another path each time", func(t *testing.T) {
		faults.Test(t, shopping(func(ctx context.Context, c *http.Client, url string) error {
			return get(ctx, c, fmt.Sprintf("%s/%d", url, visits.Add(1)))
		}))
	}, "not repeatable: it sent GET /1/orders#1, then GET /2/orders#1"},
	{"fails without a fault", func(t *testing.T) {
		faults.Test(t, shopping(func(context.Context, *http.Client, string) error { return errors.New("no tea") }))
	}, "the test fails without a fault: no tea"},
	{"no requests", func(t *testing.T) {
		faults.Test(t, func(testing.TB, *faults.Transport) {})
	}, "the test sends no requests through rt"},
	{"does not end", func(t *testing.T) {
		faults.Test(t, func(testing.TB, *faults.Transport) { <-make(chan int) })
	}, "the test does not end without a fault"},
	{"leaves a goroutine", func(t *testing.T) {
		faults.Test(t, func(t testing.TB, rt *faults.Transport) {
			go func() { <-make(chan int) }()
			shopping(get)(t, rt)
		})
	}, "--- PASS: TestUses/leaves_a_goroutine "},
	{"a timer of an hour", func(t *testing.T) {
		faults.Test(t, func(t testing.TB, rt *faults.Transport) {
			shopping(get)(t, rt)
			time.AfterFunc(time.Hour-1, func() {})
			go time.Sleep(time.Hour - 1)
		})
	}, "--- PASS: TestUses/a_timer_of_an_hour "},
	{"skipped", func(t *testing.T) {
		faults.Test(t, func(t testing.TB, _ *faults.Transport) { t.Skip("not today") })
	}, "not today"},
	{"on the network", func(t *testing.T) { faults.Test(t, networked) },
		"is on the network, which stops the clock of a bubble: use rt.NewServer or faults.RealTime"},
	{"in a bubble", func(t *testing.T) {
		defer func() { t.Fatal(recover()) }()
		synctest.Test(t, func(t *testing.T) {
			defer func() { t.Log(recover()) }()
			faults.Test(t, shopping(get))
		})
	}, "faults.Test: synctest.Run called from within a synctest bubble"},
	{"allowed", func(t *testing.T) {
		faults.Test(t, shopping(retrying(post, 3, always, backoff)), faults.Allow("POST_*/lost", "the server knows orders"))
	}, "~ POST_orders#1/lost: the request is sent again although the server has acted (allowed: the server knows orders)"},
	{"allowed without a reason", func(t *testing.T) {
		faults.Test(t, shopping(retrying(post, 3, always, backoff)), faults.Allow("POST_*/lost", ""))
	}, "! POST_orders#1/lost: the request is sent again"},
	{"odd names", func(t *testing.T) {
		faults.Test(t, shopping(func(ctx context.Context, c *http.Client, url string) error {
			return send(ctx, c, "GET", url+"/a%20b/%C3%A9/", nil, "")
		}))
	}, "--- PASS: TestUses/odd_names/GET_a_b#1/for-ever"},
}

// networked sends a POST up to twice to a server on the network.
func networked(t testing.TB, rt *faults.Transport) {
	server := httptest.NewServer(shop())
	defer server.Close()
	rt.Base = server.Client().Transport
	again := retrying(post, 2, network, func(context.Context, int) error { time.Sleep(time.Microsecond); return nil })
	if err := again(t.Context(), &http.Client{Transport: rt}, server.URL); err != nil {
		t.Fatal(err)
	}
}

func TestUses(t *testing.T) {
	if inChild() {
		for _, u := range uses {
			t.Run(u.name, u.use)
		}
		return
	}
	out, logs := child(t, "^TestUses$")
	for _, u := range uses {
		assert.Contains(t, logs[u.name]+out[strings.Index(out, "\n--- FAIL: TestUses"):], u.prints, u.name)
	}
	out, _ = child(t, "^TestUses$/^allowed_without_a_reason$/^POST_orders#1$/^lost$")
	assert.Contains(t, out, "POST /orders#1  programs_test.go", "the table has the run that is repeated")
	assert.Contains(t, out, "! POST_orders#1/lost: ")
	assert.NotContains(t, out, "POST_orders#1/busy")
}

func TestRealTime(t *testing.T) {
	if inChild() {
		faults.Test(t, networked, faults.RealTime())
		return
	}
	out, _ := child(t, "^TestRealTime$/^POST_orders#1$/^lost$")
	assert.Contains(t, out, "! POST_orders#1/lost: the request is sent again although the server has acted")
}

// TestPage: the page shows what go test prints.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/testing.md")
	require.NoError(t, err)
	out, err := exec.Command("go", "test", "./testdata/order").CombinedOutput()
	require.Error(t, err)
	_, table, _ := strings.Cut(string(out), "waits between them\n")
	table, _, _ = strings.Cut(table, "FAIL")
	var lines []string
	for line := range strings.Lines(table) {
		lines = append(lines, strings.TrimSpace(line))
	}
	require.Greater(t, len(lines), 4, string(out))
	assert.Contains(t, string(page), "```\n"+strings.TrimSpace(strings.Join(lines, "\n"))+"\n```\n")
}

// TestRuns: five requests take five times six runs and two without a fault, no time, and
// leave no goroutine.
func TestRuns(t *testing.T) {
	before := runtime.NumGoroutine()
	runs, start := 0, time.Now()
	t.Run("five", func(t *testing.T) {
		faults.Test(t, func(t testing.TB, rt *faults.Transport) {
			runs++
			shopping(func(ctx context.Context, c *http.Client, url string) (err error) {
				for i := range 5 {
					err = errors.Join(err, retrying(get, 4, always, backoff)(ctx, c, fmt.Sprintf("%s/%d", url, i)))
				}
				return err
			})(t, rt)
		})
	})
	assert.Equal(t, 2+5*6, runs)
	assert.Less(t, time.Since(start), time.Minute, "the waits alone are longer")
	for runtime.NumGoroutine() > before && time.Since(start) < time.Minute {
		time.Sleep(time.Millisecond)
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before)
}

func TestParallel(t *testing.T) {
	for _, p := range sound {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			faults.Test(t, shopping(p.run))
		})
	}
}

// TestStreams: a test ends although a response has no end, or a body waits for the response.
func TestStreams(t *testing.T) {
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.WriteString(w, "hello\n")
		_ = http.NewResponseController(w).Flush()
		line, _ := bufio.NewReader(r.Body).ReadString('\n')
		_, _ = io.WriteString(w, line)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	for _, method := range []string{"GET", "POST"} {
		t.Run(method, func(t *testing.T) {
			faults.Test(t, func(t testing.TB, rt *faults.Transport) {
				server := rt.NewServer(server)
				body, writer := io.Pipe()
				defer writer.Close()
				req := httptest.NewRequestWithContext(t.Context(), method, server.URL+"/stream", nil)
				if method == "POST" {
					req.Body, req.ContentLength = body, -1
				}
				resp, err := rt.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				lines := bufio.NewReader(resp.Body)
				if line, err := lines.ReadString('\n'); line != "hello\n" {
					t.Fatal(resp.Status, line, err)
				}
				if method == "POST" {
					_, _ = io.WriteString(writer, "echo\n")
					if line, err := lines.ReadString('\n'); line != "echo\n" {
						t.Fatal(line, err)
					}
				}
			})
		})
	}
}

// TestT: the t of the test does what that of package testing does.
func TestT(t *testing.T) {
	var order []string
	faults.Test(t, func(inner testing.TB, rt *faults.Transport) {
		order = nil
		assert.Equal(t, t.Name(), inner.Name())
		assert.DirExists(t, inner.TempDir())
		inner.Setenv("FAULTS_T", "set")
		inner.Cleanup(func() { order = append(order, fmt.Sprint("first, ", inner.Failed(), inner.Context().Err())) })
		inner.Cleanup(func() {
			order = append(order, "last")
			if inner.Failed() {
				inner.FailNow()
			}
		})
		inner.Helper()
		shopping(get)(inner, rt)
		order = append(order, "not after Fatal")
		assert.False(t, inner.Skipped())
	})
	assert.Equal(t, []string{"last", "first, true context canceled"}, order, "of the last run, which fails")
	assert.Empty(t, os.Getenv("FAULTS_T"))
}
