// Retrymigrate rewrites calls of other retry libraries for this one: cenkalti/backoff (versions
// 2 to 7), avast/retry-go (2 to 5), sethvargo/go-retry and k8s.io/apimachinery/pkg/util/wait. The
// go command runs it. Build it in a clone, and run the other lines in the folder of your module:
//
//	git clone https://github.com/gobackoff/retry && go -C retry/cmd install ./retrymigrate
//	go vet -vettool=$(which retrymigrate) ./...   # what it would do, and what it would not
//	go fix -fixtool=$(which retrymigrate) ./...   # rewrites; with -diff, shows how
//	go get github.com/gobackoff/retry && go mod tidy
//
// A call is rewritten if its backoff is made in the call, or is in a variable of the same function
// that serves only this call. A backoff that the program itself asks for delays becomes an
// adapt.Sequence. Other calls, such as those whose backoff is a parameter or a field, and clients
// of hashicorp/go-retryablehttp, are left alone. The report says why, and what behaves differently
// in the calls that are rewritten.
//
// Rewritten calls retry all errors, as before, except marked ones. If the package, or one of its
// module that it imports, still uses the marks of the other library, they know these, too. Calls
// that are left alone do not know the marks of this one.
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/gobackoff/retry/cmd/retrymigrate/internal/migrate"
)

func main() { unitchecker.Main(migrate.Analyzer) }
