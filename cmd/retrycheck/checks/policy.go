package checks

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryconfig"
)

type validator interface{ Validate() error }

// validated has the types whose literals are checked by their own method Validate.
var validated = map[string]reflect.Type{}

func init() {
	for _, value := range []validator{
		//retrycheck:ignore invalid the values stand for their types
		&retry.Policy{}, new(retry.Constant), &retry.Exponential{}, &retry.Linear{}, &retry.Fibonacci{}, &retry.Schedule{},
		&retry.FullJitter{}, &retry.EqualJitter{}, &retry.DecorrelatedJitter{}, &retry.Jittered{}, &retry.Spread{}, &retry.Capped{},
		&retry.WhenThrottled{}, &retry.HintAtLeast{}, &retry.HintOrGiveUp{}, &retry.HintWindow{},
		&retry.SharedBudget{}, &awspreset.TokenBudget{},
	} {
		t := reflect.TypeOf(value).Elem()
		validated[t.PkgPath()+"."+t.Name()] = t
	}
}

// Invalid reports literals that Validate refuses, which Do does not call.
var Invalid = analyzer("invalid", "report policies and backoffs that Validate refuses", func(p *pass) {
	for _, call := range p.calls {
		p.reportEarlyFlag(call)
	}
	for c := range p.root.Preorder((*ast.CompositeLit)(nil), (*ast.CallExpr)(nil)) {
		p.reportWithoutMultiplier(c)
		e := c.Node().(ast.Expr)
		var err error
		_, isLit := e.(*ast.CompositeLit)
		if t, ok := validated[typeName(p.info.TypeOf(e))]; ok && (isLit || p.info.Types[e].Value != nil) {
			value := reflect.New(t)
			p.set(value.Elem(), "", e)
			err = value.Interface().(validator).Validate()
		} else if p.callee(e) == ours+"/retryconfig.Parse" {
			if text := p.info.Types[e.(*ast.CallExpr).Args[0]].Value; text != nil {
				_, err = retryconfig.Parse(constant.StringVal(text))
			}
		}
		if err != nil && !strings.Contains(err.Error(), "unknown name") && !p.completed(c) { // which another package may register
			p.report(c, "%v", err)
		}
	}
})

// completed reports whether c is in one of several values that a variable has.
func (p *pass) completed(c inspector.Cursor) bool {
	for id := range around(c, (*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.BlockStmt)(nil)).Children() {
		if id, ok := id.Node().(*ast.Ident); ok && len(p.vars[p.info.ObjectOf(id)].sets) > 1 {
			return true
		}
	}
	return false
}

// set sets a value to that of an expression, or to something harmless as far as that is not
// constant.
func (p *pass) set(v reflect.Value, name string, e ast.Expr) {
	lit, isLit := e.(*ast.CompositeLit)
	switch tv := p.info.Types[e]; {
	case !v.IsValid(): // a field of a later version
	case v.Type() == reflect.TypeFor[retry.Backoff]() && !tv.IsNil():
		v.Set(reflect.ValueOf(p.rule(e)))
	case tv.Value != nil:
		_, _ = fmt.Sscan(tv.Value.String(), v.Addr().Interface())
	case v.Kind() == reflect.Slice && isLit:
		v.Set(reflect.MakeSlice(v.Type(), len(lit.Elts), len(lit.Elts)))
		for i, element := range lit.Elts {
			p.set(v.Index(i), "", element)
		}
	case v.Kind() == reflect.Struct && isLit:
		for i, element := range lit.Elts {
			if keyed, ok := element.(*ast.KeyValueExpr); ok {
				field := keyed.Key.(*ast.Ident).Name
				p.set(v.FieldByName(field), field, keyed.Value)
			} else {
				p.set(v.Field(i), v.Type().Field(i).Name, element)
			}
		}
	case name == "Base":
		v.SetInt(int64(time.Microsecond)) // less would be a number without its unit
	case name == "Cap" || name == "MaxElapsed":
		v.SetInt(int64(1000 * time.Hour)) // 0 would be none
	}
}

