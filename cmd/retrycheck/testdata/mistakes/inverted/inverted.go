package inverted

import (
	"database/sql"
	"errors"

	"github.com/gobackoff/retry"
)

var policy = retry.Policy{Classifier: retry.OnlyIf(func(err error) bool { return errors.Is(err, sql.ErrNoRows) })} // not found
