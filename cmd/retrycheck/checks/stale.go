package checks

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// The parts of statements, as far as a simple one has them.
var (
	selects     = regexp.MustCompile(`(?is)^\s*SELECT\s+(.+?)\s+FROM\s+["` + "`" + `]?([\w.]+)["` + "`" + `]?(?:\s+WHERE\s+(.*))?`)
	setsRow     = regexp.MustCompile(`(?is)^\s*UPDATE\s+["` + "`" + `]?([\w.]+)["` + "`" + `]?\s+SET\s+(.+?)(?:\s+WHERE\s+(.*))?$`)
	assignment  = regexp.MustCompile(`^\s*["` + "`" + `]?(\w+)["` + "`" + `]?\s*=\s*(\?|\$(\d+))\s*$`)
	scansRow    = regexp.MustCompile(`\.(Row|Rows)\.Scan$`)
	scansStruct = regexp.MustCompile(`\.(Get|GetContext)$`)
)

// A reading is a statement whose result a variable has.
type reading struct {
	column, table, condition string
}

// reportStale reports values that were read before a transaction and are written in it, so that it
// overwrites what others have written meanwhile.
func (p *pass) reportStale(loop *call) {
	for _, c := range p.calls {
		if !loop.op.Contains(c.Cursor) {
			continue
		}
		update := setsRow.FindStringSubmatch(p.statement(c))
		if update == nil {
			continue
		}
		table, condition := update[1], update[3]
		for column, arg := range p.columnsSet(c, update[2]) {
			v := p.readBefore(loop, arg, column, table, condition)
			if v != nil {
				p.report(arg, "%s was read before the transaction, so this overwrites what others have written since: read it in the function, or let the statement compute %s", v.Name(), column)
			}
		}
	}
}

// columnsSet returns the arguments of a statement by the columns that are set to them.
func (p *pass) columnsSet(c *call, list string) map[string]inspector.Cursor {
	first := slices.IndexFunc(c.Args, func(e ast.Expr) bool {
		t, ok := p.info.TypeOf(e).Underlying().(*types.Basic)
		return ok && t.Info()&types.IsString != 0
	}) + 1
	columns := map[string]inspector.Cursor{}
	n := 0
	for _, part := range splitOutside(list) {
		n += strings.Count(part, "?")
		set := assignment.FindStringSubmatch(part)
		if set == nil {
			continue
		}
		at := n
		if set[3] != "" {
			at, _ = strconv.Atoi(set[3])
		}
		if i := first + at - 1; first > 0 && at > 0 && i < len(c.Args) {
			columns[strings.ToLower(set[1])] = c.ChildAt(edge.CallExpr_Args, i)
		}
	}
	return columns
}

// readBefore returns a variable in an argument that was read from the column of the table before a
// call of retrysql, unless the condition of the statement asks whether it is still the same.
func (p *pass) readBefore(loop *call, arg inspector.Cursor, column, table, condition string) *types.Var {
	for _, id := range p.mentions(arg) {
		v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if !ok || v.IsField() || !outside(v, loop.op) || v.Kind() == types.PackageVar {
			continue
		}
		setInside := slices.ContainsFunc(p.vars[v].sets, loop.op.Contains)
		for _, set := range p.vars[v].sets {
			columns, i := p.scanned(set)
			if setInside || i < 0 || i >= len(columns) || set.Node().Pos() > loop.Pos() {
				continue
			}
			read := columns[i]
			if read.column != column || !strings.EqualFold(read.table, table) || asksAgain(columns, condition) {
				continue
			}
			return v
		}
	}
	return nil
}

// asksAgain reports whether a condition mentions a column that was read, other than those by which
// the row was found.
func asksAgain(columns []reading, condition string) bool {
	return slices.ContainsFunc(columns, func(r reading) bool {
		word := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(r.column) + `\b`)
		return word.MatchString(condition) && !word.MatchString(r.condition)
	})
}

// scanned returns the columns that a statement outside of a transaction reads into variables, of
// which the one whose address is at c is the i-th.
func (p *pass) scanned(c inspector.Cursor) (columns []reading, i int) {
	address := c.Parent()
	kind, i := address.ParentEdge()
	scan, ok := address.Parent().Node().(*ast.CallExpr)
	if _, isAddress := address.Node().(*ast.UnaryExpr); !ok || !isAddress || kind != edge.CallExpr_Args {
		return nil, -1
	}
	name := p.callee(scan)
	from := address.Parent()
	switch {
	case scansRow.MatchString(name):
		from = p.value(address.Parent().ChildAt(edge.CallExpr_Fun, -1).ChildAt(edge.SelectorExpr_X, -1))
	case scansStruct.MatchString(name):
		i = 0
	default:
		return nil, -1
	}
	query, ok := from.Node().(*ast.CallExpr)
	if !ok {
		return nil, -1
	}
	pool, ok := query.Fun.(*ast.SelectorExpr)
	if !ok || transactions.MatchString(typeName(p.info.TypeOf(pool.X))) {
		return nil, -1
	}
	text := p.statement(&call{Cursor: from, CallExpr: query, name: p.callee(query)})
	read := selects.FindStringSubmatch(text)
	if read == nil {
		return nil, -1
	}
	for _, column := range splitOutside(read[1]) {
		column = strings.Trim(column[strings.LastIndex(column, ".")+1:], "\"` \t\n")
		columns = append(columns, reading{strings.ToLower(column), read[2], read[3]})
	}
	return columns, i
}
