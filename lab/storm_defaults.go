package lab

// WithDefaults returns the Storm with what its zero values stand for, or an error
// that names the first field which makes no sense.
func (s Storm) WithDefaults() (Storm, error) { return s.prepared() }
