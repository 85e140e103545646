package known

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

const (
	permanentText    = "zip: not a valid zip file"
	unrecognizedText = "unrecognized"
)

// TestTexts: the text of a permanent row names its library, each text has one meaning, and
// none is recognized without the table.
func TestTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range textTables {
		for _, row := range table {
			if row.prefixes == "" {
				assert.NotEqual(t, permanent, row.meaning, "%q names no library", row.texts)
			}
			for prefix := range strings.SplitSeq(row.prefixes, " ") {
				for line := range strings.Lines(row.texts) {
					text := strings.TrimSpace(line)
					if text == "" {
						continue
					}
					if prefix != "" {
						text = prefix + ": " + text
					}
					assert.False(t, seen[text], "%q is in two rows", text)
					seen[text] = true
					checkText(t, row.meaning, strings.ReplaceAll(text, "*", "17"))
				}
			}
		}
	}
	assert.Greater(t, len(seen), 150)
}

func checkText(t *testing.T, m meaning, text string) {
	t.Helper()
	want, wantUnsure := m.class("")
	c, unsure, ok := classOfText(text)
	assert.True(t, ok, text)
	assert.Equal(t, want, c, text)
	assert.Equal(t, wantUnsure, unsure, text)
	c, unsure = errfacts.Classify(errors.New(text), nil)
	assert.False(t, want == c && wantUnsure == unsure, "DefaultClassifier recognizes %q", text)
}

// TestTypes: each type has an import path without a major version, and is in one table.
func TestTypes(t *testing.T) {
	tables := map[string]int{}
	count := func(table int, name string) {
		path, _, ok := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".")
		assert.True(t, ok && path != "", name)
		if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
			assert.Equal(t, name[:slash], withoutVersion(name[:slash]))
		}
		if other, ok := tables[name]; ok {
			assert.Equal(t, other, table, "%s is in two tables", name)
		}
		tables[name] = table
	}
	for i, table := range typeTables {
		for _, row := range table {
			assert.NotContains(t, tables, row.name)
			count(i, row.name)
		}
	}
	for i, table := range fieldTables {
		for _, row := range table {
			count(i, row.name)
		}
	}
	assert.NotEmpty(t, tables)
}

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{
		"net/http":                           "net/http",
		"vendor/golang.org/x/net/http2":      "golang.org/x/net/http2",
		"example.org/a/vendor/gopkg.in/b.v3": "gopkg.in/b",
		"github.com/jackc/pgx/v5/pgconn":     "github.com/jackc/pgx/pgconn",
		"github.com/a/vault":                 "github.com/a/vault",
		"github.com/aws/aws-sdk-go-v2/aws":   "github.com/aws/aws-sdk-go-v2/aws",
	} {
		assert.Equal(t, want, withoutVersion(path))
	}
	assert.Equal(t, "github.com/gobackoff/retry.Error", nameOf(reflect.TypeFor[*retry.Error]()))
	assert.Equal(t, "context.deadlineExceededError", nameOf(reflect.TypeOf(context.DeadlineExceeded)))
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a", "", false},
		{"a*", "a", true}, {"a*", "ab", true}, {"a*", "b", false},
		{"*a", "ba", true}, {"*a", "ab", false},
		{"a*c", "abc", true}, {"a*c", "ac", true}, {"a*c", "abcd", false},
		{"a*b*c", "a-b-c", true}, {"a*b*c", "a-c", false}, {"a*a", "a", false},
	} {
		assert.Equal(t, tt.want, matches(tt.pattern, tt.text), "%q %q", tt.pattern, tt.text)
	}
}

type answer struct {
	Status, Code int
	Word         string
	Done         bool
	inner        struct{ code uint8 }
	error
}

