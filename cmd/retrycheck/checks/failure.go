package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

var doers = names(ours + `\.(Do|DoValue)`)

// An origin says where an error may come from: calls of Do, perhaps in functions that return
// their error, variables of the package, and what retrycheck does not know.
type origin struct {
	loops   []*call
	vars    []types.Object
	unknown bool
	helper  string // that returns the error of Do
}

// String names the error in a message.
func (o origin) String() string {
	if o.helper != "" {
		return "the error of Do that " + o.helper + " returns"
	}
	return "the error of Do"
}

// origin returns where the error at c comes from.
func (p *pass) origin(c inspector.Cursor) origin {
	return p.originOf(c, nil)
}

// originOf does so. It does not follow the functions in seen, which it comes from.
func (p *pass) originOf(c inspector.Cursor, seen []inspector.Cursor) (o origin) {
	switch n := c.Node().(type) {
	case *ast.Ident:
		if v, ok := p.info.Uses[n].(*types.Var); ok && v.Kind() == types.PackageVar {
			return origin{vars: []types.Object{v}}
		}
		if value := p.latestValue(c); value.Valid() {
			return p.originOf(value, seen)
		}
	case *ast.SelectorExpr:
		if v, ok := p.info.Uses[n.Sel].(*types.Var); ok && v.Kind() == types.PackageVar {
			return origin{vars: []types.Object{v}}
		}
	case *ast.CallExpr:
		return p.originOfCall(c, n, seen)
	}
	return origin{unknown: true}
}

func (p *pass) originOfCall(c inspector.Cursor, n *ast.CallExpr, seen []inspector.Cursor) (o origin) {
	name := p.callee(n)
	switch {
	case doers.MatchString(name):
		i := slices.IndexFunc(p.loops, func(loop *call) bool { return loop.Cursor == c })
		return origin{loops: p.loops[i : i+1]}
	case plainErrors.MatchString(name):
		for i, arg := range n.Args {
			if p.isError(arg) {
				o = o.and(p.originOf(c.ChildAt(edge.CallExpr_Args, i), seen))
			}
		}
		o.vars = nil // an error that wraps them is equal to none of them
		return o
	}
	fn := p.function(c.ChildAt(edge.CallExpr_Fun, -1))
	if _, isFunc := p.info.TypeOf(n.Fun).(*types.Signature); !isFunc || !fn.Valid() || slices.Contains(seen, fn) {
		return origin{unknown: true}
	}
	o = p.originOfResult(fn, append(seen, fn))
	if id := lastName(ast.Unparen(n.Fun)); id != nil && len(o.loops) > 0 {
		o.helper = id.Name
	}
	return o
}

// originOfResult returns where the errors come from that a function of the package returns.
func (p *pass) originOfResult(fn inspector.Cursor, seen []inspector.Cursor) (o origin) {
	results := p.signature(fn).Results()
	if results.Len() == 0 || !types.Implements(results.At(results.Len()-1).Type(), errorType) {
		return origin{unknown: true}
	}
	for ret := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		if around(ret, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) != fn {
			continue
		}
		last, given := ret.LastChild()
		switch {
		case !given:
			o = o.and(p.originOfNaked(ret, results.At(results.Len()-1), seen))
		case !p.info.Types[last.Node().(ast.Expr)].IsNil():
			o = o.and(p.originOf(last, seen))
		}
	}
	return o
}

// originOfNaked returns where the error comes from that a return without values returns.
func (p *pass) originOfNaked(ret inspector.Cursor, result *types.Var, seen []inspector.Cursor) (o origin) {
	for _, set := range p.vars[result].sets {
		if set.ParentEdgeKind() == edge.Field_Names || set.Node().Pos() > ret.Node().Pos() {
			continue
		}
		if value := givenAt(set); value.Valid() {
			o = o.and(p.originOf(value, seen))
		} else {
			o.unknown = true
		}
	}
	return o
}

