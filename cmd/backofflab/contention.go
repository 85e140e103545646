// The command contention: clients that contend for one row.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry/cmd/backofflab/internal/chart"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/cmd/backofflab/internal/report"
)

var contentionGroups = map[string]func() []lab.Contender{
	"blog":      lab.Blog,
	"fibonacci": lab.Fibonacci,
	"sdks":      lab.SDKs,
}

const timingBins = 200 // 10 s

func contention(ctx context.Context, env *environment, args []string) error {
	var model lab.Contention
	set := env.flags("contention", "")
	env.csvFlag(set)
	set.StringVar(&env.html, "html", "", "write a page with the pictures to `file`")
	set.StringVar(&env.svg, "svg", "", "write the pictures as SVG files into `folder`; needs Node.js")
	env.title = "Clients that contend for one row"
	env.trialFlags(set)
	env.policyFlag(set, "as text, a preset's name, or one of the groups blog, fibonacci and sdks (default blog)")
	clients := set.String("clients", "10..100", "`numbers` of clients: 10,50 or 10..190 (in steps of 10)")
	set.IntVar(&model.Trials, "trials", 100, "trials for each number of clients")
	set.DurationVar(&model.Network.Mean, "network", 10*time.Millisecond, "mean `delay` of a message, one way")
	set.DurationVar(&model.Network.SD, "deviation", 2*time.Millisecond, "standard `deviation` of that delay")
	set.IntVar(&model.Processes, "processes", 0, "processes that the clients are spread over, each with its own budget and limiter (default: one per client)")
	if _, err := env.parse(set, args, 0); err != nil {
		return err
	}
	var err error
	if model.Clients, err = numbers(*clients); err != nil {
		return usageError{fmt.Errorf("clients: %w", err)}
	}
	if model.Contenders, err = env.contenders(contentionGroups, lab.Blog); err != nil {
		return err
	}
	if env.csv != "" && env.html != "" {
		return usageError{errors.New("csv and html: want one of them; the page contains the CSV")}
	}
	if env.html != "" || env.svg != "" {
		model.Timing = timingBins
	}
	model.Seed, model.Parallel, model.Progress = env.seed, env.parallel, env.progress()
	if model, err = model.WithDefaults(); err != nil {
		return usageError{err}
	}
	return env.produce(func() ([]result, error) {
		cells, err := model.Run(ctx)
		found := report.Article{Contention: report.Contention{Cells: cells}}
		if err == nil && env.svg != "" {
			err = env.writePictures(ctx, found.Pictures())
		}
		return []result{found}, err
	})
}

// writePictures writes SVG files.
func (env *environment) writePictures(ctx context.Context, pictures map[string]*chart.Picture) error {
	marshaled := make(map[string]json.RawMessage)
	for name, p := range pictures {
		data, err := p.Marshal()
		if err != nil {
			return err
		}
		marshaled[name] = data
	}
	files, err := chart.SVG(ctx, marshaled, env.own...)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(env.svg, 0o777); err != nil {
		return err
	}
	for name, svg := range files {
		if err := os.WriteFile(filepath.Join(env.svg, name+".svg"), []byte(svg), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// mostNumbers guards against typing errors.
const mostNumbers = 1000

// numbers reads a list of numbers and of ranges in steps of their first number.
func numbers(text string) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "..")
		if !isRange {
			to = from
		}
		first, err := number(from)
		if err != nil {
			return nil, err
		}
		last, err := number(to)
		switch {
		case err != nil:
			return nil, err
		case isRange && (first < 1 || last < first):
			return nil, fmt.Errorf("range %q: want a number from 1 up and a larger one", part)
		case isRange && last/first+len(list) > mostNumbers:
			return nil, fmt.Errorf("range %q: with those before, more than %d numbers", part, mostNumbers)
		}
		for n := first; n <= last; n += max(1, first) {
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	return list, nil
}

// number reads a number of at most 32 bits, so that sums do not overflow.
func number(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is too large", text)
	case err != nil:
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return int(n), nil
}
