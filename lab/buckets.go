package lab

// The fast event queue of the contention model: unordered buckets.

import (
	"context"
	"math"
	"math/bits"
	"slices"
)

// buckets is a queue of events in unordered buckets of 2^width ns: a ring for the near
// future, and a heap for the rest. A client has at most one event, so a bucket is a list
// linked through the clients.
type buckets struct {
	width  uint
	now    int64                 // number of the current bucket
	near   [ringSize]int32       // the first client of each bucket
	filled [ringSize / 64]uint64 // a bit for each bucket with events
	events []event               // by client
	next   []int32               // next client in the same bucket
	far    heap
	empty  bool // all events have been handled
}

const (
	ringSize = 4096
	none     = -1 // no client
)

// reset empties the queue and makes room for the clients. It does not clear a queue whose
// events have all been handled: clearing takes longer than a trial with ten clients.
func (b *buckets) reset(width, clients int) {
	b.width, b.now = uint(width), 0
	if cap(b.events) < clients {
		b.events, b.next = make([]event, clients), make([]int32, clients)
	}
	b.events, b.next = b.events[:clients], b.next[:clients]
	if b.empty {
		b.empty = false
		return
	}
	b.far = b.far[:0]
	clear(b.filled[:])
	for i := range b.near {
		b.near[i] = none
	}
}

// push adds the client's event, which must be in the first bucket or after the current one.
func (b *buckets) push(client int32) {
	e := &b.events[client]
	number := e.at >> (b.width % 64)
	if number-b.now >= ringSize {
		b.far.push(*e)
		return
	}
	slot := uint(number) % ringSize
	b.next[client] = b.near[slot]
	b.near[slot] = client
	b.filled[slot/64] |= 1 << (slot % 64)
}

// advance moves to the next filled bucket and returns its first client. If no events are
// left, it returns the constant none.
func (b *buckets) advance() int32 {
	slot, ok := b.nextFilled()
	switch {
	case ok:
		b.now += int64((slot - uint(b.now)) % ringSize)
	case len(b.far) > 0:
		b.now = b.far[0].at >> (b.width % 64)
	default:
		b.empty = true
		return none
	}
	for len(b.far) > 0 && b.far[0].at>>(b.width%64)-b.now < ringSize {
		b.push(int32(b.far[0].client))
		b.far.pop()
	}
	slot = uint(b.now) % ringSize
	head := b.near[slot]
	b.near[slot] = none
	b.filled[slot/64] &^= 1 << (slot % 64)
	return head
}

func (b *buckets) nextFilled() (slot uint, ok bool) {
	start := uint(b.now) % ringSize
	word := start / 64
	if left := b.filled[word] >> (start % 64); left != 0 {
		return start + uint(bits.TrailingZeros64(left)), true
	}
	for range b.filled {
		word = (word + 1) % uint(len(b.filled))
		if b.filled[word] != 0 {
			return word*64 + uint(bits.TrailingZeros64(b.filled[word])), true
		}
	}
	return 0, false
}

// later adds the client's event unless it is in the current bucket, and reports whether it
// did.
func (b *buckets) later(client int32) bool {
	if b.events[client].at>>(b.width%64) == b.now {
		return false
	}
	b.push(client)
	return true
}

// byBuckets has the same result as byHeap. The events of a bucket need no order: if all
// reads are before the bucket, at most one of its writes succeeds, namely the first whose
// read is not before the last commit. byBuckets returns false if ctx has ended, or if two
// events of a client are in one bucket.
func (m *model) byBuckets(ctx context.Context, clients int) bool {
	b := &m.bucket
	b.reset(m.width, clients)
	for i := range b.events {
		if i%checkEvery == 0 && !m.goOn(ctx) {
			return false
		}
		b.events[i] = m.first(uint32(i))
		b.push(int32(i))
	}
	var checked int64
	for head := b.advance(); head != none; head = b.advance() {
		if m.calls-checked >= checkEvery {
			if checked = m.calls; !m.goOn(ctx) {
				return false
			}
		}
		if !m.settle(head) {
			return false
		}
	}
	return true
}

func (m *model) settle(head int32) bool {
	b := &m.bucket
	winner, regular := m.findWinner(head)
	if !regular {
		return m.inOrder(head)
	}
	last := m.commit
	for client := head; client != none; {
		following := b.next[client]
		e := &b.events[client]
		m.count(e)
		if e.at == winner && e.read >= last {
			m.wins(e)
		} else if m.loses(e) && !b.later(client) {
			return false
		}
		client = following
	}
	return true
}

// findWinner returns the time of the only write in a bucket that succeeds, or math.MaxInt64
// if none does, and reports whether the bucket meets the conditions of byBuckets.
func (m *model) findWinner(head int32) (at int64, regular bool) {
	b := &m.bucket
	at = math.MaxInt64
	var lastRead int64
	tie := false
	for client := head; client != none; client = b.next[client] {
		e := &b.events[client]
		lastRead = max(lastRead, e.read)
		if m.current(e) {
			tie = tie || e.at == at
			at = min(at, e.at)
		}
	}
	return at, !tie && lastRead < b.now<<(b.width%64)
}

func (m *model) inOrder(head int32) bool {
	b := &m.bucket
	var list []int32
	for client := head; client != none; client = b.next[client] {
		list = append(list, client)
	}
	slices.SortFunc(list, func(x, y int32) int {
		if b.events[x].before(&b.events[y]) {
			return -1
		}
		return 1
	})
	for _, client := range list {
		e := &b.events[client]
		m.count(e)
		if m.current(e) {
			m.wins(e)
		} else if m.loses(e) && !b.later(client) {
			return false
		}
	}
	return true
}
