package checks

import "go/ast"

// pure has functions that return a changed copy and do nothing else.
var pure = map[string]string{
	ours + ".Permanent":               "the marked error",
	ours + ".Transient":               "the marked error",
	ours + ".Throttled":               "the marked error",
	ours + ".Unrepeatable":            "the marked error",
	ours + ".Progress":                "the marked error",
	ours + ".After":                   "the marked error",
	ours + ".Policy.With":             "the Policy with the hooks",
	ours + ".FirstOf":                 "the Classifier",
	ours + ".OnlyIf":                  "the Classifier",
	ours + "/retryotel.Instrument":    "the Policy with the hooks",
	ours + "/awspreset.Preset.Policy": "the Policy",

	cenkalti + ".Permanent":      "the marked error",
	cenkalti + ".RetryAfter":     "the marked error",
	cenkalti + ".WithContext":    "the BackOff",
	cenkalti + ".WithMaxRetries": "the BackOff",
	avast + ".Unrecoverable":     "the marked error",

	sethvargo + ".RetryableError":     "the marked error",
	sethvargo + ".WithCappedDuration": "the Backoff",
	sethvargo + ".WithJitter":         "the Backoff",
	sethvargo + ".WithJitterPercent":  "the Backoff",
	sethvargo + ".WithMaxDuration":    "the Backoff",
	sethvargo + ".WithMaxRetries":     "the Backoff",
}

// loops has functions whose error says that the operation failed for good.
var loops = map[string]bool{ours + ".Do": true, ours + ".DoValue": true, ours + "/retrysql.InTx": true, ours + "/retrysql.InTxFunc": true}

// Dropped reports calls whose only effect is their result, which is not used.
var Dropped = analyzer("dropped", "report unused results of Permanent(err), policy.With(hooks) and their relatives", func(p *pass) {
	for c := range p.root.Preorder((*ast.ExprStmt)(nil), (*ast.AssignStmt)(nil)) {
		var e ast.Expr
		switch n := c.Node().(type) {
		case *ast.ExprStmt:
			e = n.X
		case *ast.AssignStmt:
			if id := identOf(n.Lhs[0]); len(n.Lhs) == 1 && id != nil && id.Name == "_" {
				e = n.Rhs[0]
			}
		}
		call, ok := e.(*ast.CallExpr)
		if !ok {
			continue
		}
		_, statement := c.Node().(*ast.ExprStmt) // _ = retry.Do(...) is on purpose
		switch name := p.callee(call); {
		case pure[name] != "":
			p.report(c, "%s has no effect unless its result, %s, is used", shortName(name), pure[name])
		case statement && loops[name]:
			p.report(c, "the error of %s is not used, so a final failure goes unnoticed", shortName(name))
		}
	}
})
