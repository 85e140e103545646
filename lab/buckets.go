package lab

import (
	"context"
	"math/bits"
	"slices"
	"time"
)

// buckets is a queue of events by the time at which they are due, in buckets of
// 2^width ns that are not ordered inside. Those of the near future are in a ring,
// all others in a heap. Events are stored in chunks of a common pool, so that the
// memory is that of the events, whatever crowd a bucket once held.
type buckets struct {
	width  int
	now    int64 // number of the bucket that is being emptied
	near   [ringSize]int32
	filled [ringSize / 64]uint64 // a bit for each bucket of the ring
	chunks []chunk
	free   int32 // first chunk without use
	far    heap
	empty  bool
}

const (
	ringSize  = 4096
	chunkSize = 15
	none      = -1 // no chunk
)

// chunk is a part of a bucket.
type chunk struct {
	next int32
	n    int32
	list [chunkSize]event
	_    [24]byte // 512 bytes in all, so that a chunk is found by a shift
}

// reset empties the queue. One that has come to its end is empty, and to clear it
// again would take longer than a trial of ten clients.
func (b *buckets) reset(width, clients int) {
	b.width, b.now = width, 0
	// Chunks must not move while one is in use. All are full but for one of
	// each bucket.
	most := clients/chunkSize + ringSize + 1
	if b.empty && cap(b.chunks) >= most {
		return
	}
	b.free, b.chunks, b.far = none, slices.Grow(b.chunks[:0], most), b.far[:0]
	clear(b.filled[:])
	for i := range b.near {
		b.near[i] = none
	}
}

// push adds an event that is due in a bucket after the present one, or in the
// first.
func (b *buckets) push(e *event) {
	number := e.at >> b.width
	if number-b.now >= ringSize {
		b.far.push(*e)
		return
	}
	slot := uint(number) % ringSize
	head := b.near[slot]
	if head == none || b.chunks[head].n == chunkSize {
		head = b.grow(slot, head)
	}
	c := &b.chunks[head]
	// Field by field, because a copy of the whole waits for the stores of its parts.
	c.list[c.n] = *e
	c.n++
}

// grow puts an empty chunk in front of a bucket.
func (b *buckets) grow(slot uint, head int32) int32 {
	added := b.free
	if added == none {
		added = int32(len(b.chunks))
		b.chunks = append(b.chunks, chunk{})
	} else {
		b.free = b.chunks[added].next
	}
	c := &b.chunks[added]
	c.next, c.n = head, 0
	b.near[slot] = added
	b.filled[slot/64] |= 1 << (slot % 64)
	return added
}

// next goes on to the next bucket that has events, and hands over its chunks:
// none if there are no events any more.
func (b *buckets) next() int32 {
	slot, ok := b.nextFilled()
	switch {
	case ok:
		b.now += int64((slot - uint(b.now)) % ringSize)
	case len(b.far) > 0:
		b.now = b.far[0].at >> b.width
	default:
		b.empty = true
		return none
	}
	for len(b.far) > 0 && b.far[0].at>>b.width-b.now < ringSize {
		b.push(&b.far[0])
		b.far.pop()
	}
	slot = uint(b.now) % ringSize
	head := b.near[slot]
	b.near[slot] = none
	b.filled[slot/64] &^= 1 << (slot % 64)
	return head
}

// nextFilled returns the first slot in use, from the present bucket on.
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

// release gives a chunk back and returns the one after it.
func (b *buckets) release(c int32) int32 {
	next := b.chunks[c].next
	b.chunks[c].next = b.free
	b.free = c
	return next
}

// byBuckets runs the trial bucket by bucket, with the same result as byHeap. It
// needs no order inside of a bucket: where all reads are earlier than the
// bucket's beginning, one write at most can succeed in it, the first of those
// whose read is not before the last commit. After it all others fail.
//
// It reports false if ctx has ended, and if an event happened too soon after the one
// before it to be dealt with in this way.
func (m *model) byBuckets(ctx context.Context, clients int, spread time.Duration) bool {
	b := &m.bucket
	b.reset(m.width, clients)
	b.empty = false
	for i := range clients {
		e := m.first(uint32(i), spread)
		b.push(&e)
	}
	var checked int64
	for head := b.next(); head != none; head = b.next() {
		if m.calls-checked >= checkEvery {
			if checked = m.calls; ctx.Err() != nil {
				return false
			}
		}
		if c := &b.chunks[head]; c.n == 1 && c.next == none {
			if !m.alone(&c.list[0]) {
				return false
			}
			b.release(head)
			continue
		}
		winner, regular := m.findWinner(head)
		if !regular {
			if !m.inOrder(head) {
				return false
			}
			continue
		}
		if !m.settle(head, winner) {
			return false
		}
	}
	return true
}

// findWinner returns when the one event of a bucket happens that succeeds, or
// endOfTime if none does, and whether the bucket is as byBuckets wants it.
func (m *model) findWinner(head int32) (at int64, regular bool) {
	b := &m.bucket
	at = endOfTime
	var lastRead int64
	tie := false
	for c := head; c != none; c = b.chunks[c].next {
		chunk := &b.chunks[c]
		for i := range chunk.list[:chunk.n] {
			// Without branches, because no processor can predict them.
			e := &chunk.list[i]
			lastRead = max(lastRead, e.read)
			candidate := e.at
			if e.read < m.commit {
				candidate = endOfTime
			}
			tie = tie || candidate == at && at != endOfTime
			at = min(at, candidate)
		}
	}
	return at, !tie && lastRead < b.now<<b.width
}

// settle deals with a bucket of which only the event of that time succeeds.
func (m *model) settle(head int32, winner int64) bool {
	b := &m.bucket
	last := m.commit
	for c := head; c != none; c = b.release(c) {
		chunk := &b.chunks[c]
		for i := range chunk.list[:chunk.n] {
			e := &chunk.list[i]
			m.count(e)
			if e.at == winner && e.read >= last {
				m.wins(e)
			} else if m.loses(e) && !b.later(e) {
				return false
			}
		}
	}
	return true
}

// alone deals with an event before which there is none in its bucket.
func (m *model) alone(e *event) bool {
	m.count(e)
	if e.read >= m.commit {
		m.wins(e)
		return true
	}
	return !m.loses(e) || m.bucket.later(e)
}

// later puts off an event, and reports false if it cannot because it happens in
// the present bucket.
func (b *buckets) later(e *event) bool {
	if e.at>>b.width == b.now {
		return false
	}
	b.push(e)
	return true
}

// inOrder deals with a bucket in which a client's read may be, too.
func (m *model) inOrder(head int32) bool {
	b := &m.bucket
	var list []event
	for c := head; c != none; c = b.release(c) {
		list = append(list, b.chunks[c].list[:b.chunks[c].n]...)
	}
	slices.SortFunc(list, func(x, y event) int {
		if x.before(&y) {
			return -1
		}
		return 1
	})
	for i := range list {
		if !m.alone(&list[i]) {
			return false
		}
	}
	return true
}
