package checks

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/ast/edge"
)

// transactions has the types of transactions.
var transactions = names(`database/sql\.Tx`, `github\.com/(jackc/pgx|jmoiron/sqlx|uptrace/bun|go-pg/pg)\.Tx`,
	`go\.etcd\.io/bbolt\.Tx`, `go\.mongodb\.org/mongo-driver/mongo\.SessionContext`)

var (
	inTx = names(ours + `/retrysql\.(InTx|Once)(Func)?`)
	// ending has statements that end a transaction; ROLLBACK TO does not.
	ending      = regexp.MustCompile(`(?i)^\s*(COMMIT|ABORT|ROLLBACK|PREPARE\s+TRANSACTION)\b`)
	toSavepoint = regexp.MustCompile(`(?i)^\s*ROLLBACK\s+((WORK|TRANSACTION)\s+)?TO\b`)
)

// Transaction reports retries of a part of a transaction, which fail because the database
// has already aborted it, and what retrysql runs again although it is not in the transaction.
var Transaction = analyzer("transaction", func(p *pass) {
	for _, call := range p.operations {
		if inTx.MatchString(call.name) {
			p.reportOutside(call)
			p.reportEnds(call)
		}
		tx, _ := p.outer(call.op, func(v *types.Var) bool { return transactions.MatchString(typeName(v.Type())) })
		if tx != nil {
			p.report(call.Cursor, "%s retries a part of the transaction %s, which the database may have aborted: retry the whole transaction (retrysql.InTx)",
				shortName(call.name), tx.Name())
		}
	}
})

// reportOutside reports statements in the function of a call of retrysql that are not in its
// transaction.
func (p *pass) reportOutside(call *call) {
	for _, c := range p.calls {
		sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok || !call.op.Contains(c.Cursor) {
			continue
		}
		if pool := p.info.Uses[lastName(sel.X)]; pool != nil && p.isPool(pool, call) {
			p.report(c.Cursor, "this is not a part of the transaction, so a retry repeats it: use the transaction of %s instead of %s", shortName(call.name), pool.Name())
		}
	}
}

// reportEnds reports what ends the transaction within the function of a call of retrysql, which
// package database/sql does not notice if it is a statement.
func (p *pass) reportEnds(loop *call) {
	for _, c := range p.calls {
		sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !ok || !loop.op.Contains(c.Cursor) || !transactions.MatchString(typeName(p.info.TypeOf(sel.X))) {
			continue
		}
		ends := sel.Sel.Name == "Commit" || sel.Sel.Name == "Rollback"
		for _, arg := range c.Args {
			text := p.info.Types[arg].Value
			ends = ends || text != nil && text.Kind() == constant.String && endsTransaction(constant.StringVal(text))
		}
		if ends {
			p.report(c.Cursor, "%s commits and rolls back: remove this, or the outcome is unknown", shortName(loop.name))
		}
	}
}

// endsTransaction reports whether one of the statements in a text ends the transaction.
func endsTransaction(text string) bool {
	for statement := range strings.SplitSeq(text, ";") {
		if ending.MatchString(statement) && !toSavepoint.MatchString(statement) {
			return true
		}
	}
	return false
}

// isPool reports whether a call of retrysql begins its transactions in a pool.
func (p *pass) isPool(pool types.Object, call *call) bool {
	if typeName(pool.Type()) == "database/sql.DB" {
		for id := range call.ChildAt(edge.CallExpr_Args, 2).Preorder((*ast.Ident)(nil)) {
			if p.info.Uses[id.Node().(*ast.Ident)] == pool {
				return true
			}
		}
	}
	return false
}
