package lab

import (
	"bufio"
	"bytes"
	stdheap "container/heap"
	"fmt"
	"os/exec"
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
// clients read and write. It draws the same random numbers as simulate.
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
