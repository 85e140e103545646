// The report command: a page that compares policies.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/page"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
)

func fullReport(ctx context.Context, env *environment, args []string) error {
	set := env.flags("report", "")
	env.title = "Retry policies, and a server that fails for a while"
	set.StringVar(&env.html, "html", "backofflab.html", "write the page to `file`")
	crowd := set.Bool("contention", false, "also show the policies in 10 to 100 clients that contend for one row")
	storm, own, err := env.storm(set, args)
	if err != nil {
		return err
	}
	if env.html == "" || env.html == "-" {
		return usageError{errors.New("html: a report needs a file")}
	}
	err = env.produce(func() ([]result, error) {
		rows, err := storm.Run(ctx)
		results := []result{report.Storm{Storm: storm, Rows: rows}}
		if err == nil && *crowd {
			var cells []lab.Cell
			cells, err = lab.Contention{
				Contenders: report.Crowd(own), Trials: 20 * storm.Trials, Timing: timingBins,
				Seed: env.seed, Parallel: env.parallel, Progress: env.progress(),
			}.Run(ctx)
			results = append(results, report.Contention{Cells: cells})
		}
		if err == nil {
			var v lab.Verdict
			if v, err = env.advice().Run(ctx); err == nil {
				results = append(results, report.Advice{Verdict: v})
			}
		}
		return results, err
	})
	if err == nil {
		fmt.Fprintf(env.stdout, "\n%s is written\n", env.html)
	}
	return err
}

func (env *environment) writePage(w io.Writer, results []result, stopped error) error {
	p := page.Page{Title: env.title, Facts: []page.Fact{
		{Name: "Command", Value: "backofflab " + quoted(env.args)},
		{Name: "Seed", Value: strconv.FormatUint(env.seed, 10)},
		{Name: "Version", Value: version()},
	}}
	if stopped != nil {
		p.Note = "Interrupted: the figures are those of the finished trials."
	}
	for _, r := range results {
		p.Sections = append(p.Sections, r.(interface {
			Section(own ...string) report.Section
		}).Section(env.own...))
	}
	return page.Write(w, p)
}

// quoted returns args as a shell command.
func quoted(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		if words[i] = arg; strings.ContainsAny(arg, " ;()|*&$\"'") || arg == "" {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
