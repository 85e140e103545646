package lab

import (
	"bufio"
	"bytes"
	stdheap "container/heap"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// message is an event of the original program, which has four events per call.
type message struct {
	at      int64
	client  uint32
	kind    messageKind
	version int
	won     bool
}

type messageKind uint8

const (
	readArrives messageKind = iota
	readAnswered
	writeArrives
	writeAnswered
)

type messages []message

func (q messages) Len() int      { return len(q) }
func (q messages) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q messages) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	if q[i].kind != q[j].kind {
		return q[i].kind > q[j].kind // a commit precedes a read at the same time
	}
	return q[i].client < q[j].client
}
func (q *messages) Push(x any) { *q = append(*q, x.(message)) }
func (q *messages) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// byMessages handles every message as an event, and keeps track of the versions that
// clients read and write. It draws the same random numbers as byHeap.
func (m *model) byMessages(clients int) {
	events := make([]event, clients)
	var queue messages
	for i := range events {
		events[i] = m.first(uint32(i))
		stdheap.Push(&queue, message{at: events[i].read, client: uint32(i)})
	}
	version := 0
	for len(queue) > 0 {
		msg := stdheap.Pop(&queue).(message)
		e := &events[msg.client]
		switch msg.kind {
		case readArrives:
			stdheap.Push(&queue, message{at: (e.read + e.at) / 2, client: msg.client, kind: readAnswered, version: version})
		case readAnswered:
			stdheap.Push(&queue, message{at: e.at, client: msg.client, kind: writeArrives, version: msg.version})
		case writeArrives:
			m.count(e)
			won := msg.version == version
			if won {
				version++
			}
			stdheap.Push(&queue, message{at: e.at, client: msg.client, kind: writeAnswered, won: won})
		case writeAnswered:
			if msg.won {
				m.wins(e)
			} else if m.loses(e) {
				stdheap.Push(&queue, message{at: e.read, client: msg.client})
			}
		}
	}
}

func TestOneEventForEachCall(t *testing.T) {
	c, err := Contention{Clients: []int{1, 2, 30, 120}, Trials: 5}.WithDefaults()
	require.NoError(t, err)
	for _, cell := range c.cells() {
		for trial := range c.Trials {
			m := model{progress: &progress{}}
			m.setUp(&c, cell, trial)
			m.byMessages(cell.Clients)
			want := m.outcome
			require.True(t, m.run(t.Context(), &c, cell, trial))
			assert.Equal(t, want, cell.trials[trial], "%s with %d clients", cell.Contender, cell.Clients)
		}
	}
}

// quaternary is a heap with four children per node.
type quaternary []event

func (q quaternary) down() {
	e, i := q[0], 0
	for {
		first := 4*i + 1
		if first >= len(q) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(q)); c++ {
			if q[c].before(&q[least]) {
				least = c
			}
		}
		if !q[least].before(&e) {
			break
		}
		q[i] = q[least]
		i = least
	}
	q[i] = e
}

func (m *model) byQuaternary(clients int) {
	q := make(quaternary, clients)
	for i := range q {
		q[i] = m.first(uint32(i))
	}
	slices.SortFunc(q, func(x, y event) int { // a sorted list is a heap
		if x.before(&y) {
			return -1
		}
		return 1
	})
	for len(q) > 0 {
		e := &q[0]
		m.count(e)
		if m.current(e) {
			m.wins(e)
		} else if m.loses(e) {
			q.down()
			continue
		}
		q[0] = q[len(q)-1]
		if q = q[:len(q)-1]; len(q) > 1 {
			q.down()
		}
	}
}

// byPopAndPush is byHeap, but it does not change the first event in place.
func (m *model) byPopAndPush(clients int) {
	q := m.queue[:0]
	for i := range clients {
		q.push(m.first(uint32(i)))
	}
	for len(q) > 0 {
		e := q[0]
		q.pop()
		m.count(&e)
		if m.current(&e) {
			m.wins(&e)
		} else if m.loses(&e) {
			q.push(e)
		}
	}
	m.queue = q
}

func (m *model) bySortedBuckets(clients int) {
	b := &m.bucket
	b.reset(m.width, clients)
	for i := range b.events {
		b.events[i] = m.first(uint32(i))
		b.push(int32(i))
	}
	for head := b.advance(); head != none; head = b.advance() {
		m.inOrder(head)
	}
}

func BenchmarkQueue(b *testing.B) {
	queues := []struct {
		name string
		run  func(m *model, b *testing.B, clients int)
	}{
		{"container-heap-4-events", func(m *model, _ *testing.B, n int) { m.byMessages(n) }},
		{"binary-heap-pop-push", func(m *model, _ *testing.B, n int) { m.byPopAndPush(n) }},
		{"binary-heap-replace", func(m *model, b *testing.B, n int) { m.byHeap(b.Context(), n) }},
		{"quaternary-heap-replace", func(m *model, _ *testing.B, n int) { m.byQuaternary(n) }},
		{"buckets-sorted", func(m *model, _ *testing.B, n int) { m.bySortedBuckets(n) }},
		{"buckets-unordered", func(m *model, b *testing.B, n int) { m.byBuckets(b.Context(), n) }},
	}
	for _, q := range queues {
		for _, clients := range []int{10, 100, 1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", q.name, clients), func(b *testing.B) {
				c, err := Contention{Clients: []int{clients}, Trials: 1, Contenders: mustParse("full base=10ms cap=2s")}.WithDefaults()
				require.NoError(b, err)
				cell := c.cells()[0]
				m := model{progress: &progress{}}
				var calls int64
				trial := 0
				for b.Loop() {
					m.setUp(&c, cell, trial)
					q.run(&m, b, clients)
					calls += m.calls
					trial++
				}
				b.ReportMetric(float64(calls)/b.Elapsed().Seconds()/1e6, "Mcalls/s")
			})
		}
	}
}

// BenchmarkGrid runs the blog's grid, and for comparison the blog's algorithm in Python,
// which has four events per call.
func BenchmarkGrid(b *testing.B) {
	var clients []int
	for n := 10; n <= 190; n += 10 {
		clients = append(clients, n)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			var calls float64
			for b.Loop() {
				cells, err := Contention{Clients: clients, Trials: 100, Parallel: workers}.Run(b.Context())
				require.NoError(b, err)
				for _, c := range cells {
					calls += c.Calls.Mean * float64(c.Calls.N)
				}
			}
			b.ReportMetric(4*calls/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
	b.Run("original", func(b *testing.B) {
		python, err := exec.LookPath("python3")
		if err != nil {
			b.Skip(err)
		}
		args := []string{"testdata/original.py", "5"}
		for _, n := range clients {
			args = append(args, strconv.Itoa(n))
		}
		var calls, seconds float64
		for b.Loop() {
			out, err := exec.CommandContext(b.Context(), python, args...).Output()
			require.NoError(b, err)
			c, s := readOriginal(b, out)
			calls, seconds = calls+c, seconds+s
		}
		b.ReportMetric(4*calls/seconds/1e6, "Mevents/s")
	})
}

func readOriginal(b *testing.B, out []byte) (calls, seconds float64) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		require.Len(b, fields, 4)
		c, err := strconv.ParseFloat(fields[2], 64)
		require.NoError(b, err)
		s, err := strconv.ParseFloat(fields[3], 64)
		require.NoError(b, err)
		calls, seconds = calls+c, seconds+s
	}
	return calls, seconds
}
