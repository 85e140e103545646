package generator

import (
	"math/rand"

	"github.com/gobackoff/retry"
)

var source = rand.New(rand.NewSource(1))

var policy = retry.Policy{Rand: source.Float64} // mistake
