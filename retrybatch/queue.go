package retrybatch

// measure refuses the items that are too large for any call, and returns their number.
func (r *run[T]) measure() int {
	if r.MaxSize == 0 {
		return 0
	}
	refused := 0
	r.sizes = make([]int, len(r.items))
	for item := range r.items {
		r.sizes[item] = max(0, r.Size(r.items[item]))
		if r.sizes[item] > r.MaxSize {
			r.fates[item] = Refused
			r.fail(item, ErrTooLarge)
			refused++
		}
	}
	return refused
}

// queue returns the items that may be sent at the beginning.
func (r *run[T]) queue() []int {
	waiting := make([]int, 0, len(r.items))
	last := map[string]int{} // the last item of each key
	if r.Key != nil {
		r.next = make([]int, len(r.items))
	}
	for item := range r.items {
		if r.fates[item] == Refused {
			continue
		}
		if r.Key == nil {
			waiting = append(waiting, item)
			continue
		}
		key := r.Key(r.items[item])
		if before, found := last[key]; found {
			r.next[before] = item
		} else {
			waiting = append(waiting, item)
		}
		last[key] = item
	}
	return waiting
}

// take removes the items of the next call: first those to retry, then those that wait.
func (r *run[T]) take() []int {
	var batch []int
	left := r.MaxSize
	for _, from := range []*[]int{&r.again, &r.waiting} {
		n := 0
		for n < len(*from) && r.fits((*from)[n], len(batch), left) {
			item := (*from)[n]
			batch = append(batch, item)
			if r.sizes != nil {
				left -= r.sizes[item]
			}
			n++
		}
		*from = (*from)[n:]
		if len(*from) > 0 {
			break
		}
	}
	return batch
}

func (r *run[T]) fits(item, taken, left int) bool {
	if r.MaxItems > 0 && taken >= r.MaxItems {
		return false
	}
	return r.sizes == nil || r.sizes[item] <= left
}
