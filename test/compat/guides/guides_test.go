package guides

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

var update = flag.Bool("update", false, "write the tables of docs/migrating.md")

type operation func(context.Context) error

// A row is a setting of another library and what takes its place. The table shows the
// arguments after the operation.
type row struct {
	what          string
	before, after func(ctx context.Context, op operation) error
	differs       string // what does, in the number or times of the attempts; "": nothing
}

var guides = map[string][]row{
	"avast":         avastRows,
	"cenkalti4":     cenkalti4Rows,
	"cenkalti":      cenkaltiRows,
	"failsafe":      failsafeRows,
	"kubernetes":    kubernetesRows,
	"retryablehttp": retryablehttpRows,
	"sethvargo":     sethvargoRows,
}

const (
	ms  = time.Millisecond
	sec = time.Second
)

var errBusy, errGone = errors.New("busy"), errors.New("gone")

var logger = slog.New(slog.DiscardHandler)

// ours calls op under the policy.
func ours(ctx context.Context, op operation, p retry.Policy) error { return retry.Do(ctx, p, op) }

// secondly is ours for rows about other things than delays and attempts.
func secondly(ctx context.Context, op operation, p retry.Policy) error {
	if p.Backoff == nil {
		p.Backoff = retry.Constant(time.Second)
	}
	if p.MaxAttempts == 0 {
		p.MaxAttempts = retry.Unlimited
	}
	return retry.Do(ctx, p, op)
}

// unchanged is secondly with the zero Policy.
func unchanged(ctx context.Context, op operation) error {
	return secondly(ctx, op, retry.Policy{})
}

// missing returns an operation whose errors DefaultClassifier calls permanent.
func missing(op operation) operation {
	return mark(op, func(err error) error { return errors.Join(err, fs.ErrNotExist) })
}

// mark returns an operation whose errors are marked.
func mark(op operation, marker func(error) error) operation {
	return func(ctx context.Context) error {
		if err := op(ctx); err != nil {
			return marker(err)
		}
		return nil
	}
}

// waits are the waits before each retry of many calls.
type waits [][]time.Duration

const (
	calls    = 400
	attempts = 11 // after which the context ends
)

// observe returns the waits of calls that fail the given number of times.
func observe(t *testing.T, run func(context.Context, operation) error, failures int) (found waits) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		for range calls {
			ctx, cancel := context.WithCancel(t.Context())
			var last time.Time
			n := 0
			_ = run(ctx, func(context.Context) error {
				if n > len(found) {
					found = append(found, nil)
				}
				if n > 0 {
					found[n-1] = append(found[n-1], time.Since(last))
				}
				n++
				last = time.Now()
				switch {
				case n == attempts:
					cancel()
				case n > failures:
					return nil
				case n%2 == 0:
					return errGone
				}
				return errBusy
			})
			cancel()
		}
	})
	return found
}

// difference describes the first retry whose waits differ, or returns "".
func difference(a, b waits) string {
	for n := range max(len(a), len(b)) {
		if n >= len(a) || n >= len(b) {
			return fmt.Sprintf("%d and %d attempts", len(a)+1, len(b)+1)
		}
		lowA, meanA, highA := summary(a[n])
		lowB, meanB, highB := summary(b[n])
		tolerance := 0.1*max(highA-lowA, highB-lowB) + float64(time.Microsecond)
		if math.Abs(float64(len(a[n])-len(b[n]))) > calls/8 || math.Abs(lowA-lowB) > tolerance ||
			math.Abs(meanA-meanB) > tolerance || math.Abs(highA-highB) > tolerance {
			return fmt.Sprintf("retry %d: %d × %v to %v, mean %v, and %d × %v to %v, mean %v", n+1, len(a[n]), time.Duration(lowA),
				time.Duration(highA), time.Duration(meanA), len(b[n]), time.Duration(lowB), time.Duration(highB), time.Duration(meanB))
		}
	}
	return ""
}

func summary(list []time.Duration) (low, mean, high float64) {
	low = math.Inf(1)
	for _, d := range list {
		low, high, mean = min(low, float64(d)), max(high, float64(d)), mean+float64(d)/float64(len(list))
	}
	return low, mean, high
}

