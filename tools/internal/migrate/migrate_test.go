package migrate_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gobackoff/retry/tools/internal/migrate"
)

func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), migrate.Analyzer, "a")
}
