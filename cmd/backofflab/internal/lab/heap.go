package lab

// The event queue of the contention model.

// heap is a binary heap of events. Changing the first event in place and then calling down
// is twice as fast as a pop and a push, and most events lead to another event of the same
// client.
type heap []event

func (h *heap) push(e event) {
	*h = append(*h, e)
	q := *h
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&q[parent]) {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = e
}

func (h *heap) pop() {
	q := *h
	last := len(q) - 1
	q[0] = q[last]
	*h = q[:last]
	if last > 1 {
		h.down()
	}
}

// down moves a changed first event to its place.
func (h *heap) down() {
	q := *h
	e, i := q[0], 0
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if right := child + 1; right < len(q) && q[right].before(&q[child]) {
			child = right
		}
		if !q[child].before(&e) {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = e
}
