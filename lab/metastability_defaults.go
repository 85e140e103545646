package lab

// WithDefaults tmp
func (m Metastability) WithDefaults() (Metastability, error) { return m, nil }
