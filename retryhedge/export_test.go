package retryhedge

// SetSeen sets the number of calls with a key.
func (h *Hedge) SetSeen(key string, calls int64) { h.lane(key).seen = calls }