// rule returns the rule of a literal that is valid, or a harmless one: an invalid literal is
// reported by itself.
func (p *pass) rule(e ast.Expr) retry.Backoff {
	t, ok := validated[typeName(p.info.TypeOf(e))]
	if _, isLit := e.(*ast.CompositeLit); !ok || !isLit && p.info.Types[e].Value == nil {
		return retry.NoDelay{}
	}
	value := reflect.New(t)
	p.set(value.Elem(), "", e)
	rule, ok := value.Elem().Interface().(retry.Backoff)
	if !ok || value.Interface().(validator).Validate() != nil {
		return retry.NoDelay{}
	}
	return rule
}

// waits has the functions and types whose durations are waits between calls over a network
// or limits of them, so that nanoseconds make no sense.
var waits = names(ours+`[./].*`, `(`+cenkalti+`|`+avast+`|`+sethvargo+`|`+wait+`|github\.com/hashicorp/go-retryablehttp)\..*`,
	`github\.com/failsafe-go/.*`, `net/http\.(Client|Server)`, `context\.WithTimeout`)

var durations = names(`time\.Duration`, ours+`\.Constant`)

// Unit reports numbers such as Base: 100 that stand for nanoseconds.
var Unit = analyzer("unit", "report durations without a unit", func(p *pass) {
	if waits.MatchString(decoration.ReplaceAllString(p.Pkg.Path(), "") + ".") {
		return // a library may count in nanoseconds
	}
	for c := range p.root.Preorder((*ast.CallExpr)(nil)) {
		p.reportConversion(c)
	}
	for c := range p.root.Preorder((*ast.BasicLit)(nil), (*ast.Ident)(nil)) {
		tv := p.info.Types[c.Node().(ast.Expr)]
		id, ok := c.Node().(*ast.Ident)
		if !durations.MatchString(typeName(tv.Type)) || tv.Value == nil || ok && durations.MatchString(typeName(p.info.ObjectOf(id).Type())) {
			continue // a constant that is a duration has its unit
		}
		if n, exact := constant.Int64Val(constant.ToInt(tv.Value)); exact && 0 < n && n < int64(time.Millisecond) && waits.MatchString(p.receiver(c)) {
			p.report(c, "this is %d nanoseconds: multiply the number by a unit, such as time.Millisecond", n)
		}
	}
})

// Names of numbers whose unit is not the nanosecond, and what reads a number of an unknown unit.
var (
	otherUnit = regexp.MustCompile(`(?i)(sec|secs|seconds?|millis|milliseconds?|mins|minutes?|hours?)$|[a-z0-9_](Ms|MS|_ms)$|^ms$`)
	fromText  = names(`strconv\.(Atoi|ParseInt|ParseUint)`)
)

// reportConversion reports time.Duration(n), if n counts seconds or was read from a text, and
// nothing multiplies it by a unit.
func (p *pass) reportConversion(c inspector.Cursor) {
	conversion := c.Node().(*ast.CallExpr)
	if len(conversion.Args) != 1 || !p.info.Types[conversion.Fun].IsType() || typeName(p.info.TypeOf(conversion)) != "time.Duration" {
		return
	}
	id := lastName(ast.Unparen(conversion.Args[0]))
	if id == nil || p.info.Types[conversion].Value != nil {
		return
	}
	arg := c.ChildAt(edge.CallExpr_Args, 0)
	if !otherUnit.MatchString(id.Name) && !fromText.MatchString(p.latest(arg)) || typeName(p.info.TypeOf(id)) == "time.Duration" {
		return
	}
	places := []inspector.Cursor{c}
	for _, v := range p.vars {
		if slices.Contains(v.values, c) {
			places = append(places, v.uses...)
		}
	}
	if slices.ContainsFunc(places, func(at inspector.Cursor) bool { return waits.MatchString(p.receiver(at)) }) {
		p.report(c, "this takes %s as nanoseconds: multiply the Duration by its unit, such as time.Second", id.Name)
	}
}

// receiver names the function or the type that a value is given to, if it is one.
func (p *pass) receiver(c inspector.Cursor) string {
	parent := c.Parent()
	switch n := parent.Node().(type) {
	case *ast.KeyValueExpr:
		return p.receiver(parent)
	case *ast.ParenExpr, *ast.CallExpr, *ast.CompositeLit:
		if name := p.callee(n); name != "" {
			return name
		}
		if name := typeName(p.info.TypeOf(n.(ast.Expr))); name != "time.Duration" {
			return name
		}
		return p.receiver(parent)
	case *ast.AssignStmt:
		if field, ok := n.Lhs[0].(*ast.SelectorExpr); ok && n.Tok == token.ASSIGN {
			return typeName(p.info.TypeOf(field.X))
		}
	}
	return ""
}