func (o origin) and(other origin) origin {
	return origin{
		loops:   slices.Concat(o.loops, other.loops),
		vars:    slices.Concat(o.vars, other.vars),
		unknown: o.unknown || other.unknown,
	}
}

// wrappedIn reports whether an error that a function returns comes from Do if it is of a kind, such
// as a variable or a type, so that it may be wrapped: retrycheck knows all its origins, or an
// operation mentions the kind. A policy that mentions it may make it permanent, and then Do returns it
// as it is.
func (p *pass) wrappedIn(o origin, thing types.Object) bool {
	if len(o.loops) == 0 || thing == nil || slices.Contains(o.vars, thing) {
		return false
	}
	if slices.ContainsFunc(o.loops, func(loop *call) bool { return loop.policy.Valid() && p.isMentioned(loop.policy, thing) }) {
		return false
	}
	return !o.unknown || slices.ContainsFunc(o.loops, func(loop *call) bool { return loop.op.Valid() && p.isMentioned(loop.op, thing) })
}

// isMentioned reports whether c, or a variable in it, mentions an object.
func (p *pass) isMentioned(c inspector.Cursor, thing types.Object) bool {
	return slices.ContainsFunc(p.mentions(c), func(id inspector.Cursor) bool { return p.info.Uses[id.Node().(*ast.Ident)] == thing })
}

// reportEqual reports errors of Do that are compared with a variable of a package, in a
// comparison or in a switch statement.
func (p *pass) reportEqual() {
	for c := range p.root.Preorder((*ast.BinaryExpr)(nil)) {
		n := c.Node().(*ast.BinaryExpr)
		if n.Op == token.EQL || n.Op == token.NEQ {
			p.reportEqualTo(c, c.ChildAt(edge.BinaryExpr_X, -1), n.Y)
			p.reportEqualTo(c, c.ChildAt(edge.BinaryExpr_Y, -1), n.X)
		}
	}
	for c := range p.root.Preorder((*ast.CaseClause)(nil)) {
		s, ok := c.Parent().Parent().Node().(*ast.SwitchStmt)
		if !ok || s.Tag == nil {
			continue
		}
		for i, value := range c.Node().(*ast.CaseClause).List {
			p.reportEqualTo(c.ChildAt(edge.CaseClause_List, i), c.Parent().Parent().ChildAt(edge.SwitchStmt_Tag, -1), value)
		}
	}
}

func (p *pass) reportEqualTo(at, err inspector.Cursor, value ast.Expr) {
	failure, ok := p.info.Uses[lastName(value)].(*types.Var)
	if !ok || failure.Kind() != types.PackageVar || reasons.MatchString(objectName(failure)) || !p.isError(err.Node().(ast.Expr)) {
		return
	}
	o := p.origin(err)
	if p.wrappedIn(o, failure) {
		name := types.ExprString(value)
		p.report(at, "%s wraps %s if it gave up: use errors.Is(%s, %[2]s)", o, name, types.ExprString(err.Node().(ast.Expr)))
	}
}

// reportAsserted reports type assertions of errors of Do.
func (p *pass) reportAsserted() {
	for c := range p.root.Preorder((*ast.TypeAssertExpr)(nil)) {
		asserted := c.ChildAt(edge.TypeAssertExpr_X, -1)
		if !p.isError(asserted.Node().(ast.Expr)) {
			continue
		}
		for _, to := range p.assertedTypes(c) {
			o := p.origin(asserted)
			named, _ := types.Unalias(pointee(to)).(*types.Named)
			switch {
			case typeName(to) == ours+".Error":
				if !p.asks(c) && len(o.loops) > 0 {
					p.report(c, "Do returns a permanent error as it is, so this panics: use errors.As")
				}
			case p.isOfOurError(to):
			case named != nil && p.wrappedIn(o, named.Obj()), named == nil && len(o.loops) > 0 && !o.unknown:
				p.report(c, "%s wraps the last failure if it gave up, and markers wrap it, too: use errors.As", o)
			}
		}
	}
}

