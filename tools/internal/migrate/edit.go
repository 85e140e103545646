package migrate

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// text is source text in parts: a string, an [ast.Node] that stands for its own source
// with the edits inside it, or a [pkg] that stands for the name of an imported package.
type text []any

// A pkg is the path of a package that the new code imports.
type pkg string

// An edit replaces the source between two positions.
type edit struct {
	pos, end token.Pos
	with     text
}

// edits collects the changes to the files of a package.
type edits struct {
	fset   *token.FileSet
	read   func(string) ([]byte, error)
	all    []edit
	names  func(path pkg) string // in the file that is rendered
	masked []byte                // the source of that file, with mask in place of some names
}

// mask is a byte that no source contains.
const mask = "\x01"

func (e *edits) replace(n ast.Node, with ...any)   { e.replaceRange(n.Pos(), n.End(), with...) }
func (e *edits) insert(pos token.Pos, with ...any) { e.replaceRange(pos, pos, with...) }
func (e *edits) replaceRange(pos, end token.Pos, with ...any) {
	e.all = append(e.all, edit{pos, end, with})
}

// remove deletes a statement with the rest of its last line, and the line with it if the
// statement begins there.
func (e *edits) remove(n ast.Node) {
	source, base := e.source(n.Pos())
	start, end := int(n.Pos())-base, int(n.End())-base
	for end < len(source) && (source[end] == ' ' || source[end] == '\t' || source[end] == ';') {
		end++
	}
	line := bytes.LastIndexByte(source[:start], '\n') + 1
	if len(bytes.TrimSpace(source[line:start])) == 0 && end < len(source) && source[end] == '\n' {
		start, end = line, end+1
	}
	e.replaceRange(token.Pos(base+start), token.Pos(base+end))
}

// source returns the content of the file at pos, and the position of its first byte.
func (e *edits) source(pos token.Pos) ([]byte, int) {
	file := e.fset.File(pos)
	if e.masked != nil {
		return e.masked, file.Base()
	}
	content, err := e.read(file.Name())
	if err != nil || len(content) != file.Size() {
		content = make([]byte, file.Size())
	}
	return content, file.Base()
}

// render returns the source between two positions with the edits applied that lie within.
func (e *edits) render(pos, end token.Pos, within []edit) []byte {
	source, base := e.source(pos)
	var out bytes.Buffer
	at := pos
	for _, x := range within {
		if x.pos < at { // inside the edit before it
			continue
		}
		out.Write(source[int(at)-base : int(x.pos)-base])
		out.Write(e.resolve(x))
		at = x.end
	}
	out.Write(source[int(at)-base : int(end)-base])
	return out.Bytes()
}

// resolve returns the new text of an edit. Its nodes show the edits inside them.
func (e *edits) resolve(x edit) []byte {
	var out bytes.Buffer
	for _, part := range x.with {
		switch part := part.(type) {
		case string:
			out.WriteString(part)
		case pkg:
			out.WriteString(e.names(part))
		case ast.Node:
			within := slices.DeleteFunc(slices.Clone(e.sorted()), func(y edit) bool {
				return y.pos < part.Pos() || y.end > part.End() || y.pos == x.pos && y.end == x.end
			})
			out.Write(e.render(part.Pos(), part.End(), within))
		}
	}
	return out.Bytes()
}

// sorted orders the edits by position, the wider ones first.
func (e *edits) sorted() []edit {
	slices.SortStableFunc(e.all, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(min(1, a.end-a.pos), min(1, b.end-b.pos)), cmp.Compare(b.end, a.end))
	})
	return e.all
}

// in returns the edits of a file that no other edit of the file contains, as text.
func (e *edits) in(file *token.File) []analysis.TextEdit {
	var out []analysis.TextEdit
	all := e.sorted()
	var last token.Pos
	for _, x := range all {
		if e.fset.File(x.pos) != file || x.pos < last {
			continue
		}
		out = append(out, analysis.TextEdit{Pos: x.pos, End: x.end, NewText: e.resolve(x)})
		last = x.end
	}
	return out
}
