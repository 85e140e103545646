package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Delay reports waits that are computed wrongly, and limiters and clocks that fail instead of
// waiting.
var Delay = analyzer("delay", "report waits that are always 0, negative or overflow, and limiters that do not wait", func(p *pass) {
	for c := range p.root.Preorder((*ast.CallExpr)(nil), (*ast.BinaryExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.CallExpr:
			p.reportFraction(c)
			p.reportRandomOfZero(c)
			p.reportPower(c)
		case *ast.BinaryExpr:
			if n.Op == token.QUO {
				p.reportQuotient(c)
			}
			if n.Op == token.SHL {
				p.reportShift(c)
			}
		}
	}
	p.reportSigns()
	if !p.importsUs() {
		return
	}
	for c := range p.root.Preorder((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		if p.isRule(c) {
			p.reportNoJitter(c)
		}
		if decl, ok := c.Node().(*ast.FuncDecl); ok && decl.Recv != nil && decl.Body != nil {
			p.reportFailingWait(c)
		}
	}
})

// A span has the bounds of a random number. random is false for a constant.
type span struct {
	low, high float64
	random    bool
}

var randomFloat = names(`math/rand(/v2)?\.(Rand\.)?Float(32|64)`)

// spanOf returns the bounds of an expression of random numbers and constants.
func (p *pass) spanOf(c inspector.Cursor, depth int) (s span, ok bool) {
	if depth == 0 {
		return s, false
	}
	e := c.Node().(ast.Expr)
	if value := p.info.Types[e].Value; value != nil {
		n, _ := constant.Float64Val(constant.ToFloat(value))
		return span{n, n, false}, value.Kind() == constant.Int || value.Kind() == constant.Float
	}
	switch n := e.(type) {
	case *ast.ParenExpr:
		return p.spanOf(c.ChildAt(edge.ParenExpr_X, -1), depth)
	case *ast.Ident:
		if v, isVar := p.info.Uses[n].(*types.Var); isVar && p.isRandomParameter(v) {
			return span{0, 1, true}, true
		}
		if def := p.declared(p.info.Uses[n]); def.Valid() {
			return p.spanOf(def, depth-1)
		}
	case *ast.CallExpr:
		drawn := randomFloat.MatchString(p.callee(n)) || objectName(p.info.Uses[lastName(n.Fun)]) == ours+".Rand"
		return span{0, 1, true}, drawn
	case *ast.BinaryExpr:
		x, okX := p.spanOf(c.ChildAt(edge.BinaryExpr_X, -1), depth-1)
		y, okY := p.spanOf(c.ChildAt(edge.BinaryExpr_Y, -1), depth-1)
		if okX && okY {
			return combine(n.Op, x, y)
		}
	}
	return s, false
}

// combine returns the bounds of x + y, and of other operations.
func combine(op token.Token, x, y span) (s span, ok bool) {
	random := x.random || y.random
	switch op {
	case token.ADD:
		return span{x.low + y.low, x.high + y.high, random}, true
	case token.SUB:
		return span{x.low - y.high, x.high - y.low, random}, true
	case token.MUL:
		all := []float64{x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high}
		return span{slices.Min(all), slices.Max(all), random}, true
	case token.QUO:
		if y.random || y.low == 0 {
			return s, false
		}
		ends := []float64{x.low / y.low, x.high / y.low}
		return span{slices.Min(ends), slices.Max(ends), random}, true
	}
	return s, false
}

// isRandomParameter reports whether a variable is the random number that a rule for delays gets.
func (p *pass) isRandomParameter(v *types.Var) bool {
	fn := p.functionOf(v)
	return fn.Valid() && p.isRule(fn) && p.signature(fn).Params().At(1) == v && len(p.vars[v].sets) == 1
}

// reportFraction reports a conversion of a random number below 1 to a Duration, which drops the
// fraction.
func (p *pass) reportFraction(c inspector.Cursor) {
	n := c.Node().(*ast.CallExpr)
	if len(n.Args) != 1 || !p.info.Types[n.Fun].IsType() || typeName(p.info.TypeOf(n)) != "time.Duration" && !p.isFactor(c) {
		return
	}
	s, ok := p.spanOf(c.ChildAt(edge.CallExpr_Args, 0), 6)
	if ok && s.random && s.low > -1 && s.high <= 1 {
		p.report(c, "this is always 0, because the conversion drops the fraction of a number below 1: convert the product, as in time.Duration(%s * float64(d))", types.ExprString(n.Args[0]))
	}
}

// isFactor reports whether c is an integer that is multiplied by something.
func (p *pass) isFactor(c inspector.Cursor) bool {
	n, ok := c.Parent().Node().(*ast.BinaryExpr)
	t := p.info.TypeOf(c.Node().(ast.Expr))
	return ok && n.Op == token.MUL && t != nil && isInteger(t.Underlying())
}

var percent = regexp.MustCompile(`(?i)(percent(age)?|pct)$`)

// reportQuotient reports a division of integers in a delay that drops what the delay needs: of two
// numbers such as 1/2, and of a percentage by 100.
func (p *pass) reportQuotient(c inspector.Cursor) {
	n := c.Node().(*ast.BinaryExpr)
	x, xKnown := p.integerLiteral(n.X)
	y, yKnown := p.integerLiteral(n.Y)
	fraction := xKnown && yKnown && y != 0 && x%y != 0
	name := lastName(ast.Unparen(n.X))
	t, isBasic := types.Type(nil), false
	if name != nil && p.info.TypeOf(n.X) != nil {
		t, isBasic = p.info.TypeOf(n.X).Underlying(), true
	}
	percentage := yKnown && y == 100 && isBasic && percent.MatchString(name.Name) && isInteger(t)
	if !fraction && !percentage || !p.isFactorOfDelay(c) {
		return
	}
	text := types.ExprString(n)
	if fraction {
		p.report(c, "%s is a division of integers and gives %d: multiply the Duration first, and then divide it", text, x/y)
		return
	}
	p.report(c, "%s is a division of integers and gives 0 below 100: multiply the Duration first, and then divide it", text)
}

// integerLiteral returns the number of a literal such as 2.
func (p *pass) integerLiteral(e ast.Expr) (int64, bool) {
	lit, ok := ast.Unparen(e).(*ast.BasicLit)
	if !ok || lit.Kind != token.INT {
		return 0, false
	}
	return constant.Int64Val(constant.MakeFromLiteral(lit.Value, lit.Kind, 0))
}

func isInteger(t types.Type) bool {
	basic, ok := t.(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// isFactorOfDelay reports whether c, or its conversion to a Duration, is multiplied by a Duration.
func (p *pass) isFactorOfDelay(c inspector.Cursor) bool {
	for {
		switch parent := c.Parent().Node().(type) {
		case *ast.ParenExpr:
		case *ast.CallExpr:
			if !p.info.Types[parent.Fun].IsType() {
				return false
			}
		case *ast.BinaryExpr:
			other := parent.X
			if c.ParentEdgeKind() == edge.BinaryExpr_X {
				other = parent.Y
			}
			return parent.Op == token.MUL && typeName(p.info.TypeOf(parent)) == "time.Duration" && p.isDuration(other)
		default:
			return false
		}
		c = c.Parent()
	}
}

// isDuration reports whether an expression is a Duration, and no mere number that becomes one.
func (p *pass) isDuration(e ast.Expr) bool {
	_, isNumber := p.integerLiteral(e)
	return !isNumber && typeName(p.info.TypeOf(e)) == "time.Duration"
}

// reportNoJitter reports a rule whose name promises jitter and that does not use its random number.
func (p *pass) reportNoJitter(rule inspector.Cursor) {
	u := p.signature(rule).Params().At(1)
	name := p.nameOfRule(rule)
	if !jitter.MatchString(name) || noJitter.MatchString(name) || len(p.vars[u].uses) > 0 || p.isRandom(rule) {
		return
	}
	at := rule.ChildAt(typeEdge(rule), -1)
	p.report(at, "the delays of %s have no jitter, because they do not depend on the random number that Delay gets", name)
}

func typeEdge(fn inspector.Cursor) edge.Kind {
	if _, ok := fn.Node().(*ast.FuncLit); ok {
		return edge.FuncLit_Type
	}
	return edge.FuncDecl_Type
}

var (
	jitter   = regexp.MustCompile(`(?i)jitter`)
	noJitter = regexp.MustCompile(`(?i)(no|without|un|zero|de)_?jitter|jitter_?(less|free)`)
)

// nameOfRule returns the name of the type, the function or the variable that is a rule for delays.
func (p *pass) nameOfRule(rule inspector.Cursor) string {
	if decl, ok := rule.Node().(*ast.FuncDecl); ok {
		if recv := p.signature(rule).Recv(); recv != nil {
			return shortName(typeName(recv.Type()))[strings.LastIndex(shortName(typeName(recv.Type())), ".")+1:]
		}
		return decl.Name.Name
	}
	for e := range rule.Enclosing((*ast.ValueSpec)(nil), (*ast.AssignStmt)(nil), (*ast.FuncDecl)(nil)) {
		switch n := e.Node().(type) {
		case *ast.ValueSpec:
			return n.Names[0].Name
		case *ast.AssignStmt:
			return types.ExprString(n.Lhs[0])
		case *ast.FuncDecl:
			return n.Name.Name
		}
	}
	return ""
}

// reportRandomOfZero reports rand.Intn(1), which is 0, and rand.Intn(i) in a loop that begins with an
// i of 0.
func (p *pass) reportRandomOfZero(c inspector.Cursor) {
	n := c.Node().(*ast.CallExpr)
	if !belowLimit.MatchString(p.callee(n)) || len(n.Args) != 1 {
		return
	}
	conversion, isCall := c.Parent().Node().(*ast.CallExpr)
	limit, known := p.number(n.Args[0])
	if known && limit == 1 && isCall && p.info.Types[conversion.Fun].IsType() && typeName(p.info.TypeOf(conversion)) == "time.Duration" {
		p.report(c, "this is always 0, because the number is below 1: draw it from the Duration, as in rand.N(d)")
		return
	}
	loop := around(c, (*ast.ForStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	counter := p.counterFromZero(loop)
	if counter == nil || p.skipsRounds(counter, loop, c) || !p.isZeroWith(n.Args[0], counter) {
		return
	}
	p.report(c, "%s is 0 in the first round, for which %s panics: add 1", types.ExprString(n.Args[0]), shortName(p.callee(n)))
}

var belowLimit = names(`math/rand(/v2)?\.(Rand\.)?(Intn|IntN|Int31n|Int63n|Int32N|Int64N|UintN|Uint32N|Uint64N|N)`)

// counterFromZero returns the variable i of for i := 0; …; i++.
func (p *pass) counterFromZero(loop inspector.Cursor) types.Object {
	n, ok := loop.Node().(*ast.ForStmt)
	if !ok {
		return nil
	}
	init, ok := n.Init.(*ast.AssignStmt)
	if !ok || len(init.Lhs) != 1 || len(init.Rhs) != 1 {
		return nil
	}
	start, known := p.integerLiteral(init.Rhs[0])
	id, isIdent := init.Lhs[0].(*ast.Ident)
	if !known || start != 0 || !isIdent {
		return nil
	}
	return p.info.ObjectOf(id)
}

// skipsRounds reports whether a loop compares its counter, other than in its condition, or skips
// rounds, so that c may not run in the first round.
func (p *pass) skipsRounds(counter types.Object, loop, c inspector.Cursor) bool {
	cond := loop.Node().(*ast.ForStmt).Cond
	return slices.ContainsFunc(p.vars[counter].uses, func(use inspector.Cursor) bool {
		if !loop.Contains(use) || c.Contains(use) {
			return false
		}
		for test := range use.Enclosing((*ast.BinaryExpr)(nil), (*ast.SwitchStmt)(nil)) {
			if !loop.Contains(test) {
				return false
			}
			if binary, ok := test.Node().(*ast.BinaryExpr); !ok || binary != cond && mirrored[binary.Op] != 0 {
				return true
			}
		}
		return false
	})
}

// isZeroWith reports whether an expression is 0 if a variable is.
func (p *pass) isZeroWith(e ast.Expr, v types.Object) bool {
	switch n := ast.Unparen(e).(type) {
	case *ast.Ident:
		return p.info.Uses[n] == v
	case *ast.CallExpr:
		return len(n.Args) == 1 && p.info.Types[n.Fun].IsType() && p.isZeroWith(n.Args[0], v)
	case *ast.BinaryExpr:
		x, y := p.isZeroWith(n.X, v), p.isZeroWith(n.Y, v)
		return n.Op == token.MUL && (x || y) || n.Op == token.SHL && x
	}
	return false
}

// longCall is how many attempts a policy makes at least if powers of 2 overflow.
const longCall = 30

// overflows reports whether a policy of the package may make so many attempts that a power of 2
// overflows, or none is in sight: a rule has to accept any number.
func (p *pass) overflows() bool {
	seen, long := false, false
	for c := range p.root.Preorder((*ast.CompositeLit)(nil)) {
		lit := c.Node().(*ast.CompositeLit)
		if typeName(p.info.TypeOf(lit)) != ours+".Policy" {
			continue
		}
		seen = true
		long = long || p.isLong(lit)
	}
	return long || !seen
}

// isLong reports whether a policy may make more than longCall attempts.
func (p *pass) isLong(lit *ast.CompositeLit) bool {
	var attempts, elapsed ast.Expr
	for _, element := range lit.Elts {
		field, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		switch lastName(field.Key).Name {
		case "MaxAttempts":
			attempts = field.Value
		case "MaxElapsed":
			elapsed = field.Value
		}
	}
	if attempts != nil {
		n, known := p.number(attempts)
		return !known || n > longCall
	}
	if elapsed == nil {
		return false // three attempts
	}
	d, known := p.duration(elapsed)
	return !known || d > 10*time.Minute
}

// reportShift reports d << n for the number of an attempt, or of a round of an endless loop, that
// nothing bounds.
func (p *pass) reportShift(c inspector.Cursor) {
	n := c.Node().(*ast.BinaryExpr)
	count := c.ChildAt(edge.BinaryExpr_Y, -1)
	if p.info.Types[n.Y].Value != nil {
		return
	}
	base, less := p.withoutOffset(count)
	fn := p.functionAround(c)
	if p.numberOf(base) == ruled && p.isRule(fn) {
		if p.boundsNumber(fn) {
			return
		}
		if less >= 2 {
			p.report(c, "this panics at the first retry, because %s is negative for the attempt with number 1", types.ExprString(ast.Unparen(n.Y)))
		} else if p.overflows() && !p.checksOverflow(fn) {
			p.report(c, overflow)
		}
		return
	}
	loop := around(c, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	if p.waitsForever(loop) && p.isRoundOf(base, loop, inspector.Cursor{}) && !p.checksOverflow(loop) {
		p.report(c, overflow)
	}
	if p.isRoundOfCaller(base) && !p.checksOverflow(fn) {
		p.report(c, overflow)
	}
}

// waitsForever reports whether a loop has no condition, and waits.
func (p *pass) waitsForever(loop inspector.Cursor) bool {
	n, ok := loop.Node().(*ast.ForStmt)
	return ok && n.Cond == nil && p.waitsIn(loop)
}

// isRoundOfCaller reports whether c is a parameter of the function around it to which an endless
// loop of the package passes the number of its rounds.
func (p *pass) isRoundOfCaller(c inspector.Cursor) bool {
	id, ok := c.Node().(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := p.info.Uses[id].(*types.Var)
	if !ok || v.Kind() != types.ParamVar || len(p.vars[v].sets) != 1 || slices.ContainsFunc(p.vars[v].uses, isBounded) || p.isGiven(v) {
		return false
	}
	return slices.ContainsFunc(p.arguments(v), func(arg inspector.Cursor) bool {
		base, _ := p.withoutOffset(arg)
		loop := around(arg, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
		return p.waitsForever(loop) && p.isRoundOf(base, loop, arg.Parent())
	})
}

// isBounded reports whether a use is in a comparison or a switch statement.
func isBounded(use inspector.Cursor) bool {
	for test := range use.Enclosing((*ast.BinaryExpr)(nil), (*ast.SwitchStmt)(nil), (*ast.FuncDecl)(nil)) {
		switch n := test.Node().(type) {
		case *ast.BinaryExpr:
			if mirrored[n.Op] != 0 {
				return true
			}
		case *ast.SwitchStmt:
			return n.Tag != nil && n.Tag.Pos() <= use.Node().Pos() && use.Node().Pos() < n.Tag.End()
		case *ast.FuncDecl:
			return false
		}
	}
	return false
}

// isGiven reports whether a variable is an argument of a function, such as min.
func (p *pass) isGiven(v *types.Var) bool {
	return slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		return use.ParentEdgeKind() == edge.CallExpr_Args && !p.info.Types[use.Parent().Node().(*ast.CallExpr).Fun].IsType()
	})
}

const overflow = "this overflows after some 30 retries, and a negative delay is below every limit: bound the exponent, or use retry.EqualJitter{Base: …, Cap: …}"

// withoutOffset returns n of n - 1, of uint(n) and of a variable that has one of them, and what is
// subtracted from it.
func (p *pass) withoutOffset(c inspector.Cursor) (inspector.Cursor, int64) {
	less := int64(0)
	for range 8 {
		c = p.value(c)
		switch n := c.Node().(type) {
		case *ast.ParenExpr:
			c = c.ChildAt(edge.ParenExpr_X, -1)
			continue
		case *ast.CallExpr:
			if len(n.Args) == 1 && p.info.Types[n.Fun].IsType() {
				c = c.ChildAt(edge.CallExpr_Args, 0)
				continue
			}
		case *ast.BinaryExpr:
			by, known := p.number(n.Y)
			if known && (n.Op == token.SUB || n.Op == token.ADD) {
				if n.Op == token.SUB {
					less += by
				} else {
					less -= by
				}
				c = c.ChildAt(edge.BinaryExpr_X, -1)
				continue
			}
		}
		break
	}
	return c, less
}

// boundsNumber reports whether a rule compares the number of its attempt.
func (p *pass) boundsNumber(rule inspector.Cursor) bool {
	for c := range rule.Preorder((*ast.BinaryExpr)(nil), (*ast.SwitchStmt)(nil)) {
		n, ok := c.Node().(*ast.BinaryExpr)
		if !ok {
			return true
		}
		if mirrored[n.Op] == 0 {
			continue
		}
		for _, kind := range []edge.Kind{edge.BinaryExpr_X, edge.BinaryExpr_Y} {
			if base, _ := p.withoutOffset(c.ChildAt(kind, -1)); p.numberOf(base) == ruled {
				return true
			}
		}
	}
	return false
}

// checksOverflow reports whether a function or a loop asks whether a number is negative or 0, or
// compares it before it is shifted.
func (p *pass) checksOverflow(c inspector.Cursor) bool {
	for test := range c.Preorder((*ast.BinaryExpr)(nil)) {
		n := test.Node().(*ast.BinaryExpr)
		low, y := n.X, n.Op
		limit, known := p.number(n.Y)
		if !known {
			limit, known = p.number(n.X)
			low, y = n.Y, mirrored[n.Op]
		}
		if known && limit <= 1 && (y == token.LSS || y == token.LEQ) && isInteger(p.info.TypeOf(low).Underlying()) {
			return true
		}
		if x, ok := ast.Unparen(n.X).(*ast.BinaryExpr); ok && mirrored[n.Op] != 0 && (x.Op == token.SHR || x.Op == token.QUO) {
			return true
		}
		if y, ok := ast.Unparen(n.Y).(*ast.BinaryExpr); ok && mirrored[n.Op] != 0 && (y.Op == token.SHR || y.Op == token.QUO) {
			return true
		}
	}
	return false
}

// isRoundOf reports whether c is a variable that each round of a loop increments, and that nothing
// compares, sets otherwise, or gives to another function than that of a call.
func (p *pass) isRoundOf(c, loop, call inspector.Cursor) bool {
	id, ok := c.Node().(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := p.info.Uses[id].(*types.Var)
	if !ok || v.Kind() != types.LocalVar {
		return false
	}
	rounds := 0
	for _, set := range p.vars[v].sets {
		if set.ParentEdgeKind() == edge.IncDecStmt_X && loop.Contains(set) {
			rounds++
		} else if loop.Contains(set) && set.Parent().Parent() != loop || set.ParentEdgeKind() == edge.Field_Names {
			return false
		}
	}
	compared := slices.ContainsFunc(p.vars[v].uses, func(use inspector.Cursor) bool {
		return isBounded(use) || use.ParentEdgeKind() == edge.CallExpr_Args && use.Parent() != call && !p.info.Types[use.Parent().Node().(*ast.CallExpr).Fun].IsType()
	})
	return rounds == 1 && !compared
}

// reportPower reports a conversion of a power of the number of an attempt to a Duration, if nothing
// bounds the power before.
func (p *pass) reportPower(c inspector.Cursor) {
	n := c.Node().(*ast.CallExpr)
	if p.callee(n) != "math.Pow" || len(n.Args) != 2 {
		return
	}
	base, known := p.spanOf(c.ChildAt(edge.CallExpr_Args, 0), 1)
	if known && base.low > 1 && p.isUnbounded(c, c.ChildAt(edge.CallExpr_Args, 1)) {
		p.report(c, overflow)
	}
}

// isUnbounded reports whether nothing bounds an exponent of a power at c: the number of an attempt
// in a rule, or of a round of an endless loop.
func (p *pass) isUnbounded(c, exponent inspector.Cursor) bool {
	fn := p.functionAround(c)
	number, _ := p.withoutOffset(exponent)
	if fn.Node() == nil || p.checksOverflow(fn) || p.boundsFloat(fn) {
		return false
	}
	if p.numberOf(number) == ruled && p.isRule(fn) {
		return !p.boundsNumber(fn) && p.overflows()
	}
	loop := around(c, (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil))
	return p.waitsForever(loop) && p.isRoundOf(number, loop, inspector.Cursor{}) || p.isRoundOfCaller(number)
}

// boundsFloat reports whether a function compares floating-point numbers or takes the smaller one.
func (p *pass) boundsFloat(fn inspector.Cursor) bool {
	for c := range fn.Preorder((*ast.BinaryExpr)(nil), (*ast.CallExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.BinaryExpr:
			if mirrored[n.Op] != 0 && isFloat(p.info.TypeOf(n.X)) {
				return true
			}
		case *ast.CallExpr:
			if p.callee(n) == "math.Min" || p.callee(n) == "math.IsInf" || isBuiltin(p.info, n, "min") && isFloat(p.info.TypeOf(n.Args[0])) {
				return true
			}
		}
	}
	return false
}

func isFloat(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsFloat != 0
}
