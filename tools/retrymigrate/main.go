// Retrymigrate rewrites code that uses another retry library for this one: cenkalti/backoff
// (versions 2 to 7), avast/retry-go (2 to 5), sethvargo/go-retry,
// k8s.io/apimachinery/pkg/util/wait, and clients of hashicorp/go-retryablehttp that are made
// and used as standard clients in one function. The go command runs it:
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
// A backoff is followed, by its type, through the variables, fields, parameters and results
// of its package. If something else uses it, or if a call has an option without a
// counterpart, the call is left alone, and the report says why. Rewritten calls heed the
// marks of code that is left alone, such as backoff.Permanent. The reverse is not so: if a
// package that returns such marks is rewritten, rewrite the calls that receive them, too.
// A package that uses two of the libraries takes two runs.
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/gobackoff/retry/tools/internal/migrate"
)

func main() { unitchecker.Main(migrate.Analyzer) }
