// Retrymigrate rewrites code that uses another retry library for this one: cenkalti/backoff
// (versions 2 to 7), avast/retry-go (2 to 5), sethvargo/go-retry, hashicorp/go-retryablehttp
// and k8s.io/apimachinery/pkg/util/wait. The go command runs it:
//
//	go install github.com/gobackoff/retry/tools/retrymigrate@latest
//	go vet -vettool=$(which retrymigrate) ./...   # what it would do, and what it would not
//	go fix -fixtool=$(which retrymigrate) ./...   # rewrites; with -diff, shows how
//	go get github.com/gobackoff/retry && go mod tidy
//
// The rewritten calls behave as before: what they retry, how long they wait and which errors
// they return is the same, as far as the report does not say otherwise. To that end, they
// use package legacy, each of whose names marks a decision that is now yours.
//
// A backoff becomes a policy if the call makes it, or if it is in a variable of the same
// function that serves only this call. One that the program itself asks for delays becomes an
// adapt.Sequence. Any other, such as a parameter, a field or a type of the program's own, stays
// what it is, and the call asks it for delays; the report names it. The settings of a
// retryablehttp.Client stay in the same way. Calls whose options are not in the package, or
// have no counterpart, are left alone, and the report says why.
//
// Rewritten calls heed the marks of code that is left alone, such as backoff.Permanent. The
// reverse is not so: if a package that returns such marks is rewritten, rewrite the calls that
// receive them, too. A package that uses two of the libraries takes two runs.
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/gobackoff/retry/tools/internal/migrate"
)

func main() { unitchecker.Main(migrate.Analyzer) }