// TestRows: the pairs make their attempts at the same times, or differ as they say.
func TestRows(t *testing.T) {
	for library, rows := range guides {
		for _, r := range rows {
			t.Run(library+"/"+r.what, func(t *testing.T) {
				found := difference(observe(t, r.before, attempts), observe(t, r.after, attempts))
				if found == "" {
					found = difference(observe(t, r.before, 2), observe(t, r.after, 2))
				}
				if r.differs == "" {
					assert.Empty(t, found)
				} else {
					assert.NotEmpty(t, found, "nothing differs")
				}
			})
		}
	}
}

// TestPage: the tables of docs/migrating.md are those of the rows.
func TestPage(t *testing.T) {
	const path = "../../../docs/migrating.md"
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	page := string(file)
	for library, rows := range guides {
		begin, end := "<!-- "+library+" -->\n", "<!-- end -->"
		before, rest, found := strings.Cut(page, begin)
		require.True(t, found, library)
		_, after, found := strings.Cut(rest, end)
		require.True(t, found, library)
		page = before + begin + table(t, library, rows) + end + after
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	assert.Equal(t, page, string(file), "go test ./guides -update writes the tables")
}

func table(t *testing.T, library string, rows []row) string {
	cells := sources(t, library)
	require.Len(t, cells, 2*len(rows))
	var b strings.Builder
	b.WriteString("| | before | now |\n| --- | --- | --- |\n")
	for i, r := range rows {
		note := ""
		if r.differs != "" {
			note = "<br>" + r.differs
		}
		fmt.Fprintf(&b, "| %s | %s | %s%s |\n", r.what, cells[2*i], cells[2*i+1], note)
	}
	return b.String()
}

// sources returns the code of the functions in a table of rows: see row.
func sources(t *testing.T, library string) (cells []string) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, filepath.Join(".", library+"_test.go"), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		field, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if name := field.Key.(fmt.Stringer).String(); name != "before" && name != "after" {
			return true
		}
		var parts []string
		for _, n := range shown(field.Value.(*ast.FuncLit).Body) {
			if text := oneLine(t, files, n); text != "" && text != "builder()" {
				parts = append(parts, "`"+text+"`")
			}
		}
		cells = append(cells, cmp.Or(strings.ReplaceAll(strings.Join(parts, "<br>"), "|", `\|`), "the default"))
		return false
	})
	return cells
}

// oneLine prints code on one line, and of a Policy only the fields.
func oneLine(t *testing.T, files *token.FileSet, n ast.Node) string {
	var b bytes.Buffer
	require.NoError(t, printer.Fprint(&b, files, n))
	var line strings.Builder
	for next := range strings.Lines(b.String()) {
		next = strings.Join(strings.Fields(next), " ")
		switch text := line.String(); {
		case strings.HasPrefix(next, "}") || strings.HasSuffix(text, ",") || strings.HasSuffix(text, " {"):
			line.WriteString(" ")
		case text == "" || strings.HasSuffix(text, "(") || strings.HasSuffix(text, "{"):
		default:
			line.WriteString("; ")
		}
		line.WriteString(next)
	}
	text := strings.NewReplacer(", }", "}", "retry.Policy{ ", "retry.Policy{", "slow()", "builder()").Replace(line.String())
	if fields, ok := strings.CutPrefix(text, "retry.Policy{"); ok {
		text = strings.TrimSuffix(fields, "}")
	}
	return text
}

// shown returns the arguments after the operation, or the marker of the operation's
// errors, or the statements of a function literal without results.
func shown(body *ast.BlockStmt) (nodes []ast.Node) {
	call := body.List[len(body.List)-1].(*ast.ReturnStmt).Results[0].(*ast.CallExpr)
	arguments := call.Args[2:]
	if marked, ok := call.Args[1].(*ast.CallExpr); ok && len(arguments) == 0 {
		if arguments = marked.Args[1:]; len(arguments) > 0 {
			if f, ok := arguments[0].(*ast.FuncLit); ok {
				return []ast.Node{f.Body.List[0].(*ast.ReturnStmt).Results[0]}
			}
		}
	}
	for _, argument := range arguments {
		if f, ok := argument.(*ast.FuncLit); ok && f.Type.Results == nil {
			for _, statement := range f.Body.List {
				nodes = append(nodes, statement)
			}
			continue
		}
		nodes = append(nodes, argument)
	}
	return nodes
}