func TestFields(t *testing.T) {
	value := answer{Status: 503, Code: 7, Word: "not_found", Done: true}
	value.inner.code = 4
	for _, tt := range []struct {
		rows []fieldRow
		want errfacts.Class
	}{
		{[]fieldRow{{byStatus, "", "Status", ""}}, errfacts.Transient},
		{[]fieldRow{{byWord, "", "Word", ""}}, errfacts.Permanent},
		{[]fieldRow{{timeout, "", "Code", "6|7"}}, errfacts.TimedOut},
		{[]fieldRow{{timeout, "", "Code", "6|77"}}, errfacts.Unknown},
		{[]fieldRow{{timeout, "", "Code", "6"}, {permanent, "", "Code", ""}}, errfacts.Permanent},
		{[]fieldRow{{throttled, "", "Word", "not_*"}}, errfacts.Throttled},
		{[]fieldRow{{permanent, "", "Done", "true"}}, errfacts.Permanent},
		{[]fieldRow{{permanent, "", "Done", "false"}}, errfacts.Unknown},
		{[]fieldRow{{canceled, "", "inner.code", "4"}}, errfacts.Canceled},
		{[]fieldRow{{permanent, "", "Missing", ""}}, errfacts.Unknown},
		{[]fieldRow{{permanent, "", "", ""}}, errfacts.Permanent},
		{nil, errfacts.Unknown},
	} {
		for _, err := range []error{value, &value} {
			got, unsure := classIn(tt.rows, err)
			assert.Equal(t, tt.want, got, "%+v", tt.rows)
			assert.False(t, unsure)
		}
	}
	got, unsure := classIn([]fieldRow{{unrepeatable, "", "Code", "7"}}, value)
	assert.Equal(t, errfacts.Transient, got)
	assert.True(t, unsure)
}

// TestLikeDefault: what surrounds an error has the same effect as with DefaultClassifier.
func TestLikeDefault(t *testing.T) {
	known, plain := errors.New(permanentText), errors.New(unrecognizedText)
	for name, tt := range map[string]struct {
		err  error
		want retry.Class
	}{
		"known":               {known, retry.ClassPermanent},
		"other":               {plain, retry.ClassTransient},
		"wrapped":             {fmt.Errorf("read: %w", known), retry.ClassPermanent},
		"beside another":      {errors.Join(plain, known), retry.ClassPermanent},
		"beside cancellation": {errors.Join(context.Canceled, known), retry.ClassPermanent},
		"canceled":            {context.Canceled, retry.ClassPermanent},
		"marked":              {retry.Transient(known), retry.ClassTransient},
		"marked inside":       {fmt.Errorf("read: %w", retry.Throttled(known)), retry.ClassThrottled},
		"gave up":             {&retry.Error{Err: plain}, retry.ClassPermanent},
		"timeout":             {context.DeadlineExceeded, retry.ClassTimeout},
	} {
		got := retry.Policy{Classifier: Classifier{}}.Classify(tt.err)
		assert.Equal(t, retry.Verdict{Class: tt.want}, got, name)
	}
}

// TestOwnTexts: texts of an application, and some that sound permanent about states that
// pass, are retried.
func TestOwnTexts(t *testing.T) {
	texts, err := os.ReadFile("testdata/own.txt")
	require.NoError(t, err)
	for text := range strings.Lines(string(texts)) {
		err := errors.New(strings.TrimSpace(text))
		assert.Zero(t, retry.DefaultClassifier{}.Classify(err), err)
		assert.Zero(t, Classifier{}.Classify(err), err)
	}
}

// An endless error wraps itself and contains itself in many ways.
type endless struct{ A, B, C, D, Inner any }

func (*endless) Error() string   { return "endless" }
func (e *endless) Unwrap() error { return e }

// TestEndless: the time for an error does not depend on how often it contains others.
func TestEndless(t *testing.T) {
	e := &endless{}
	e.A, e.B, e.C, e.D, e.Inner = e, e, e, e, &e.Inner
	many := errors.Join(slices.Repeat([]error{e}, 1<<16)...)
	for range 100 {
		assert.Zero(t, Classifier{}.Classify(many))
	}
	assert.Equal(t, retry.Verdict{Class: retry.ClassPermanent}, Classifier{}.Classify(errors.Join(errors.New(permanentText), many)))
	assert.Equal(t, retry.Verdict{Class: retry.ClassTransient, Unrepeatable: true}, Classifier{}.Classify(errors.Join(errors.New("stan: publish ack timeout"), many)))
}