// assertedTypes returns the type of an assertion, or those of a type switch, without nil.
func (p *pass) assertedTypes(c inspector.Cursor) (all []types.Type) {
	if to := c.Node().(*ast.TypeAssertExpr).Type; to != nil {
		return []types.Type{p.info.TypeOf(to)}
	}
	s := around(c, (*ast.TypeSwitchStmt)(nil))
	for _, clause := range s.Node().(*ast.TypeSwitchStmt).Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			if !p.info.Types[e].IsNil() {
				all = append(all, p.info.TypeOf(e))
			}
		}
	}
	return all
}

// pointee returns what a pointer points to, or another type itself.
func pointee(t types.Type) types.Type {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		return pointer.Elem()
	}
	return t
}

// isOfOurError reports whether t is an interface that *retry.Error has.
func (p *pass) isOfOurError(t types.Type) bool {
	wanted, ok := t.Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for _, imported := range p.Pkg.Imports() {
		if obj := imported.Scope().Lookup("Error"); imported.Path() == ours && obj != nil {
			return types.Implements(types.NewPointer(obj.Type()), wanted)
		}
	}
	return false
}

// asks reports whether an assertion is in a switch, or has a second result, or whether the
// function has asked for the type or the reason of an error before.
func (p *pass) asks(c inspector.Cursor) bool {
	if isPair(c) || c.Node().(*ast.TypeAssertExpr).Type == nil {
		return true
	}
	fn := outermost(c)
	for other := range fn.Preorder((*ast.TypeAssertExpr)(nil)) {
		if other.Node().Pos() < c.Node().Pos() && (isPair(other) || other.Node().(*ast.TypeAssertExpr).Type == nil) {
			return true
		}
	}
	return slices.ContainsFunc(p.calls, func(other *call) bool {
		return strings.HasPrefix(other.name, "errors.") && fn.Contains(other.Cursor) && other.Pos() < c.Node().Pos()
	})
}

// isPair reports whether both results of an assertion or a call are used.
func isPair(c inspector.Cursor) bool {
	switch n := c.Parent().Node().(type) {
	case *ast.AssignStmt:
		return len(n.Lhs) == 2 && len(n.Rhs) == 1
	case *ast.ValueSpec:
		return len(n.Names) == 2 && len(n.Values) == 1
	}
	return false
}

// unwrapping has functions that look at an error, but not at all that it wraps.
var unwrapping = names(`os\.Is(NotExist|Exist|Permission)`)

// reportUnwrapped reports functions that do not find in an error of Do what they look for.
func (p *pass) reportUnwrapped() {
	for _, c := range p.calls {
		if len(c.Args) == 0 || !p.isError(c.Args[0]) {
			continue
		}
		isNever := c.name == "errors.Is" && objectName(p.info.Uses[lastName(c.Args[1])]) == ours+".ErrPermanent"
		if !isNever && c.name != "errors.Unwrap" && !unwrapping.MatchString(c.name) {
			continue
		}
		o := p.origin(c.ChildAt(edge.CallExpr_Args, 0))
		if len(o.loops) == 0 {
			continue
		}
		switch {
		case isNever && !o.unknown:
			p.report(c.Cursor, "this is never true, because Do returns a permanent error as the operation returned it: ask for that error, or for policy.Classify(err).Class")
		case c.name == "errors.Unwrap" && !o.unknown && o.helper == "":
			p.report(c.Cursor, "this is nil if Do gave up, because its error wraps two: use errors.Is or errors.As")
		case unwrapping.MatchString(c.name) && slices.ContainsFunc(o.loops, p.marks):
			p.report(c.Cursor, "%s does not find an error that retry.Permanent marks: use errors.Is", shortName(c.name))
		}
	}
}

