package migrate

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/token"
	"slices"
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
	fset  *token.FileSet
	read  func(string) ([]byte, error)
	all   []edit
	names func(path pkg) string    // in the file that is rendered
	open  map[token.Pos]token.Pos  // the edits that are being resolved
	keeps func(pos, end token.Pos) // hears of the source that is copied
}

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
	content, err := e.read(file.Name())
	if err != nil || len(content) != file.Size() {
		content = make([]byte, file.Size())
	}
	return content, file.Base()
}

// render returns the source between two positions with the edits applied that lie within.
func (e *edits) render(pos, end token.Pos) []byte {
	source, base := e.source(pos)
	var out bytes.Buffer
	keep := func(pos, end token.Pos) {
		e.keeps(pos, end)
		out.Write(source[int(pos)-base : int(end)-base])
	}
	at := pos
	for _, x := range e.sorted() {
		if x.pos < at || x.end > end || e.open[x.pos] == x.end { // outside, or inside the edit before it
			continue
		}
		keep(at, x.pos)
		out.Write(e.resolve(x))
		at = x.end
	}
	keep(at, end)
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
			before := e.open[x.pos]
			e.open[x.pos] = x.end
			out.Write(e.render(part.Pos(), part.End()))
			e.open[x.pos] = before
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
