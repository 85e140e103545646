package checks

import (
	"context"
	"database/sql"
	"go/ast"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/gobackoff/retry"
)

// known has methods and fields by which the DefaultClassifier decides.
var known = names(`(HTTP)?StatusCode|HTTPStatusCode|HTTPCode|ErrorCode|SQLState|(Is)?Retryable(Error)?|NonRetr(iable|yable)|SafeToRetry|Timeout|CanceledError`)

// knownErrors has variables with errors about which the DefaultClassifier may decide.
var knownErrors = map[string]error{
	"context.Canceled": context.Canceled, "context.DeadlineExceeded": context.DeadlineExceeded,
	"database/sql.ErrNoRows": sql.ErrNoRows, "database/sql.ErrTxDone": sql.ErrTxDone,
	"io.EOF": io.EOF, "io.ErrUnexpectedEOF": io.ErrUnexpectedEOF, "os/exec.ErrNotFound": exec.ErrNotFound,
	"io/fs.ErrNotExist": fs.ErrNotExist, "io/fs.ErrExist": fs.ErrExist, "io/fs.ErrPermission": fs.ErrPermission,
	"os.ErrNotExist": os.ErrNotExist, "os.ErrExist": os.ErrExist, "os.ErrPermission": os.ErrPermission,
	"os.ErrDeadlineExceeded": os.ErrDeadlineExceeded,
}

// reportOrder reports classifiers in FirstOf that are never asked: what follows one that decides
// about every error, and what looks for errors about which the default one has decided.
func (p *pass) reportOrder(list *call) {
	late := false
	all := p.classifiers(list.Cursor)
	for i, at := range all {
		if late {
			p.reportDecided(at)
		}
		if i < len(all)-1 {
			p.reportDecidesAll(at)
		}
		late = late || p.isDefault(at)
	}
}

// classifiers returns the arguments of a call of FirstOf, or the elements of the list that it gets.
// Those of a FirstOf among them take its place.
func (p *pass) classifiers(list inspector.Cursor) (all []inspector.Cursor) {
	n := list.Node().(*ast.CallExpr)
	var elements []inspector.Cursor
	for i := range n.Args {
		elements = append(elements, list.ChildAt(edge.CallExpr_Args, i))
	}
	if n.Ellipsis.IsValid() && len(n.Args) == 1 {
		value := p.value(elements[0])
		lit, ok := value.Node().(*ast.CompositeLit)
		if !ok {
			return nil
		}
		elements = nil
		for i := range lit.Elts {
			elements = append(elements, value.ChildAt(edge.CompositeLit_Elts, i))
		}
	}
	for _, element := range elements {
		if value := p.value(element); p.callee(value.Node()) == ours+".FirstOf" && value != list {
			all = append(all, p.classifiers(value)...)
		} else {
			all = append(all, element)
		}
	}
	return all
}

// isDefault reports whether a classifier is the default one, or asks it about every error that it
// does not list.
func (p *pass) isDefault(at inspector.Cursor) bool {
	value := p.value(at)
	e, ok := value.Node().(ast.Expr)
	if !ok {
		return false
	}
	switch typeName(p.info.TypeOf(e)) {
	case ours + ".DefaultClassifier":
		return true
	case ours + ".Codes":
		lit, isLit := e.(*ast.CompositeLit)
		return isLit && elementOf(lit, "Else") == nil
	}
	return p.callee(e) == ours+".PermanentIf"
}

// elementOf returns the value of a field in a literal, or nil.
func elementOf(lit *ast.CompositeLit, name string) ast.Expr {
	for _, e := range lit.Elts {
		if field, ok := e.(*ast.KeyValueExpr); ok && types.ExprString(field.Key) == name {
			return field.Value
		}
	}
	return nil
}

// classifying returns the function by which a classifier decides, if it is in the package: that
// of a ClassifierFunc or of OnlyIf, or a method Classify.
func (p *pass) classifying(at inspector.Cursor) inspector.Cursor {
	value := p.value(at)
	e, ok := value.Node().(ast.Expr)
	if !ok {
		return inspector.Cursor{}
	}
	if n, ok := e.(*ast.CallExpr); ok && len(n.Args) == 1 && (p.info.Types[n.Fun].IsType() || p.callee(n) == ours+".OnlyIf") {
		return p.function(value.ChildAt(edge.CallExpr_Args, 0))
	}
	for decl := range p.root.Preorder((*ast.FuncDecl)(nil)) {
		recv := p.signature(decl).Recv()
		n := decl.Node().(*ast.FuncDecl)
		if recv != nil && n.Body != nil && n.Name.Name == "Classify" && typeName(recv.Type()) == typeName(p.info.TypeOf(e)) {
			return decl
		}
	}
	return p.function(at)
}

