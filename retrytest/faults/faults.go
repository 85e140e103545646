// Package faults tests how code that sends HTTP requests behaves when they fail. It runs a test
// of the code again and again: once for each request that the test sends, and each fault that
// the request can meet. It reports what the code did.
//
//	func TestOrder(t *testing.T) {
//		faults.Test(t, func(t testing.TB, rt *faults.Transport) {
//			server := rt.NewServer(shop()) // was httptest.NewServer
//			client := orders.Client{URL: server.URL, HTTP: server.Client()}
//			if err := client.Order(t.Context(), "tea"); err != nil {
//				t.Fatal(err)
//			}
//		})
//	}
//
// docs/testing.md in the repository lists the faults, the rules that the code must keep, and
// what the package does not detect.
package faults

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"
)

// faults are the names of the faults, and what happens to the first attempt of the request,
// the second and so on. The last word is for all later attempts.
var faults = []struct {
	name  string
	kinds []string
}{
	{"refused", []string{"refused", ""}},
	{"lost", []string{"lost"}},
	{"busy", []string{"429", "503", ""}},
	{"cut", []string{"cut", ""}},
	{"silent", []string{"silent", ""}},
	{"for-ever", []string{"503"}}, // or else what the code retries
}

// Option changes what [Test] does.
type Option func(*suite)

// Allow accepts what a subtest finds, because the code does it deliberately, if the name of the
// subtest matches the pattern. The syntax is that of [path.Match], as in "POST_search#*/lost".
// [Test] shows the reason below its table. If the reason is empty, nothing is allowed.
func Allow(pattern, reason string) Option {
	return func(s *suite) { s.allowed = append(s.allowed, [2]string{pattern, reason}) }
}

// RealTime runs the test outside of a bubble of [testing/synctest], so that it may use the
// network, such as a server of httptest.NewServer. Waits then take real time. If the attempts
// of a request go on for more than 30 seconds, they are stopped, which is not reported as a
// mistake of the code.
func RealTime() Option {
	return func(s *suite) {
		s.virtual, s.patience, s.quiet, s.noWait = false, 30*time.Second, time.Second, time.Millisecond
	}
}

type suite struct {
	name     string
	test     func(testing.TB, *Transport)
	allowed  [][2]string
	virtual  bool
	patience time.Duration // how long attempts may go on
	quiet    time.Duration // how long a server is silent if the request has no deadline
	noWait   time.Duration // what is no wait
	base     *outcome      // without a fault
}

// Test runs test twice without a fault, to learn which requests it sends through rt, and then
// once for each request and fault. Requests with one method and path are numbered in their
// order. Each run is a subtest with a name such as POST_orders#1/lost. The subtest fails if the
// code breaks a rule for that fault. At the end, Test logs a table of all runs.
//
// In a run with a fault, test may fail: its t records the failure, and Test does not fail
// because of it. Test fails if test fails without a fault, sends no requests, or sends other
// requests when it is run again. Each run is in a bubble of [testing/synctest], where waits
// take no time, so do not call Test in a bubble. For a test that needs the network, see
// [RealTime].
func Test(t *testing.T, test func(t testing.TB, rt *Transport), opts ...Option) {
	t.Helper()
	s := &suite{name: t.Name(), test: test, virtual: true, patience: 24 * time.Hour, quiet: time.Hour, base: &outcome{}}
	for _, opt := range opts {
		opt(s)
	}
	again := &outcome{}
	s.run(t, s.base)
	s.run(t, again)
	failed := append(s.base.failures, again.failures...)
	switch before, after := s.base.requests(), again.requests(); {
	case s.base.skipped:
		t.SkipNow()
	case s.base.hangs() || again.hangs():
		t.Fatal("faults: the test does not end without a fault: its server may be on the network, see faults.RealTime")
	case len(s.base.failures) > 0:
		t.Fatal("faults: the test fails without a fault:", failed[0])
	case before != after || len(failed) > 0:
		t.Fatalf("faults: the test is not repeatable: it sent %s, then %s %s", before, after, failed)
	case before == "":
		t.Fatal("faults: the test sends no requests through rt")
	}
	var table, notes strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "request\tsent at")
	for _, f := range faults {
		fmt.Fprint(w, "\t", f.name)
	}
	for _, request := range s.base.sends {
		fmt.Fprintf(w, "\n%s\t%s", request, request.line)
		known := map[string]*outcome{}
		t.Run(request.name(), func(t *testing.T) {
			for _, f := range faults {
				cell := ""
				t.Run(f.name, func(t *testing.T) {
					for _, first := range faults[:2] { // show whether the test notices, and says so
						s.outcome(t, request, first.name, first.kinds, known)
					}
					o := s.outcome(t, request, f.name, f.kinds, known)
					cell = o.cell(s)
					found, mark, why := strings.Join(s.judge(o), "; "), "!", ""
					if found == "" {
						return
					}
					if reason := s.reason(request.name() + "/" + f.name); reason != "" {
						mark, why = "~", " (allowed: "+reason+")"
					} else {
						t.Errorf("%s, sent at %s: %s", request, request.line, found)
					}
					cell = mark + cell
					fmt.Fprintf(&notes, "\n%s %s/%s: %s%s", mark, request.name(), f.name, found, why)
				})
				fmt.Fprint(w, "\t", cell)
			}
		})
	}
	_ = w.Flush()
	t.Logf("how the test ended, attempts if more than one, waits between them\n%s%s", &table, &notes)
}

func (s *suite) reason(name string) string {
	for _, a := range s.allowed {
		if ok, _ := path.Match(a[0], name); ok {
			return a[1]
		}
	}
	return ""
}

// outcome runs the test with the fault, unless it is known what happens.
func (s *suite) outcome(t *testing.T, request *send, name string, kinds []string, known map[string]*outcome) *outcome {
	if known[name] != nil {
		return known[name]
	}
	if name == "for-ever" {
		retried := map[string]bool{}
		for _, f := range faults[:3] {
			retried[f.name] = len(s.attempts(s.outcome(t, request, f.name, f.kinds, known))) > 1
		}
		switch {
		case retried["busy"]:
			kinds = []string{"429"}
		case retried["refused"] && !retried["lost"]:
			kinds = []string{"refused"}
		}
	}
	known[name] = &outcome{request: request, fault: name, kinds: kinds, known: known}
	s.run(t, known[name])
	return known[name]
}

// run runs the test, in a bubble if the time is virtual. A deadlock is a panic of synctest.
func (s *suite) run(t *testing.T, o *outcome) {
	rt := &Transport{outcome: o, suite: s}
	if !s.virtual {
		rt.run(t)
		return
	}
	defer func() {
		if v := recover(); v != nil {
			if o.deadlock = fmt.Sprint(v); !strings.HasPrefix(o.deadlock, "deadlock: ") {
				panic("faults.Test: " + o.deadlock)
			}
		}
	}()
	synctest.Test(t, rt.run)
}
