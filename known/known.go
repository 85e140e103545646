// Package known classifies errors that [retry.DefaultClassifier] does not recognize,
// because only their code, the name of their type or the text of an error variable
// distinguishes them, or because their HTTP status is in an unusual place. Its tables make
// only those programs larger that import it.
//
//	policy := retry.Policy{Classifier: known.Classifier{}}
package known

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
)

// Classifier is [retry.DefaultClassifier] with the tables of this package, which have
// precedence. Markers, wrapped errors and the give-ups of inner calls have the same effect
// with both.
type Classifier struct{}

// Classify implements [retry.Classifier].
func (Classifier) Classify(err error) retry.Verdict {
	c, unrepeatable := errfacts.Classify(err, classOf)
	if c == errfacts.Unknown {
		c = ofResponse(err)
	}
	return retry.Verdict{Class: retry.Class(c), Unrepeatable: unrepeatable}
}

// A meaning is what a row of a table says about errors.
type meaning uint8

const (
	none meaning = iota
	permanent
	transient
	timeout
	throttled
	canceled     // by the caller
	unrepeatable // transient, but the operation may have taken effect
	byStatus     // the value is an HTTP status
	byWord       // the value is a code such as not_found or InvalidParameter
)

// A textRow is about error variables, and others that consist of a text: a prefix that names
// the library, a colon and a space, and one of the texts. Only rows that are not permanent
// may have whole texts, without a prefix.
type textRow struct {
	meaning
	prefixes string // separated by spaces
	texts    string // one, or one a line, in which * stands for any characters
}

// has reports whether the row has this text, without a prefix.
func (r textRow) has(text string) bool {
	for pattern := range strings.SplitSeq(r.texts, "\n") {
		if pattern = strings.TrimSpace(pattern); pattern != "" && matches(pattern, text) {
			return true
		}
	}
	return false
}

// A typeRow is about the errors of a type.
type typeRow struct {
	meaning
	name string // import path without major version, a dot, and the name of the type or, for all others of the package, *
}

// A fieldRow is about the errors of a type whose field has one of the values. The first row
// of a type that applies counts.
type fieldRow struct {
	meaning
	name   string // as in typeRow
	field  string // empty: the error itself, a number or text; a dot precedes a field within a field
	values string // separated by |: numbers, true, texts in which * stands for any characters; empty: all
}

var (
	textTables  = [...][]textRow{brokerTexts, cloudTexts, localTexts, protocolTexts, standardTexts, storeTexts, webTexts}
	typeTables  = [...][]typeRow{brokerTypes, cloudTypes, localTypes, protocolTypes, standardTypes, storeTypes, webTypes}
	fieldTables = [...][]fieldRow{brokerFields, cloudFields, localFields, protocolFields, standardFields, storeFields, webFields}
)

// classOf returns the class of err, ignoring wrapped errors, according to the tables.
func classOf(err error) (c errfacts.Class, unrepeatable bool) {
	if text := errfacts.TextOf(err); text != "" {
		if c, unrepeatable, ok := classOfText(text); ok {
			return c, unrepeatable
		}
	}
	return classIn(rowsOf(reflect.TypeOf(err)), err)
}

// classOfText returns the class of the first row that has text, if there is one.
func classOfText(text string) (c errfacts.Class, unrepeatable, ok bool) {
	prefix, rest, found := strings.Cut(text, ": ")
	for _, table := range textTables {
		for _, row := range table {
			if row.prefixes == "" && row.has(text) || found && hasWord(row.prefixes, prefix) && row.has(rest) {
				c, unrepeatable = row.class(text)
				return c, unrepeatable, true
			}
		}
	}
	return errfacts.Unknown, false, false
}

// hasWord reports whether list, separated by spaces, contains word.
func hasWord(list, word string) bool {
	for item := range strings.SplitSeq(list, " ") {
		if item == word {
			return true
		}
	}
	return false
}

// rowsByType caches the results of rowsOf, by reflect.Type.
var rowsByType sync.Map

// rowsOf returns the rows about the errors of type t.
func rowsOf(t reflect.Type) []fieldRow {
	rows, ok := rowsByType.Load(t)
	if !ok {
		name := nameOf(t)
		found := rowsNamed(name)
		if found == nil {
			found = rowsNamed(name[:strings.LastIndexByte(name, '.')] + ".*")
		}
		rows, _ = rowsByType.LoadOrStore(t, found)
	}
	return rows.([]fieldRow)
}

// rowsNamed returns the rows of all tables with this name.
func rowsNamed(name string) (rows []fieldRow) {
	for _, table := range fieldTables {
		for _, row := range table {
			if row.name == name {
				rows = append(rows, row)
			}
		}
	}
	for _, table := range typeTables {
		for _, row := range table {
			if row.name == name {
				rows = append(rows, fieldRow{meaning: row.meaning})
			}
		}
	}
	return rows
}

// classIn returns the class of err according to the first of rows that applies.
func classIn(rows []fieldRow, err error) (c errfacts.Class, unrepeatable bool) {
	for _, row := range rows {
		if value, ok := row.value(err); ok {
			return row.class(value)
		}
	}
	return errfacts.Unknown, false
}

// nameOf returns the name of a type as in the tables, without type arguments.
func nameOf(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return withoutVersion(t.PkgPath()) + "." + name
}

// withoutVersion removes the major version and a vendor folder from an import path.
func withoutVersion(path string) string {
	if i := strings.LastIndex("/"+path, "/vendor/"); i >= 0 {
		path = path[i+len("vendor/"):]
	}
	var kept []string
	for part := range strings.SplitSeq(path, "/") {
		if name, version, ok := strings.Cut(part, ".v"); ok && isNumber(version) { // of gopkg.in
			part = name
		}
		if !strings.HasPrefix(part, "v") || !isNumber(part[1:]) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "/")
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// value returns the value of the row's field and reports whether the row applies to it.
func (r fieldRow) value(err error) (value string, ok bool) {
	v := errfacts.Field(err, r.field)
	switch {
	case v.Kind() == reflect.String:
		value = v.String()
	case v.CanInt():
		value = strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		value = strconv.FormatUint(v.Uint(), 10)
	case v.Kind() == reflect.Bool:
		value = strconv.FormatBool(v.Bool())
	}
	if r.values == "" {
		return value, v.IsValid()
	}
	for pattern := range strings.SplitSeq(r.values, "|") {
		if matches(pattern, value) {
			return value, true
		}
	}
	return "", false
}

// class returns the class of an error with this value, and whether the operation may have
// taken effect.
func (m meaning) class(value string) (errfacts.Class, bool) {
	switch m {
	case canceled:
		return errfacts.Canceled, false
	case unrepeatable:
		return errfacts.Transient, true
	case byStatus:
		status, _ := strconv.ParseInt(value, 10, 64)
		return errfacts.OfStatus(status), false
	case byWord:
		return errfacts.OfWord(value), false
	}
	return errfacts.Class(m), false // the same numbers
}

// matches reports whether text is pattern, in which * stands for any characters.
func matches(pattern, text string) bool {
	part, rest, found := strings.Cut(pattern, "*")
	text, ok := strings.CutPrefix(text, part)
	for found && ok {
		part, rest, found = strings.Cut(rest, "*")
		if !found {
			return strings.HasSuffix(text, part)
		}
		_, text, ok = strings.Cut(text, part)
	}
	return ok && text == ""
}