// reportDecidesAll reports a classifier of the program, other than the last one in FirstOf, each of
// whose returns has a constant class. Dropped reports OnlyIf.
func (p *pass) reportDecidesAll(at inspector.Cursor) {
	fn := p.classifying(at)
	if !fn.Valid() || p.signature(fn).Results().Len() != 1 || typeName(p.signature(fn).Results().At(0).Type()) != ours+".Verdict" {
		return
	}
	returns := 0
	for c := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		if around(c, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != fn {
			continue
		}
		returns++
		results := c.Node().(*ast.ReturnStmt).Results
		if len(results) != 1 || !p.hasClass(results[0]) {
			return
		}
	}
	if returns > 0 {
		p.report(at, "this decides about every error, so what follows it in FirstOf is never asked: return retry.Verdict{} for the errors that it does not know")
	}
}

// hasClass reports whether e is a literal of a Verdict with a class other than ClassUnknown.
func (p *pass) hasClass(e ast.Expr) bool {
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return false
	}
	class := elementOf(lit, "Class")
	if class == nil {
		return false
	}
	value := p.info.Types[class].Value
	return value != nil && value.ExactString() != "0"
}

// reportDecided reports a classifier behind the default one that looks for errors about which the
// default one has decided.
func (p *pass) reportDecided(at inspector.Cursor) {
	fn := p.classifying(at)
	if !fn.Valid() {
		return
	}
	for c := range fn.Preorder((*ast.CallExpr)(nil), (*ast.TypeAssertExpr)(nil), (*ast.CaseClause)(nil)) {
		if name, what := p.decided(c); name != "" {
			p.report(at, "DefaultClassifier decides about %s, so this is not asked about %s: put it first", name, what)
			return
		}
	}
}

// decided names the errors that a part of a classifier asks for, if the DefaultClassifier decides
// about them.
func (p *pass) decided(c inspector.Cursor) (name, what string) {
	var asked []types.Type
	switch n := c.Node().(type) {
	case *ast.CallExpr:
		switch p.callee(n) {
		case "errors.As", "errors.AsType":
			asked = append(asked, p.asked(n))
		case "errors.Is":
			target := n.Args[1]
			known := knownErrors[objectName(p.info.Uses[lastName(target)])]
			if known != nil && (retry.DefaultClassifier{}).Classify(known).Class != retry.ClassUnknown {
				return types.ExprString(target), "it"
			}
		}
	case *ast.TypeAssertExpr:
		if n.Type != nil && p.isError(n.X) {
			asked = append(asked, p.info.TypeOf(n.Type))
		}
	case *ast.CaseClause:
		if _, ok := c.Parent().Parent().Node().(*ast.TypeSwitchStmt); ok {
			for _, e := range n.List {
				asked = append(asked, p.info.TypeOf(e))
			}
		}
	}
	for _, t := range asked {
		if field := decides(t); field != "" {
			return "errors with " + field, types.TypeString(t, types.RelativeTo(p.Pkg))
		}
	}
	return "", ""
}

// decides names the method or field of an error by which the DefaultClassifier decides.
func decides(t types.Type) string {
	if t == nil {
		return ""
	}
	methods := types.NewMethodSet(t)
	for method := range methods.Methods() {
		if known.MatchString(method.Obj().Name()) {
			return method.Obj().Name()
		}
	}
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return ""
	}
	for f := range s.Fields() {
		if known.MatchString(f.Name()) || typeName(f.Type()) == response || isStatus(f) && isOfServer(t, s) {
			return f.Name()
		}
	}
	return ""
}

// isStatus reports whether a field may have the status of a response.
func isStatus(f *types.Var) bool {
	basic, ok := f.Type().Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0 && (f.Name() == "Code" || f.Name() == "Status")
}

// isOfServer reports whether the DefaultClassifier takes the Code or the Status of a type for that
// of a response.
func isOfServer(t types.Type, s *types.Struct) bool {
	named, ok := t.(*types.Named)
	if ok && (named.Obj().Name() == "APIError" || strings.Contains(named.Obj().Name(), "HTTP")) {
		return true
	}
	for f := range s.Fields() {
		if f.Name() == "Message" && f.Type().String() == "string" {
			return true
		}
	}
	return false
}