// shared has the types of budgets and limiters, and functions that make one.
var shared = names(ours+`\.SharedBudget`, ours+`/awspreset\.TokenBudget`, ours+`/retrygrpc\.ThrottleBudget`, ours+`/ratelimit\.Limiter`, `golang\.org/x/time/rate\.NewLimiter`,
	ours+`/awspreset\.(AdaptiveLimiter|Preset\.Policy|FromEnv)`)

// keeps has the parts of a client that know its earlier requests.
var keeps = names(ours + `/retryhttp\.(Transport|NewClient|PerHost|PerScope)`)

// sends has what sends a request with a client.
var sends = names(`net/http\.Client\.(Do|Get|Head|Post|PostForm)`, ours+`/retryhttp\.Read`)

// perCall has what has the state of one call.
var perCall = names(ours+`/adapt\.NewSequence`, sethvargo+`\.(New(Exponential|Fibonacci)|WithMax(Retries|Duration))`)

// Budget reports budgets and limiters that each call makes for itself, so that they bound
// nothing, and backoffs of one call that all calls share. What main makes is made once.
var Budget = analyzer("budget", "report budgets and limiters that are made for one call, and backoffs that are not", func(p *pass) {
	p.reportBudgetsOfServer()
	for v, variable := range p.vars {
		if v.Parent() != p.Pkg.Scope() || len(variable.values) != 1 || !variable.values[0].Valid() {
			continue
		}
		if name := p.callee(variable.values[0].Node()); perCall.MatchString(name) {
			p.report(variable.values[0], "%s is shared by all calls, but counts for one: make it in each call", v.Name())
		}
	}
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		value := c.ChildAt(edge.KeyValueExpr_Value, -1)
		sel, ok := value.Node().(*ast.SelectorExpr)
		if ok && p.field(c) == ours+".Rand" && generators.MatchString(typeName(p.info.TypeOf(sel.X))) && !p.isLocal(c) {
			p.report(value, "calls that share the policy share this generator, which is not safe for that: leave Rand nil, or lock it")
		}
	}
	for c := range p.root.Preorder((*ast.KeyValueExpr)(nil)) {
		if name := p.field(c); name == ours+".Limiter" || name == ours+".Budget" {
			p.reportOwnPart(c)
		}
	}
	for c := range p.root.Preorder((*ast.CompositeLit)(nil)) {
		p.reportWaiting(c)
		p.reportStore(c)
	}
	for c := range p.root.Preorder((*ast.CallExpr)(nil)) {
		p.reportOwnBegin(c)
	}
	for c := range p.root.Preorder((*ast.CompositeLit)(nil), (*ast.CallExpr)(nil)) {
		name, what := p.callee(c.Node()), "the result of "
		if lit, ok := c.Node().(*ast.CompositeLit); ok {
			name, what = typeName(p.info.TypeOf(lit)), ""
		}
		fn, ok := block(c).Node().(*ast.FuncDecl)
		isShared := shared.MatchString(name) || p.parsesShared(c)
		p.reportPerRequest(c, name)
		if !isShared && !keeps.MatchString(name) || ok && fn.Recv == nil && fn.Name.Name == "main" {
			continue
		}
		if p.isSentOnce(c) {
			p.reportClient(c, name, what)
		}
		if !isShared {
			continue
		}
		arg := p.destination(c)
		for _, call := range p.loops {
			if call.policy.Valid() && (call.policy == arg || p.returned(arg, call)) {
				p.report(c, "%s is made for each call of %s, so it bounds nothing: make it once and share it", what+shortName(name), shortName(call.name))
			}
		}
	}
})