// marks reports whether the operation of a call marks errors.
func (p *pass) marks(loop *call) bool {
	return loop.op.Valid() && slices.ContainsFunc(p.calls, func(c *call) bool {
		return loop.op.Contains(c.Cursor) && pure.MatchString(c.name)
	})
}

// reportNilErr reports uses of the Err of a *retry.Error that panic, or pass for a success, if
// the call ended before its first attempt.
func (p *pass) reportNilErr() {
	for c := range p.root.Preorder((*ast.SelectorExpr)(nil)) {
		n := c.Node().(*ast.SelectorExpr)
		if n.Sel.Name != "Err" || typeName(p.info.TypeOf(n.X)) != ours+".Error" {
			continue
		}
		if _, isField := ast.Unparen(n.X).(*ast.SelectorExpr); isField {
			continue // who set the field may have looked
		}
		name := types.ExprString(n)
		for _, use := range p.usesOfErr(c) {
			what := p.failsIfNil(use)
			if what != "" && !p.knowsOfAttempts(use) && !p.callersKnow(n.X) {
				p.report(use, "%s is nil if the call ended before its first attempt, so this %s: use the error of Do itself, or look at Attempts first", name, what)
			}
		}
	}
}

// usesOfErr returns c, and the later uses of a variable that is set to it.
func (p *pass) usesOfErr(c inspector.Cursor) []inspector.Cursor {
	uses := []inspector.Cursor{c}
	kind, i := c.ParentEdge()
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	if !ok || kind != edge.AssignStmt_Rhs || len(assign.Lhs) != len(assign.Rhs) {
		return uses
	}
	id, ok := assign.Lhs[i].(*ast.Ident)
	if !ok || id.Name == "_" {
		return uses
	}
	for _, use := range p.vars[p.info.ObjectOf(id)].uses {
		if use.Node().Pos() < assign.End() || p.latestValue(use) != c {
			continue
		}
		if compares(use.Parent()) {
			return uses
		}
		uses = append(uses, use)
	}
	return uses
}

// okIfNil has functions whose result for nil is that of a success.
var okIfNil = names(`google\.golang\.org/grpc/status\.(Code|Convert|FromError)`)

