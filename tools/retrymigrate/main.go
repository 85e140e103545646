// Retrymigrate finds the uses of other retry libraries and rewrites them for this one.
//
// The go command runs it on packages:
//
//	go vet -vettool=$(which retrymigrate) ./...   # report
//	go fix -fixtool=$(which retrymigrate) ./...   # rewrite
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/gobackoff/retry/tools/internal/migrate"
)

func main() { unitchecker.Main(migrate.Analyzer) }