// reportStore reports a Limiter with a Store and without the Limit that the Store would share.
func (p *pass) reportStore(c inspector.Cursor) {
	if typeName(p.info.TypeOf(c.Node().(ast.Expr))) != ours+"/ratelimit.Limiter" {
		return
	}
	set := map[string]bool{}
	for field := range c.Children() {
		set[p.field(field)] = true
	}
	setLater := slices.ContainsFunc(slices.Collect(p.root.Preorder((*ast.SelectorExpr)(nil))), func(sel inspector.Cursor) bool {
		return objectName(p.info.Uses[sel.Node().(*ast.SelectorExpr).Sel]) == ours+"/ratelimit.Limit" && sel.ParentEdgeKind() == edge.AssignStmt_Lhs
	})
	if set[ours+"/ratelimit.Store"] && !set[ours+"/ratelimit.Limit"] && !setLater {
		p.report(c, "a Store shares the Limit, which this Limiter has not, so nothing is shared: set Limit")
	}
}

// sharedText has texts of policies with a budget or a limiter.
var sharedText = regexp.MustCompile(`(^|[\s,;])(budget=shared|limiter=adaptive)`)

// parsesShared reports whether a call of retryconfig.Parse makes a budget or a limiter.
func (p *pass) parsesShared(c inspector.Cursor) bool {
	if p.callee(c.Node()) != ours+"/retryconfig.Parse" {
		return false
	}
	text := p.info.Types[c.Node().(*ast.CallExpr).Args[0]].Value
	return text != nil && sharedText.MatchString(constant.StringVal(text))
}

// reportPerRequest reports what has to know all requests of a server, and is made in the handler of
// one, and a Hedge that is made for one call, which it cannot compare with others.
func (p *pass) reportPerRequest(c inspector.Cursor, name string) {
	if name == ours+"/retryhedge.Hedge" && !p.names(c, "After") {
		use := p.destination(c)
		if _, hedged := handed[p.callee(use.Parent().Node())]; hedged && use.ParentEdgeKind() == edge.CallExpr_Args {
			p.report(c, "a Hedge is made for one call, so it never learns how long calls take and makes no copies: make it once and share it")
		}
		return
	}
	if !shared.MatchString(name) && name != ours+"/admit.Gate" {
		return
	}
	fn := p.functionAround(c)
	if fn == p.root {
		return
	}
	signature := p.signature(fn)
	for v := range signature.Params().Variables() {
		if typeName(v.Type()) == "net/http.Request" && signature.Results().Len() == 0 {
			p.report(c, "%s is made for each request of the handler, so it bounds nothing: make it once and share it", shortName(name))
		}
	}
}

// reportOwnPart reports a limiter or a budget of a type of the program that is made for a call,
// without anything from outside the function.
func (p *pass) reportOwnPart(c inspector.Cursor) {
	value := p.value(c.ChildAt(edge.KeyValueExpr_Value, -1))
	lit, ok := value.Node().(*ast.CompositeLit)
	fn, isDecl := around(value, (*ast.FuncDecl)(nil)).Node().(*ast.FuncDecl)
	if !ok || !isDecl || fn.Recv == nil && fn.Name.Name == "main" || strings.HasPrefix(typeName(p.info.TypeOf(lit)), ours) {
		return
	}
	for id := range value.Preorder((*ast.Ident)(nil)) {
		if v, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var); ok && !v.IsField() {
			return // may be shared
		}
	}
	at := p.destination(c)
	for _, call := range p.loops {
		if call.policy.Valid() && call.policy == at && fieldsOf(p.info.TypeOf(lit)) > 0 {
			p.report(value, "%s is made for each call of %s, so it bounds nothing: make it once and share it", types.ExprString(lit.Type), shortName(call.name))
		}
	}
}

// generators have types whose methods must not be called at the same time.
var generators = names(`math/rand\.Rand`)

// isLocal reports whether a policy is only used for calls of Do in the same function.
func (p *pass) isLocal(c inspector.Cursor) bool {
	arg := p.destination(c)
	return slices.ContainsFunc(p.loops, func(call *call) bool { return call.policy == arg })
}

// reportWaiting reports a policy for calls that somebody waits for and for work by a fixed
// number of workers at once: it has a time limit instead of a number of attempts, and a budget.
func (p *pass) reportWaiting(c inspector.Cursor) {
	lit := c.Node().(*ast.CompositeLit)
	if typeName(p.info.TypeOf(lit)) != ours+".Policy" {
		return
	}
	set := map[string]ast.Expr{}
	for _, e := range lit.Elts {
		if field, ok := e.(*ast.KeyValueExpr); ok {
			set[field.Key.(*ast.Ident).Name] = field.Value
		}
	}
	budget := set["Budget"]
	if budget == nil || set["MaxElapsed"] == nil || set["MaxAttempts"] != nil || typeName(p.info.TypeOf(budget)) == ours+".NoBudget" {
		return
	}
	p.report(c, "a Budget is for calls that somebody waits for, which need few attempts, and MaxElapsed without MaxAttempts is for a fixed number of workers, who need no Budget: choose one")
}

