//go:build unix

package sql_test

import (
	"os"
	"testing"

	"github.com/gobackoff/retry/test/testserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, p := range []*testserver.Program{postgres, mariadb, mysqlServer, redisServer} {
		p.Clean()
	}
	os.Exit(code)
}
