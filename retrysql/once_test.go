package retrysql_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

var testKey = retrysql.Key{In: retrysql.Keys{Claim: "claim", Find: "find", Store: "store"}, ID: "id", Request: []byte("request")}

// rowOf returns the row of a key; a result of "" is NULL.
func rowOf(request, result string) []driver.Value {
	fingerprint := sha256.Sum256([]byte(request))
	if result == "" {
		return []driver.Value{fingerprint[:], nil}
	}
	return []driver.Value{fingerprint[:], []byte(result)}
}

// onceCase is what each question for the key finds, and what becomes of the call.
type onceCase struct {
	name    string
	scripts []script
	claim   error            // of all claims
	found   [][]driver.Value // the last one remains
	wait    bool
	noID    bool
	release bool    // the keys have such a statement
	fn      []error // of the first calls
	result  string
	err     error
	calls   string
}

func TestOnce(t *testing.T) {
	lost := []script{{commit: io.ErrUnexpectedEOF}}
	claimed, done := rowOf("request", ""), rowOf("request", "done")
	void := []driver.Value{make([]byte, sha256.Size), nil}
	for _, test := range []onceCase{
		{name: "first", found: [][]driver.Value{claimed}, result: "new", calls: "begin fn store:new commit"},
		{name: "again", found: [][]driver.Value{done}, result: "done", calls: "begin commit"},
		{name: "other request", found: [][]driver.Value{rowOf("other", "done")}, err: retrysql.ErrOtherRequest, calls: "begin rollback"},
		{name: "no row: in progress", found: [][]driver.Value{nil}, err: retrysql.ErrInProgress, calls: "begin rollback"},
		{name: "locked: in progress", claim: mysqlError(1205, "HY000"), err: retrysql.ErrInProgress, calls: "begin rollback"},
		{name: "wait", found: [][]driver.Value{nil, done}, wait: true, result: "done", calls: "begin rollback begin commit"},
		{
			name: "its own lost transaction is in progress", found: [][]driver.Value{claimed, nil, claimed}, fn: []error{io.ErrUnexpectedEOF},
			result: "new", calls: "begin fn rollback begin rollback begin fn store:new commit",
		},
		{name: "fn fails", found: [][]driver.Value{claimed}, fn: []error{errUnique}, err: errUnique, calls: "begin fn rollback"},
		{name: "claim fails", claim: errUnique, err: errUnique, calls: "begin rollback"},
		{name: "COMMIT took effect", scripts: lost, found: [][]driver.Value{claimed, done}, result: "done", calls: "begin fn store:new commit begin rollback"},
		{
			name: "COMMIT did not take effect", scripts: lost, found: [][]driver.Value{claimed}, result: "new",
			calls: "begin fn store:new commit begin rollback begin fn store:new commit",
		},
		{
			name: "COMMIT takes effect later", scripts: lost, found: [][]driver.Value{claimed, nil, nil, done}, result: "done",
			calls: "begin fn store:new commit begin rollback begin rollback begin rollback",
		},
		{name: "no id", noID: true, found: [][]driver.Value{claimed}, result: "new", calls: "begin fn commit"},
		{name: "no id, COMMIT took effect", noID: true, scripts: lost, found: [][]driver.Value{claimed}, result: "new", calls: "begin fn commit begin rollback"},
		{
			name: "no id, COMMIT did not take effect", noID: true, scripts: lost, found: [][]driver.Value{claimed, void, claimed}, result: "new",
			calls: "begin fn commit begin commit begin fn commit",
		},
		{
			name: "no id, COMMIT takes effect later", noID: true, scripts: lost, found: [][]driver.Value{claimed, nil, claimed}, result: "new",
			calls: "begin fn commit begin rollback begin rollback",
		},
		{
			name: "no id, lost before COMMIT", noID: true, found: [][]driver.Value{claimed}, fn: []error{io.ErrUnexpectedEOF}, result: "new",
			calls: "begin fn rollback begin fn commit",
		},
		{name: "release", release: true, found: [][]driver.Value{claimed}, result: "new", calls: "begin fn store:new release commit"},
		{name: "release of the question", release: true, scripts: lost, found: [][]driver.Value{claimed, done}, result: "done", calls: "begin fn store:new release commit begin release rollback"},
		{name: "release after failures", release: true, found: [][]driver.Value{claimed}, fn: []error{errUnique}, err: errUnique, calls: "begin fn release rollback"},
		{name: "release after a claim", release: true, claim: mysqlError(3572, "HY000"), err: retrysql.ErrInProgress, calls: "begin release rollback"},
	} {
		t.Run(test.name, func(t *testing.T) { synctest.Test(t, test.run) })
	}
}