// isSentOnce reports whether a client sends a single request with c.
func (p *pass) isSentOnce(c inspector.Cursor) bool {
	use := p.destination(c)
	if p.callee(use.Parent().Node()) == newClient {
		use = p.destination(use.Parent())
	}
	return sends.MatchString(p.callee(use.Node())) || sends.MatchString(p.callee(use.Parent().Node()))
}

// reportClient reports a part of a client that is made for one request. A Transport may have
// a budget that is not, and a command may send one request in all.
func (p *pass) reportClient(c inspector.Cursor, name, what string) {
	if name != transport && name != newClient {
		p.report(c, "%s is made for one request, so it bounds nothing: make it once and share it", what+shortName(name))
		return
	}
	shares := slices.ContainsFunc(p.mentions(c), func(id inspector.Cursor) bool {
		return slices.Contains([]string{"PerHost", "Budget"}, id.Node().(*ast.Ident).Name)
	})
	if !shares && p.Pkg.Name() != "main" {
		p.report(c, "a Transport is made for one request, so its budget bounds nothing: make the client once and share it")
	}
}

// What makes a Transport.
const (
	transport = ours + "/retryhttp.Transport"
	newClient = ours + "/retryhttp.NewClient"
)

// returned reports whether c is what a function returns that is called for the policy of a call
// of Do, other than in main.
func (p *pass) returned(c inspector.Cursor, call *call) bool {
	fn, ok := block(c).Node().(*ast.FuncDecl)
	if _, returns := c.Parent().Node().(*ast.ReturnStmt); !returns || !ok {
		return false
	}
	if in, ok := block(call.Cursor).Node().(*ast.FuncDecl); ok && in.Recv == nil && in.Name.Name == "main" {
		return false
	}
	made, ok := call.policy.Node().(*ast.CallExpr)
	return ok && typeutil.Callee(p.info, made) == p.info.Defs[fn.Name]
}

// parts are the edges from a value to what it is a part of, or what a method makes of it.
var parts = map[edge.Kind]bool{edge.CompositeLit_Elts: true, edge.KeyValueExpr_Value: true, edge.UnaryExpr_X: true,
	edge.ParenExpr_X: true, edge.SelectorExpr_X: true, edge.CallExpr_Fun: true}

// destination returns the expression that c ends up in: what it is a part of, or, if that is
// assigned to a variable that is used once, in the same function or loop, that use.
func (p *pass) destination(c inspector.Cursor) inspector.Cursor {
	for parts[c.ParentEdgeKind()] {
		c = c.Parent()
	}
	for v := range p.vars {
		for _, set := range p.vars[v].sets {
			if uses := p.vars[v].uses; valueSet(set) == c && len(uses) == 1 && block(uses[0]) == block(c) {
				return p.destination(uses[0])
			}
		}
	}
	return c
}

// block returns the innermost function or loop around c.
func block(c inspector.Cursor) inspector.Cursor {
	return around(c, (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil), (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil))
}

// What sets no limit of attempts or time, if its argument is 0, and what sets one.
var (
	unlimited = names(`(`+ours+`|math)\.(Unlimited|MaxInt)`, avast+`\.UntilSucceeded`, sethvargo+`\.New(Constant|Exponential|Fibonacci)`, cenkalti+`\.NewConstantBackOff`)
	zero      = names(avast+`\.Attempts`, cenkalti+`\.WithMaxElapsedTime`)
	limits    = names(ours+`\.MaxElapsed`, avast+`\.Context`, cenkalti+`\.With(Context|MaxRetries)`, sethvargo+`\.WithMax(Retries|Duration)`)
)

