package checks

import (
	"go/ast"
	"go/constant"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// reportInsisting reports Transient around the error of a function that says that the operation may
// have taken effect.
func (p *pass) reportInsisting() {
	for _, c := range p.calls {
		if c.name != ours+".Transient" || len(c.Args) != 1 {
			continue
		}
		from := p.wrapped(c.ChildAt(edge.CallExpr_Args, 0))
		if from.Valid() && (p.isOfEveryFailure(c.Cursor) && p.saysUnrepeatable(from) || p.isOfLostCommit(c.Cursor, from)) {
			p.report(c.Cursor, "retry.Transient overrides retry.Unrepeatable in the error of %s, so what may have taken effect is repeated: return the error as it is", called(from.Node().(ast.Expr)))
		}
	}
}

// wrapped returns the call that made an error: it is followed through variables and fmt.Errorf.
func (p *pass) wrapped(c inspector.Cursor) (call inspector.Cursor) {
	switch n := c.Node().(type) {
	case *ast.CallExpr:
		if p.callee(n) != "fmt.Errorf" || p.formats(c) {
			return c
		}
		for i, arg := range n.Args {
			if p.isError(arg) {
				return p.wrapped(c.ChildAt(edge.CallExpr_Args, i))
			}
		}
	case *ast.Ident:
		if value := p.latestValue(c); value.Valid() {
			return p.wrapped(value)
		}
	}
	return call
}

// saysUnrepeatable reports whether c calls a function of the package that marks an error with
// Unrepeatable.
func (p *pass) saysUnrepeatable(c inspector.Cursor) bool {
	fn := p.function(c.ChildAt(edge.CallExpr_Fun, -1))
	if !fn.Valid() {
		return false
	}
	for ret := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		last, given := ret.LastChild()
		if given && p.functionAround(ret) == fn && p.callee(last.Node()) == ours+".Unrepeatable" {
			return true
		}
	}
	return false
}

// reportUnsafely reports an UpdateItem that adds something, in a package whose clients repeat
// requests that may have taken effect.
func (p *pass) reportUnsafely() {
	policies := 0
	for _, c := range p.calls {
		switch c.name {
		case ours + "/retryaws.Safely":
			if !p.namesUpdate(c) {
				return
			}
			policies++
		case ours + "/retryaws.WithPolicy":
			if len(c.Args) > 1 && p.callee(c.Args[1]) != ours+"/retryaws.Safely" {
				return // options from elsewhere
			}
			policies++
		}
	}
	if policies == 0 {
		return
	}
	for c := range p.root.Preorder((*ast.CompositeLit)(nil)) {
		if typeName(p.info.TypeOf(c.Node().(ast.Expr))) == "github.com/aws/aws-sdk-go-v2/service/dynamodb.UpdateItemInput" {
			p.reportUpdate(c)
		}
	}
}

// namesUpdate reports whether a call of Safely names UpdateItem as an operation that may be
// repeated.
func (p *pass) namesUpdate(c *call) bool {
	return slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
		name := p.info.Types[arg].Value
		return name != nil && name.Kind() == constant.String && constant.StringVal(name) == "UpdateItem"
	})
}

// Parts of an UpdateExpression that add something to what is there.
var (
	sum        = regexp.MustCompile(`=\s*(if_not_exists\s*\([^)]*\)|[#\w.\[\]]+)\s*[-+]\s*[:#\w]`)
	listAppend = regexp.MustCompile(`\blist_append\s*\(`)
	added      = regexp.MustCompile(`(?i)\bADD\s+[#\w.\[\]]+\s+(:\w+)`)
)

func (p *pass) reportUpdate(lit inspector.Cursor) {
	expression := part(lit, "UpdateExpression")
	if !expression.Valid() || part(lit, "ConditionExpression").Valid() {
		return
	}
	for c := range expression.Preorder((*ast.BasicLit)(nil), (*ast.Ident)(nil)) {
		value := p.info.Types[c.Node().(ast.Expr)].Value
		if value == nil || value.Kind() != constant.String {
			continue
		}
		text := constant.StringVal(value)
		number := added.FindStringSubmatch(text)
		if sum.MatchString(text) || listAppend.MatchString(text) || number != nil && p.isNumber(part(lit, "ExpressionAttributeValues"), number[1]) {
			p.report(c, "WithPolicy repeats an UpdateItem whose response is lost, and this one then adds twice: use retryaws.Safely without UpdateItem, or a ConditionExpression")
		}
	}
}

// isNumber reports whether a literal of attribute values has a number for a key. ADD does
// nothing the second time if the value is a set.
func (p *pass) isNumber(values inspector.Cursor, key string) bool {
	if !values.Valid() {
		return false
	}
	for c := range p.value(values).Preorder((*ast.KeyValueExpr)(nil)) {
		kv := c.Node().(*ast.KeyValueExpr)
		value := p.info.Types[kv.Key].Value
		if value == nil || value.Kind() != constant.String || constant.StringVal(value) != key {
			continue
		}
		t := typeName(p.info.TypeOf(p.value(c.ChildAt(edge.KeyValueExpr_Value, -1)).Node().(ast.Expr)))
		return strings.HasSuffix(t, "types.AttributeValueMemberN")
	}
	return false
}
