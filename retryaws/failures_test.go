package retryaws

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

type uncomparable []string

func (uncomparable) Error() string { return "uncomparable" }

func TestFailures(t *testing.T) {
	one, other := errors.New("one"), errors.New("other")
	var f failures
	assert.True(t, f.add(failure{err: one, paid: retry.Attempt{Number: 3}}))
	assert.False(t, f.add(failure{err: one}), "the second token")
	assert.True(t, f.add(failure{err: other}))
	_, ok := f.take(errors.New("one"))
	assert.False(t, ok, "another error with the same text")
	found, ok := f.take(fmt.Errorf("clock: %w", one))
	assert.True(t, ok)
	assert.Equal(t, 3, found.paid.Number)
	_, ok = f.take(one)
	assert.False(t, ok, "taken before")
	_, ok = f.take(other)
	assert.True(t, ok)
	assert.Empty(t, f.list)
}

func TestFailuresUncomparable(t *testing.T) {
	var f failures
	for _, err := range []error{uncomparable{"a"}, struct{ error }{uncomparable{"a"}}} {
		assert.True(t, f.add(failure{err: err}))
		_, ok := f.take(err)
		assert.False(t, ok)
	}
	assert.Empty(t, f.list)
}

func TestFailuresBounded(t *testing.T) {
	var f failures
	for range 10 * maxFailures {
		f.add(failure{err: errors.New("last")})
	}
	assert.Len(t, f.list, maxFailures)
	newest := errors.New("newest")
	f.add(failure{err: newest})
	_, ok := f.take(newest)
	assert.True(t, ok)
}

func TestFailuresConcurrent(t *testing.T) {
	var f failures
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for range 100 {
				err := errors.New("failed")
				assert.True(t, f.add(failure{err: err}))
				_, ok := f.take(err)
				assert.True(t, ok)
			}
		})
	}
	group.Wait()
	assert.Empty(t, f.list)
}
