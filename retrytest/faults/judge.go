package faults

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// requests lists what was sent, for comparison.
func (o *outcome) requests() string {
	var list []string
	for _, s := range o.sends {
		list = append(list, s.String())
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// of returns the sends of a request's method and path, from the request on.
func (o *outcome) of(request *send) (list []*send) {
	for _, s := range o.sends {
		if s.key == request.key && s.n >= request.n {
			list = append(list, s)
		}
	}
	return list
}

// attempts returns the sends of the request that has the fault: its first, and those that
// are more than without a fault, of which those that equal the first are counted separately.
func (s *suite) attempts(o *outcome) (list []*send) {
	sends, without := o.of(o.request), s.base.of(o.request)
	if len(sends) == 0 {
		return nil
	}
	equal := func(a, b *send) bool { // without its body, the first equals all
		return !sends[0].read || !b.read || bytes.Equal(a.hash.Sum(nil), b.hash.Sum(nil))
	}
	expected := map[bool]int{}
	for _, later := range without[1:] {
		expected[equal(without[0], later)]++
	}
	for i, later := range slices.Backward(sends) {
		eq := equal(sends[0], later)
		if !later.read && expected[eq] <= 0 { // it may as well be another one
			eq = !eq
		}
		if i == 0 || expected[eq] <= 0 {
			list = append(list, later)
		} else {
			expected[eq]--
		}
	}
	slices.Reverse(list)
	return list
}

// cell is what the table says.
func (o *outcome) cell(s *suite) string {
	attempts := s.attempts(o)
	if len(attempts) == 0 || o.fault == "cut" && !attempts[0].cut {
		return "-"
	}
	text := "pass"
	if len(o.failures) > 0 {
		text = "fail"
	}
	if o.request.beside {
		return text + " ×?"
	}
	if len(attempts) > 1 {
		var waited time.Duration
		for i, again := range attempts[1:] {
			waited += again.at.Sub(attempts[i].end)
		}
		text += fmt.Sprintf(" ×%d %v", len(attempts), waited.Round(time.Millisecond))
	}
	if attempts[0].endless {
		text += " no timeout"
	}
	return text
}

// judge returns what the code did and must not.
func (s *suite) judge(o *outcome) (found []string) {
	attempts := s.attempts(o)
	if len(attempts) == 0 {
		return nil
	}
	checks := []func(*outcome, []*send) string{s.ends, s.fails, s.twice, s.body, s.waits, s.layers, s.context}
	if o.request.beside { // whose attempts they are is unknown
		checks = checks[:1]
	}
	for _, check := range checks {
		if text := check(o, attempts); text != "" {
			found = append(found, text)
		}
	}
	return found
}

func (s *suite) ends(o *outcome, _ []*send) string {
	switch {
	case strings.HasPrefix(o.said(), "panic at "):
		text, _, _ := strings.Cut(o.said(), "\n")
		return "there is a " + text
	case o.unbounded != "":
		return "the number of attempts is not bounded, " + o.unbounded
	case o.hangs():
		return "the test does not end"
	case o.deadlock != "" && s.base.deadlock == "":
		return "goroutines stay behind"
	}
	return ""
}

func (o *outcome) hangs() bool { return strings.Contains(o.deadlock, "all goroutines") }

func (o *outcome) said() string { return strings.Join(o.failures, "\n") }

// fails: a fault that is not overcome must be what the test fails with. If the server
// has errors of its own, the test may fail with those. A test that passes, or does not say
// why it fails, if there is no connection, tells nothing about a cut body. One that fails
// without a connection must not pass if all that it gets is a 503.
func (s *suite) fails(o *outcome, attempts []*send) string {
	said, first, last, refused := o.said(), attempts[0], attempts[len(attempts)-1], o.known["refused"]
	named := strings.Contains(refused.said(), "refused")
	switch {
	case slices.ContainsFunc(s.base.sends, func(s *send) bool { return s.status >= 400 }) || strings.HasPrefix(said, "panic "):
	case first.fault == "refused" && said != "" && !strings.Contains(said, "refused"):
		return "the test does not fail with the error, connection refused"
	case said == "" && refused.said() != "" && answers[last.fault] != 0:
		return fmt.Sprintf("the test passes although the last response was %d %s", answers[last.fault], http.StatusText(answers[last.fault]))
	case !first.cut || len(attempts) > 1:
	case first.noticed && said == "" && (named || len(s.attempts(refused)) > 1):
		return "the test passes although the body could not be read"
	case said != "" && !strings.Contains(said, "EOF") && (named || strings.Contains(o.known["lost"].said(), "reset")):
		return "the test does not fail with the error of the body, unexpected EOF"
	}
	return ""
}

func (s *suite) twice(_ *outcome, attempts []*send) string {
	first := attempts[0]
	if first.status == 0 || first.status >= 400 || first.fault == "cut" && !first.cut {
		return ""
	}
	for _, again := range attempts[1:] {
		if !again.dead && !first.idempotent {
			return "the request is sent again although the server has acted"
		}
		if !again.dead && first.id != again.id {
			return "the request is sent again with another idempotency key although the server has acted"
		}
	}
	return ""
}

// body: a body that is made anew may have another size, but not a much smaller one.
func (s *suite) body(o *outcome, attempts []*send) string {
	without := s.base.of(o.request)
	least := slices.MinFunc(without, func(a, b *send) int { return a.size - b.size }).size
	for _, again := range o.of(o.request)[1:] {
		if again.read && 4*again.size < 3*least {
			return fmt.Sprintf("the request is sent again with %d of %d bytes of its body", again.size, without[0].size)
		}
	}
	return ""
}

func (s *suite) waits(_ *outcome, attempts []*send) string {
	var longest time.Duration
	for i, again := range attempts[1:] {
		wait := again.at.Sub(attempts[i].end)
		if longest = max(longest, wait); attempts[i].fault == "429" && wait < 2*time.Second {
			return fmt.Sprintf("the attempt after Retry-After: 2 comes after %v", wait)
		}
	}
	retries := len(attempts) - 1
	if attempts[0].fault != "503" {
		retries-- // the first after a network error may be at once
	}
	if retries > 0 && longest <= s.noWait {
		return "retries do not wait"
	}
	return ""
}

// layers: the attempts of one layer share their header, or are numbered by retryhttp. If such a
// layer is called several times, the attempts multiply.
func (s *suite) layers(o *outcome, attempts []*send) string {
	var calls []int
	for i, a := range attempts {
		if i == 0 || !sameCall(attempts[i-1], a) {
			calls = append(calls, 0)
		}
		calls[len(calls)-1]++
	}
	if len(calls) > len(s.base.of(o.request)) && slices.Min(calls[:len(calls)-1]) > 1 {
		return fmt.Sprintf("two layers multiply the attempts, %d × %d", len(calls), calls[0])
	}
	return ""
}

// sameCall reports whether one call of the lowest layer with retries sent both requests.
func sameCall(before, after *send) bool {
	if after.number > 0 {
		return after.number >= before.number
	}
	return reflect.ValueOf(before.header).Pointer() == reflect.ValueOf(after.header).Pointer()
}

func (s *suite) context(o *outcome, attempts []*send) string {
	first, dead, alive := attempts[0], 0, 0
	for _, again := range attempts[1:] {
		if again.dead {
			dead++
		}
	}
	for _, later := range o.sends {
		if !later.dead && later.at.After(first.end) {
			alive++
		}
	}
	late := o.end.Sub(first.end) - s.base.end.Sub(s.base.start)
	switch {
	case dead > 1:
		return fmt.Sprintf("%d attempts come after the end of their context", dead)
	case first.endless && o.usedContext:
		return "the request does not end with t.Context"
	case first.fault == "silent" && !first.endless && alive == 0 && late > time.Second:
		return fmt.Sprintf("the code goes on for %v after the end of its context", late)
	}
	return ""
}
