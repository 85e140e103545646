package lab

// Timers in virtual time.

import "math"

// timers is a queue ordered by time, then by the order in which the timers were started. It
// is a heap with four children per node, so that the keys of siblings are in one or two
// cache lines.
type timers struct {
	heap []timerNode
	set  uint64 // timers started so far
}

type timerNode struct {
	at    int64
	order uint64
	timer *timer
}

type timer struct {
	fire  func()
	place int // position in the heap, from 1; 0: not started
}

func (n *timerNode) before(m *timerNode) bool {
	return n.at < m.at || n.at == m.at && n.order < m.order
}

// start starts t, which must not be running.
func (q *timers) start(t *timer, at int64) {
	q.set++
	q.heap = append(q.heap, timerNode{})
	q.up(len(q.heap)-1, timerNode{at, q.set, t})
}

// stop stops t, which must be running.
func (q *timers) stop(t *timer) { q.remove(t.place - 1) }

func (q *timers) first() int64 {
	if len(q.heap) == 0 {
		return math.MaxInt64
	}
	return q.heap[0].at
}

// next removes and returns the earliest timer.
func (q *timers) next() *timer {
	t := q.heap[0].timer
	q.remove(0)
	return t
}

func (q *timers) remove(i int) {
	q.heap[i].timer.place = 0
	last := len(q.heap) - 1
	node := q.heap[last]
	q.heap = q.heap[:last]
	switch {
	case i == last:
	case i > 0 && node.before(&q.heap[(i-1)/4]):
		q.up(i, node)
	default:
		q.down(i, node)
	}
}

func (q *timers) put(i int, n timerNode) {
	q.heap[i] = n
	n.timer.place = i + 1
}

func (q *timers) up(i int, n timerNode) {
	for i > 0 {
		parent := (i - 1) / 4
		if !n.before(&q.heap[parent]) {
			break
		}
		q.put(i, q.heap[parent])
		i = parent
	}
	q.put(i, n)
}

func (q *timers) down(i int, n timerNode) {
	for {
		first := 4*i + 1
		if first >= len(q.heap) {
			break
		}
		least := first
		for child := first + 1; child < min(first+4, len(q.heap)); child++ {
			if q.heap[child].before(&q.heap[least]) {
				least = child
			}
		}
		if !q.heap[least].before(&n) {
			break
		}
		q.put(i, q.heap[least])
		i = least
	}
	q.put(i, n)
}
