// The command contention: clients that contend for one row.

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/lab"
	"github.com/gobackoff/retry/lab/internal/report"
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
	env.trialFlags(set)
	set.Var(&env.policies, "policy", "a `policy` as text, a preset's name, or one of the groups blog, fibonacci and sdks; may be repeated (default blog)")
	clients := set.String("clients", "10..100", "`numbers` of clients: 10,50 or 10..190 (in steps of 10) or 10..190+20 or 10..100000*10")
	set.IntVar(&model.Trials, "trials", 100, "trials for each number of clients")
	set.DurationVar(&model.Network.Mean, "network", 10*time.Millisecond, "mean `delay` of a message, one way")
	set.DurationVar(&model.Network.SD, "deviation", 2*time.Millisecond, "standard `deviation` of that delay")
	set.IntVar(&model.Processes, "processes", 0, "processes that the clients are spread over, each with its own budget and limiter (default: one per client)")
	throttled := set.Bool("throttled", false, "conflicts count as throttling, after which some policies wait longer")
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
	if *throttled {
		model.Class = retry.ClassThrottled
	}
	model.Seed, model.Parallel, model.Progress = env.seed, env.parallel, env.progress()
	if model, err = model.WithDefaults(); err != nil {
		return usageError{err}
	}
	return env.produce(func() ([]result, error) {
		cells, err := model.Run(ctx)
		return []result{report.Contention{Cells: cells}}, err
	})
}

// mostNumbers guards against typing errors.
const mostNumbers = 1000

// numbers reads a list of numbers and ranges.
func numbers(text string) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "..")
		first, err := number(from)
		if err != nil {
			return nil, err
		}
		if !isRange {
			list = append(list, first)
			continue
		}
		more, err := numberRange(first, to)
		if err != nil {
			return nil, fmt.Errorf("range %q: %w", part, err)
		}
		list = append(list, more...)
	}
	if len(list) > mostNumbers {
		return nil, fmt.Errorf("%d numbers are more than %d", len(list), mostNumbers)
	}
	seen := map[int]bool{}
	return slices.DeleteFunc(list, func(n int) bool {
		again := seen[n]
		seen[n] = true
		return again
	}), nil
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

// numberRange returns a range of numbers that begins with first. The argument rest contains
// the end of the range, optionally followed by a step (+) or a factor (*).
func numberRange(first int, rest string) ([]int, error) {
	end, step, factor := rest, first, 1
	var err error
	if i := strings.IndexAny(rest, "+*"); i >= 0 {
		end = rest[:i]
		if step, err = number(rest[i+1:]); err != nil {
			return nil, err
		}
		if rest[i] == '*' {
			step, factor = 0, step
		}
	}
	last, err := number(end)
	switch {
	case err != nil:
		return nil, err
	case first < 1 || last < first:
		return nil, errors.New("want a number from 1 up and a larger one")
	case step < 1 && factor < 2:
		return nil, errors.New("want a step from 1 up, or a factor from 2 up")
	}
	return steps(first, last, step, factor), nil
}

// steps returns the numbers from first to last. To get the next number, it multiplies by
// factor and adds step. It returns at most mostNumbers + 1 numbers.
func steps(first, last, step, factor int) []int {
	var list []int
	for n := int64(first); n <= int64(last) && len(list) <= mostNumbers; n = n*int64(factor) + int64(step) {
		list = append(list, int(n))
	}
	return list
}
