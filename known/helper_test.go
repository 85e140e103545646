package known

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

// A case is an error and the class that Classifier has for it.
type errorCase struct {
	name  string
	err   error
	class retry.Class
}

// check checks the classes of errors, and that wrapping does not change them.
func check(t *testing.T, cases []errorCase) {
	t.Helper()
	for _, tt := range cases {
		for _, err := range []error{tt.err, fmt.Errorf("outer: %w", tt.err), errors.Join(errors.New("other"), tt.err)} {
			got := Classifier{}.Classify(err)
			assert.Equal(t, retry.Verdict{Class: tt.class}, got, tt.name)
		}
	}
}

// A foreignCase is an error of a type that this module does not import, in place of which
// there is a struct with the same fields.
type foreignCase struct {
	typ   string // as in the tables
	value error
	want  meaning
}

func checkForeign(t *testing.T, cases []foreignCase) {
	t.Helper()
	for _, tt := range cases {
		class, unsure := classIn(rowsNamed(tt.typ), tt.value)
		wantClass, wantUnsure := tt.want.class("")
		assert.Equal(t, wantClass, class, "%s: %+v", tt.typ, tt.value)
		assert.Equal(t, wantUnsure, unsure, "%s: %+v", tt.typ, tt.value)
	}
}