// failsIfNil says what happens at a use of an error that is nil, or nothing if it does no harm.
func (p *pass) failsIfNil(use inspector.Cursor) string {
	kind, i := use.ParentEdge()
	switch n := use.Parent().Node().(type) {
	case *ast.SelectorExpr:
		return "panics"
	case *ast.TypeAssertExpr:
		if n.Type != nil && !isPair(use.Parent()) {
			return "panics"
		}
	case *ast.CallExpr:
		if kind == edge.CallExpr_Args && okIfNil.MatchString(p.callee(n)) {
			return "passes for a success"
		}
	case *ast.ReturnStmt:
		fn := around(use, (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		results := p.signature(fn).Results()
		isLast := results.Len() > 0 && i == results.Len()-1 && types.Implements(results.At(i).Type(), errorType)
		if isLast && p.doBefore(use).Valid() {
			return "returns nil, as after a success"
		}
	}
	return ""
}

// doBefore returns the last call of Do before c in its function, if there is one.
func (p *pass) doBefore(c inspector.Cursor) (last inspector.Cursor) {
	fn := outermost(c)
	for _, loop := range p.loops {
		if fn.Contains(loop.Cursor) && !loop.Contains(c) && loop.Pos() < c.Node().Pos() && doers.MatchString(loop.name) {
			last = loop.Cursor
		}
	}
	return last
}

// outermost returns the function around c that is in no other one, or c outside of functions.
func outermost(c inspector.Cursor) inspector.Cursor {
	fn := c
	for e := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		fn = e
	}
	return fn
}

// endings has what a function asks to learn that a context is done.
var endings = names(`context\.(Canceled|DeadlineExceeded|Err|Cause)`)

// knowsOfAttempts reports whether a function looks, between the last Do and a use of its error,
// at something that says whether there was an attempt.
func (p *pass) knowsOfAttempts(use inspector.Cursor) bool {
	since := token.NoPos
	if do := p.doBefore(use); do.Valid() {
		since = do.Node().End()
	}
	for id := range outermost(use).Preorder((*ast.Ident)(nil)) {
		if id.Node().Pos() < since || id.Node().Pos() >= use.Node().Pos() {
			continue
		}
		name := objectName(p.info.Uses[id.Node().(*ast.Ident)])
		sel, isSelector := id.Parent().Node().(*ast.SelectorExpr)
		isPart := isSelector && sel.Sel == id.Node() && typeName(p.info.TypeOf(sel.X)) == ours+".Error" && sel.Sel.Name != "Error"
		if isPart && p.isTested(id.Parent(), use) || reasons.MatchString(name) || name == ours+".ErrPermanent" || endings.MatchString(name) {
			return true
		}
	}
	return false
}

// isTested reports whether a use depends on the value of c: by a comparison, a switch, or
// errors.Is.
func (p *pass) isTested(c, use inspector.Cursor) bool {
	if c.ParentEdgeKind() == edge.CallExpr_Fun { // ReasonLabel()
		c = c.Parent()
	}
	switch n := c.Parent().Node().(type) {
	case *ast.BinaryExpr:
		return n.Op != token.ADD
	case *ast.SwitchStmt:
		return true
	case *ast.TypeAssertExpr:
		return isPair(c.Parent()) || n.Type == nil && around(c, (*ast.TypeSwitchStmt)(nil)).Contains(use)
	case *ast.CallExpr:
		return c.ParentEdgeKind() == edge.CallExpr_Args && strings.HasPrefix(p.callee(n), "errors.")
	}
	return false
}

// callersKnow reports whether an error is a parameter of a function, and the callers of the
// function may have looked at it. A hook has no callers.
func (p *pass) callersKnow(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	v := p.info.ObjectOf(id)
	if !p.isParameter(v) {
		return false
	}
	fn := around(p.vars[v].sets[0], (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	decl, ok := fn.Node().(*ast.FuncDecl)
	if !ok || p.isHook(p.info.Defs[decl.Name]) {
		return false
	}
	called := 0
	for _, c := range p.calls {
		if typeutil.Callee(p.info, c.CallExpr) != p.info.Defs[decl.Name] {
			continue
		}
		called++
		if p.knowsOfAttempts(c.Cursor) || !slices.ContainsFunc(c.Args, p.isFound) {
			return true
		}
	}
	return called == 0 || decl.Name.IsExported()
}

// isFound reports whether an expression is a *retry.Error that its function has found in another
// error.
func (p *pass) isFound(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	if !ok || typeName(p.info.TypeOf(id)) != ours+".Error" {
		return false
	}
	return slices.ContainsFunc(p.vars[p.info.ObjectOf(id)].sets, func(set inspector.Cursor) bool {
		value := givenAt(set)
		if value.Valid() {
			_, asserted := value.Node().(*ast.TypeAssertExpr)
			return asserted || p.callee(value.Node()) == "errors.AsType"
		}
		return p.callee(set.Parent().Parent().Node()) == "errors.As"
	})
}

// isHook reports whether a function is the value of a field OnGiveUp.
func (p *pass) isHook(fn types.Object) bool {
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		if p.field(c) == ours+".OnGiveUp" && p.info.Uses[lastName(c.Node().(*ast.KeyValueExpr).Value)] == fn {
			return true
		}
	}
	return false
}

// reportOnlyGivenUp reports an error of Do that a function asks only for *retry.Error or for the
// reasons of Do, so that a permanent error passes for a success.
func (p *pass) reportOnlyGivenUp() {
	for v, uses := range p.vars {
		if len(uses.sets) != 1 || len(uses.uses) == 0 || !types.Implements(v.Type(), errorType) {
			continue
		}
		value := givenAt(uses.sets[0])
		if !value.Valid() {
			continue
		}
		o := p.origin(value)
		if len(o.loops) == 0 || o.unknown || slices.ContainsFunc(o.loops, func(loop *call) bool { return p.names(loop.policy, "Classifier") }) {
			continue
		}
		first := slices.IndexFunc(uses.uses, p.asksForType)
		if first >= 0 && !slices.ContainsFunc(uses.uses, func(use inspector.Cursor) bool { return !p.asksForGivenUp(use) && !p.isInBranch(use, uses.uses) }) {
			p.report(uses.uses[first].Parent(), "a permanent error of the operation is not matched here, so it passes for a success: ask for %s != nil, too", v.Name())
		}
	}
}

// reportOnlySomeCases reports a switch statement that asks an error of Do for some failures, one of them
// that Do gave up, and leaves the others to the code behind it.
func (p *pass) reportOnlySomeCases(c inspector.Cursor) {
	n := c.Node().(*ast.SwitchStmt)
	if n.Tag != nil {
		return
	}
	var err *types.Var
	gaveUp := false
	for i, s := range n.Body.List {
		clause := s.(*ast.CaseClause)
		if clause.List == nil {
			return // default
		}
		for j, e := range clause.List {
			call, ok := e.(*ast.CallExpr)
			if !ok || p.callee(call) != "errors.Is" && p.callee(call) != "errors.As" {
				return
			}
			at := c.ChildAt(edge.SwitchStmt_Body, -1).ChildAt(edge.BlockStmt_List, i).ChildAt(edge.CaseClause_List, j).ChildAt(edge.CallExpr_Args, 0)
			v := p.owner(call.Args[0])
			if v == nil || err != nil && v != err {
				return
			}
			err = v
			gaveUp = gaveUp || p.asksForGivenUp(at)
		}
	}
	if !gaveUp || len(n.Body.List) < 2 || len(p.vars[err].sets) != 1 || slices.ContainsFunc(p.vars[err].uses, func(use inspector.Cursor) bool { return !c.Contains(use) }) {
		return
	}
	if value := givenAt(p.vars[err].sets[0]); value.Valid() && len(p.origin(value).loops) > 0 {
		p.report(c, "other failures pass for a success behind this switch: add a case %s != nil", err.Name())
	}
}

// isInBranch reports whether a use of an error is in a branch for which one of the uses asks whether
// Do gave up.
func (p *pass) isInBranch(use inspector.Cursor, uses []inspector.Cursor) bool {
	return slices.ContainsFunc(uses, func(asking inspector.Cursor) bool {
		test := around(asking, (*ast.IfStmt)(nil), (*ast.FuncLit)(nil))
		n, ok := test.Node().(*ast.IfStmt)
		return ok && p.asksForGivenUp(asking) && asking.Node().Pos() < n.Body.Pos() && test.ChildAt(edge.IfStmt_Body, -1).Contains(use)
	})
}

// asksForGivenUp reports whether a use of an error only asks whether Do gave up, by its type or
// for a reason.
func (p *pass) asksForGivenUp(use inspector.Cursor) bool {
	n, ok := use.Parent().Node().(*ast.CallExpr)
	isReason := ok && p.callee(n) == "errors.Is" && reasons.MatchString(objectName(p.info.Uses[lastName(n.Args[1])]))
	return isReason || p.asksForType(use)
}

// asksForType reports whether a use of an error asks whether it is a *retry.Error.
func (p *pass) asksForType(use inspector.Cursor) bool {
	n, ok := use.Parent().Node().(*ast.CallExpr)
	if !ok || use.ParentEdgeKind() != edge.CallExpr_Args {
		return false
	}
	name := p.callee(n)
	return (name == "errors.As" || name == "errors.AsType") && typeName(p.asked(n)) == ours+".Error"
}
