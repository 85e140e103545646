package retryhedge

// SetSeen sets the number of calls with a key.
func (h *Hedge) SetSeen(key string, calls int64) {
	l, _ := h.lane(key)
	l.seen = calls
}
