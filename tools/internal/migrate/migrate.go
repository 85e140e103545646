// Package migrate finds the uses of other retry libraries.
package migrate

import (
	"regexp"
	"strconv"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reports the imports of the libraries that it knows.
var Analyzer = &analysis.Analyzer{
	Name: "retrymigrate",
	Doc:  "rewrite the uses of other retry libraries for github.com/gobackoff/retry",
	Run:  run,
}

var libraries = regexp.MustCompile(`^(github\.com/cenkalti/backoff(/v[4-7])?|github\.com/avast/retry-go(/v[3-5])?|` +
	`github\.com/sethvargo/go-retry|github\.com/hashicorp/go-retryablehttp|k8s\.io/apimachinery/pkg/util/wait)$`)

func run(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err == nil && libraries.MatchString(path) {
				pass.Reportf(spec.Pos(), "imports %s", path)
			}
		}
	}
	return nil, nil
}
