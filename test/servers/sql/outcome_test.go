//go:build unix

package sql_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrysql"
)

// waitingKeys are statements for servers whose INSERT cannot refuse to wait for another
// transaction, such as CockroachDB. They are also in docs/sql.md.
var waitingKeys = retrysql.Keys{
	Claim: "INSERT INTO idempotency_key (id, fingerprint) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
	Find:  "SELECT fingerprint, result FROM idempotency_key WHERE id = $1",
	Store: "UPDATE idempotency_key SET result = $1 WHERE id = $2",
}

// asking is a database whose lost COMMITs are asked for.
type asking struct{ database }

// asked lists what is done about lost COMMITs, by the end of a test's name.
var asked = map[string]func(database) database{
	"":        func(db database) database { return db },
	", asked": func(db database) database { return asking{db} },
	", keys": func(db database) database {
		if d, ok := db.(sqlDatabase); ok && d.keys.Claim != "" {
			d.keys = mysqlKeysOnMariaDB()
			return asking{d}
		}
		return onceForOutcome{db}
	},
}

// onceForOutcome is a database with PostgresKeys whose lost COMMITs are asked for by Once.
type onceForOutcome struct{ database }

func (o onceForOutcome) inTx(ctx context.Context, p retry.Policy, level sql.IsolationLevel, fn func(context.Context, session) error) error {
	key := retrysql.Key{In: retrysql.PostgresKeys, NoID: true}
	_, err := once(ctx, o.database, p, level, key, func(ctx context.Context, tx session) ([]byte, error) { return nil, fn(ctx, tx) })
	return err
}

func askingPool(ctx context.Context, policy retry.Policy, pool *pgxpool.Pool, opts pgx.TxOptions, fn func(context.Context, pgx.Tx) error) error {
	begin := func(ctx context.Context) (pgx.Tx, error) { return pool.BeginTx(ctx, opts) }
	return retrysql.InTxFunc(ctx, policy, retrysql.Asking(begin, pool.QueryRow, pgx.Tx.QueryRow), fn)
}

// inTx is that of the database, with a witness.
func (a asking) inTx(ctx context.Context, p retry.Policy, level sql.IsolationLevel, fn func(context.Context, session) error) error {
	switch d := a.database.(type) {
	case pgxDatabase:
		opts := pgx.TxOptions{IsoLevel: isoLevels[level]}
		return askingPool(ctx, p, d.pool, opts, func(ctx context.Context, tx pgx.Tx) error { return fn(ctx, pgxSession{tx}) })
	case sqlDatabase:
		opts := &sql.TxOptions{Isolation: level}
		if d.keys.Claim != "" {
			key := retrysql.Key{In: d.keys, NoID: true}
			_, err := retrysql.Once(ctx, p, d.db, opts, key, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
				return nil, fn(ctx, sqlSession{tx})
			})
			return err
		}
		return retrysql.InTx(ctx, p, retrysql.AskingDB(d.db), opts, func(ctx context.Context, tx *sql.Tx) error {
			return fn(ctx, sqlSession{tx})
		})
	}
	panic(fmt.Sprintf("%T", a.database))
}

var isoLevels = map[sql.IsolationLevel]pgx.TxIsoLevel{
	sql.LevelDefault: "", sql.LevelReadUncommitted: pgx.ReadUncommitted, sql.LevelReadCommitted: pgx.ReadCommitted, sql.LevelRepeatableRead: pgx.RepeatableRead, sql.LevelSerializable: pgx.Serializable,
}

// TestLostCommitKnown: however a COMMIT is lost, the call succeeds, and its row is there once.
func TestLostCommitKnown(t *testing.T) {
	ways := append(slices.Clone(keyVariants), variants[1], variants[2])
	for i, v := range ways {
		name := v.name
		open := v.open
		if i >= len(keyVariants) {
			v.keys = waitingKeys
			name += ", keys that wait"
		}
		if v.server != postgres || i >= len(keyVariants) {
			open = func(t testing.TB, addr string, connections int) database {
				db := v.open(t, addr, connections).(sqlDatabase)
				db.keys = v.keys
				return db
			}
		}
		t.Run(name, func(t *testing.T) {
			addr := v.address(t)
			direct := v.connect(t, addr, 1)
			for _, test := range commitFaults {
				t.Run(test.name, func(t *testing.T) {
					createTable(t, direct, "lost", "id INT")
					createKeys(t, v, direct)
					p := startProxy(t, addr, v.frames, onceAtCommit(test.toServer, test.fault))
					db := asking{open(t, p.addr(), 1)}
					attempts := 0
					require.NoError(t, db.inTx(t.Context(), quick, sql.LevelDefault, func(ctx context.Context, tx session) error {
						attempts++
						return tx.exec(ctx, "INSERT INTO lost VALUES (1)")
					}))
					assert.EqualValues(t, 1, p.cuts.Load())
					db.Close()
					p.close()
					settleServer(t, v, direct)
					assert.Equal(t, 1, number(t, direct, "SELECT count(*) FROM lost"))
					if test.committed >= 0 {
						assert.Equal(t, 2-test.committed, attempts)
					}
				})
			}
		})
	}
}

// TestSetUpWrongly: what is missing for the question is named by the first transaction.
func TestSetUpWrongly(t *testing.T) {
	const onPostgres, onMariaDB = 1, 3
	insert := func(ctx context.Context, tx *sql.Tx) error {
		return sqlSession{tx}.exec(ctx, "INSERT INTO lost VALUES (1)")
	}
	for _, test := range []struct {
		name string
		v    variant
		db   func(db *sql.DB) retrysql.Beginner
		text []string
	}{
		{"AskingDB on MariaDB", variants[onMariaDB], retrysql.AskingDB, []string{"AskingDB", "need PostgreSQL 13"}},
		{"privilege", variants[onPostgres], retrysql.AskingDB, []string{"EXECUTE on pg_control_system", "permission denied"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			addr := test.v.address(t)
			db := test.v.connect(t, addr, 1).(sqlDatabase)
			createTable(t, db, "lost", "id INT")
			if test.name == "privilege" {
				run(t, db, "CREATE ROLE nobody", "GRANT ALL ON lost TO nobody", "REVOKE EXECUTE ON FUNCTION pg_control_system FROM PUBLIC", "SET ROLE nobody")
				t.Cleanup(func() {
					for _, s := range []string{"RESET ROLE", "GRANT EXECUTE ON FUNCTION pg_control_system TO PUBLIC", "DROP OWNED BY nobody", "DROP ROLE nobody"} {
						assert.NoError(t, db.exec(context.Background(), s))
					}
				})
			}
			err := retrysql.InTx(t.Context(), quick, test.db(db.db), nil, insert)
			for _, text := range test.text {
				assert.ErrorContains(t, err, text)
			}
			assert.NotErrorIs(t, err, retry.ErrMaxAttempts)
			assert.Zero(t, number(t, db, "SELECT count(*) FROM lost"))
		})
	}
}
