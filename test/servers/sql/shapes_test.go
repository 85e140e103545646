//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// gormTx has the methods that end a transaction in the form that InTxFunc expects.
type gormTx struct{ *gorm.DB }

func (t gormTx) Commit() error   { return t.DB.Commit().Error }
func (t gormTx) Rollback() error { return t.DB.Rollback().Error }

func withGorm(ctx context.Context, db *gorm.DB, fn func(ctx context.Context, tx gormTx) error) error {
	return retrysql.InTxFunc(ctx, policy, func(ctx context.Context) (gormTx, error) {
		tx := db.WithContext(ctx).Begin()
		return gormTx{tx}, tx.Error
	}, fn)
}

func withSQLX(ctx context.Context, db *sqlx.DB, fn func(ctx context.Context, tx *sqlx.Tx) error) error {
	return retrysql.InTxFunc(ctx, policy, func(ctx context.Context) (*sqlx.Tx, error) {
		return db.BeginTxx(ctx, nil)
	}, fn)
}

func withBun(ctx context.Context, db *bun.DB, fn func(ctx context.Context, tx bun.Tx) error) error {
	return retrysql.InTxFunc(ctx, policy, func(ctx context.Context) (bun.Tx, error) {
		return db.BeginTx(ctx, nil)
	}, fn)
}

// TestShapes: the transactions of other packages fail once, are rolled back, and run again.
func TestShapes(t *testing.T) {
	const insert = "INSERT INTO shape VALUES (1)"
	failOnce := func() func(error) error {
		failed := false
		return func(err error) error {
			if err != nil || failed {
				return err
			}
			failed = true
			return retry.Transient(errors.New("once"))
		}
	}
	for name, test := range map[string]func(t *testing.T, db *sql.DB, once func(error) error) error{
		"sqlx": func(t *testing.T, db *sql.DB, once func(error) error) error {
			return withSQLX(t.Context(), sqlx.NewDb(db, "sqlite"), func(ctx context.Context, tx *sqlx.Tx) error {
				_, err := tx.ExecContext(ctx, insert)
				return once(err)
			})
		},
		"bun": func(t *testing.T, db *sql.DB, once func(error) error) error {
			return withBun(t.Context(), bun.NewDB(db, sqlitedialect.New()), func(ctx context.Context, tx bun.Tx) error {
				_, err := tx.ExecContext(ctx, insert)
				return once(err)
			})
		},
		"gorm": func(t *testing.T, db *sql.DB, once func(error) error) error {
			g, err := gorm.Open(sqlite.Dialector{Conn: db}, &gorm.Config{})
			require.NoError(t, err)
			return withGorm(t.Context(), g, func(ctx context.Context, tx gormTx) error {
				return once(tx.WithContext(ctx).Exec(insert).Error)
			})
		},
		"ent": func(t *testing.T, db *sql.DB, once func(error) error) error {
			return retrysql.InTxFunc(t.Context(), policy, entsql.OpenDB(dialect.SQLite, db).Tx, func(ctx context.Context, tx dialect.Tx) error {
				return once(tx.Exec(ctx, insert, []any{}, nil))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := embedded[0]
			db := v.connect(t, v.address(t), 1)
			createTable(t, db, "shape", "id INT")
			require.NoError(t, test(t, db.(sqlDatabase).db, failOnce()))
			assert.Equal(t, 1, number(t, db, "SELECT count(*) FROM shape"))
			assertReturned(t, db)
		})
	}
}

// TestUnknownShape: a transaction that cannot be ended is not begun twice.
func TestUnknownShape(t *testing.T) {
	begun := 0
	err := retrysql.InTxFunc(t.Context(), policy, func(context.Context) (*gorm.DB, error) { begun++; return &gorm.DB{}, nil },
		func(context.Context, *gorm.DB) error { return nil })
	assert.ErrorIs(t, err, retry.ErrInvalid)
	assert.Equal(t, 1, begun)
}
