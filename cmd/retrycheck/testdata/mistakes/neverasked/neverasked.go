package neverasked

import (
	"errors"

	"github.com/gobackoff/retry"
)

var errBusy = errors.New("busy")

var policy = retry.Policy{Classifier: retry.FirstOf(
	retry.OnlyIf(func(err error) bool { return errors.Is(err, errBusy) }), // mistake
	retry.DefaultClassifier{},
)}