// Unbounded reports retries that nothing ends: neither the policy nor the context.
var Unbounded = analyzer("unbounded", "report retries without a limit on attempts or time", func(p *pass) {
	for _, call := range p.loops {
		endless, limited := false, false
		for part := range call.Children() {
			if fn := p.function(part); fn.Valid() && fn == call.op {
				continue
			}
			for _, c := range p.mentions(part) {
				id := c.Node().(*ast.Ident)
				more, ends := p.setLater(p.info.Uses[id])
				endless, limited = endless || more, limited || ends
				name := objectName(p.info.Uses[id])
				number, none := zero.MatchString(name), p.isZero(c.Parent().Parent())
				endless = endless || unlimited.MatchString(name) || number && none
				limited = limited || limits.MatchString(name) || number && !none || isContext(p.info.TypeOf(id)) && !p.isBackground(p.value(c).Node())
			}
		}
		if endless && !limited {
			p.report(call.Cursor, "nothing ends these retries while the operation fails: set MaxElapsed, or use a context with a deadline")
		}
		p.reportHanging(call)
	}
})

// waitsForever has functions of net/http that wait for a response without a limit.
var waitsForever = names(`net/http\.(Get|Head|Post|PostForm)`)

// reportHanging reports a call of Do under context.Background() whose attempts have no limit of
// time: neither the policy's nor that of the HTTP client.
func (p *pass) reportHanging(loop *call) {
	if !loop.op.Valid() || !strings.HasPrefix(loop.name, ours) || !loop.policy.Valid() || !p.isBackground(p.value(loop.ChildAt(edge.CallExpr_Args, 0)).Node()) {
		return
	}
	_, policyInSight := p.value(loop.policy).Node().(*ast.CompositeLit)
	if !policyInSight || p.names(loop.policy, "AttemptTimeout") {
		return
	}
	calls := p.reached(loop.op, nil)
	if slices.ContainsFunc(calls, func(c *call) bool { return limitsTime.MatchString(c.name) }) {
		return
	}
	for _, c := range calls {
		if waitsForever.MatchString(c.name) || sends.MatchString(c.name) && p.hasNoTimeout(c) {
			p.report(c.Cursor, "nothing limits an attempt, so one that hangs is never retried: set the policy's AttemptTimeout, which MaxElapsed does not replace")
		}
	}
}

// limitsTime has what gives a context a deadline.
var limitsTime = names(`context\.With(Timeout|Deadline)(Cause)?`)

// hasNoTimeout reports whether a request is sent with a client without a Timeout and with the
// default Transport.
func (p *pass) hasNoTimeout(c *call) bool {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := p.info.Uses[lastName(sel.X)].(*types.Var)
	if !ok {
		return false
	}
	if objectName(v) == "net/http.DefaultClient" {
		return true
	}
	timeoutSet := slices.ContainsFunc(p.vars[v].sets, func(set inspector.Cursor) bool {
		_, isPart := set.Node().(*ast.SelectorExpr)
		return isPart
	})
	values := p.origins(v, 0)
	return len(values) == 1 && !timeoutSet && isEmptyLiteral(values[0])
}

// isEmptyLiteral reports whether c is a literal that sets nothing.
func isEmptyLiteral(c inspector.Cursor) bool {
	lit, ok := c.Node().(*ast.CompositeLit)
	return ok && len(lit.Elts) == 0
}

// setLater reports whether statements set the MaxAttempts of a policy to no bound, and whether they
// set a limit.
func (p *pass) setLater(policy types.Object) (endless, limited bool) {
	if policy == nil || typeName(policy.Type()) != ours+".Policy" {
		return false, false
	}
	for _, set := range p.vars[policy].sets {
		sel, ok := set.Node().(*ast.SelectorExpr)
		if !ok {
			continue
		}
		value := valueSet(set)
		unbound := value.Valid() && unlimited.MatchString(objectName(p.info.Uses[lastName(value.Node().(ast.Expr))]))
		switch sel.Sel.Name {
		case "MaxAttempts":
			endless, limited = endless || unbound, limited || !unbound
		case "MaxElapsed":
			limited = true
		}
	}
	return endless, limited
}

// isZero reports whether c is a call with the argument 0.
func (p *pass) isZero(c inspector.Cursor) bool {
	call, ok := c.Node().(*ast.CallExpr)
	return ok && len(call.Args) == 1 && p.info.Types[call.Args[0]].Value != nil && p.info.Types[call.Args[0]].Value.ExactString() == "0"
}
