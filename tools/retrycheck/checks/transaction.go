package checks

import (
	"go/ast"
	"go/types"
)

// transactions has the types of transactions, without the major version of their module.
var transactions = map[string]bool{
	"database/sql.Tx":                                  true,
	"github.com/jackc/pgx.Tx":                          true,
	"github.com/jmoiron/sqlx.Tx":                       true,
	"github.com/uptrace/bun.Tx":                        true,
	"github.com/uptrace/bun.IDB":                       false, // may be a transaction or a database
	"github.com/go-pg/pg.Tx":                           true,
	"go.etcd.io/bbolt.Tx":                              true,
	"go.mongodb.org/mongo-driver/mongo.SessionContext": true,
}

// Transaction reports retries of a part of a transaction, which fail because the database
// has already aborted it.
var Transaction = analyzer("transaction", "report retries of a part of a database transaction", func(p *pass) {
	for _, call := range p.calls {
		if !call.op.Valid() {
			continue
		}
		for id := range call.op.Preorder((*ast.Ident)(nil)) {
			obj, ok := p.info.Uses[id.Node().(*ast.Ident)].(*types.Var)
			if ok && outside(obj, call.op) && transactions[typeName(obj.Type())] {
				p.report(call.Cursor, "%s retries a part of the transaction %s, which the database may have aborted: retry the whole transaction (retrysql.InTx)",
					shortName(call.name), obj.Name())
				break
			}
		}
	}
})