func (test onceCase) run(t *testing.T) {
	f := &fake{scripts: test.scripts}
	f.answer = func(query string, args []driver.NamedValue) (row []driver.Value, err error) {
		switch query {
		case "claim":
			assert.Equal(t, !test.noID, string(args[0].Value.([]byte)) == "id")
			return nil, test.claim
		case "find":
			row = test.found[0]
			if len(test.found) > 1 {
				test.found = test.found[1:]
			}
		case "release":
			f.log("release")
		case "store":
			f.log("store:" + string(args[0].Value.([]byte)))
		}
		return row, nil
	}
	key := testKey
	key.Wait = test.wait
	if test.noID {
		key.ID, key.NoID = "", true
	}
	if test.release {
		key.In.Release = "release"
	}
	result, err := retrysql.Once(t.Context(), atOnce, f.open(t), nil, key, func(context.Context, *sql.Tx) ([]byte, error) {
		f.log("fn")
		if len(test.fn) == 0 {
			return []byte("new"), nil
		}
		err := test.fn[0]
		test.fn = test.fn[1:]
		return nil, err
	})
	assert.ErrorIs(t, err, test.err)
	if test.err == retrysql.ErrInProgress {
		assert.Equal(t, retry.Verdict{Class: retry.ClassTransient}, retry.Policy{}.Classify(err), "a job is tried again")
	}
	assert.Equal(t, test.result, string(result))
	assert.Equal(t, test.calls, f.takeCalls())
}

// TestOnceEmpty: an empty result is an empty slice in repeated calls, too, although modernc's driver
// reads an empty blob as nil.
func TestOnceEmpty(t *testing.T) {
	f := new(fake)
	f.answer = func(query string, _ []driver.NamedValue) (row []driver.Value, err error) {
		if query == "find" {
			row = []driver.Value{rowOf("request", "")[0], []byte(nil)}
		}
		return row, nil
	}
	result, err := retrysql.Once(t.Context(), atOnce, f.open(t), nil, testKey, func(context.Context, *sql.Tx) ([]byte, error) {
		t.Error("called")
		return nil, nil
	})
	require.NoError(t, err)
	assert.Equal(t, []byte{}, result)
}

// TestOnceUnknown: if the key's row cannot be read after a lost COMMIT, the outcome is unknown.
func TestOnceUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{commit: io.ErrUnexpectedEOF}}}
		found := rowOf("request", "")
		f.answer = func(query string, _ []driver.NamedValue) (row []driver.Value, err error) {
			if query == "find" {
				row, found = found, nil
			}
			return row, nil
		}
		_, err := retrysql.Once(t.Context(), atOnce, f.open(t), nil, testKey, func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil })
		assert.ErrorIs(t, err, retry.ErrUnrepeatable)
		assert.ErrorContains(t, err, "in progress")
	})
}

// TestOnceBounds: keys and results of unusable sizes are refused.
func TestOnceBounds(t *testing.T) {
	f := new(fake)
	f.answer = func(query string, _ []driver.NamedValue) (row []driver.Value, err error) {
		if query == "find" {
			row = rowOf("request", "")
		}
		return row, nil
	}
	db := f.open(t)
	size := 0
	call := func(key retrysql.Key) ([]byte, error) {
		return retrysql.Once(t.Context(), atOnce, db, nil, key, func(context.Context, *sql.Tx) ([]byte, error) { return make([]byte, size), nil })
	}
	both, empty, long, unset, longest := testKey, testKey, testKey, testKey, testKey
	both.NoID = true
	empty.ID, long.ID, unset.In.Find, longest.ID = "", strings.Repeat("x", 256), "", strings.Repeat("x", 255)
	for _, key := range []retrysql.Key{{}, both, empty, long, unset} {
		_, err := call(key)
		assert.ErrorIs(t, err, retry.ErrInvalid)
	}
	_, err := retrysql.Once(t.Context(), atOnce, nil, nil, testKey, func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil })
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.Empty(t, f.takeCalls())
	for _, size = range []int{0, retrysql.MaxResult} {
		result, err := call(longest)
		require.NoError(t, err)
		assert.NotNil(t, result)
		assert.Len(t, result, size)
	}
	size++
	_, err = call(longest)
	assert.ErrorContains(t, err, "1048577 bytes, more than MaxResult")
	assert.Equal(t, "begin commit begin commit begin rollback", f.takeCalls())
}
