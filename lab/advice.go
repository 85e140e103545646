package lab

// The search for policies that suit a system.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Goal is the figure by which policies are ranked.
type Goal uint8

const (
	SuccessFirst  Goal = iota // most successful calls
	RecoveryFirst             // earliest recovery
)

var goalNames = [...]string{"success", "recovery"}

// String returns the name of the goal.
func (g Goal) String() string {
	if int(g) < len(goalNames) {
		return goalNames[g]
	}
	return fmt.Sprintf("goal(%d)", uint8(g))
}

// An Advice searches rules, bases, caps, numbers of attempts and budgets for policies that
// suit a system. On a small system with the same proportions, it simulates a coarse grid
// and then the neighbors of the best candidates. Finally it simulates the best of all these
// policies on a larger system. The same seed gives the same advice.
type Advice struct {
	// Storm is the system. Its Contenders and Trials are not used. Its Progress reports
	// the work in thousandths.
	Storm Storm

	Goal Goal
	Most int // maximum number of advised policies; 0: 5
}

// Advised is a policy that no other simulated policy beats in both success and recovery.
type Advised struct {
	Row StormRow // on the larger system

	// Fails lists the changes to the system under which the server does not recover, or
	// recovers much later than without retries. Held lists the other changes. Neither
	// list contains changes under which the server recovers neither with the policy nor
	// without retries.
	Fails, Held []string
}

// Verdict is the result of an [Advice].
type Verdict struct {
	Storm    Storm     // the larger system, as simulated
	Scale    float64   // its size, as a share of the described system
	Advised  []Advised // the best for the goal first
	Baseline Advised   // without retries
	Tried    int       // number of policies simulated
}

// Retry reports whether the best policy retries.
func (v Verdict) Retry() bool { return len(v.Advised) > 0 && v.Advised[0].Row.Contender != noRetry }

const noRetry = "none attempts=1"

// The number of calls per trial, and the number of trials, for each simulated system.
const (
	searchCalls, searchTrials = 6_000, 2
	finalCalls, finalTrials   = 60_000, 3
	finalists                 = 10
	neighborsOf               = 4 // how many of the best candidates have their neighbors tried
)

// Run runs the search. If ctx ends first, it returns the error of ctx. Other errors name an
// invalid field.
func (a Advice) Run(ctx context.Context) (Verdict, error) {
	a.Most = cmp.Or(a.Most, 5)
	a.Storm.Contenders, a.Storm.Trials = nil, searchTrials
	s, err := a.Storm.WithDefaults()
	switch {
	case err != nil:
		return Verdict{}, err
	case int(a.Goal) >= len(goalNames):
		return Verdict{}, errors.New("advice: Goal: " + a.Goal.String() + " is unknown")
	case a.Most < 1:
		return Verdict{}, fmt.Errorf("advice: Most: %d is not above 0", a.Most)
	case s.Outage.To-s.Outage.From > s.Horizon/2:
		return Verdict{}, errors.New("advice: Horizon: most of it is the outage")
	}
	search := &search{ctx: ctx, goal: a.Goal, small: s.briefly().scaled(searchCalls), rows: map[candidate]StormRow{}}
	search.small.Progress = nil
	search.report = s.Progress
	if err := search.run(grid(&s)); err != nil {
		return Verdict{}, err
	}
	var near []candidate
	for _, c := range search.best(neighborsOf) {
		near = append(near, c.neighbors(&s)...)
	}
	if err := search.run(near); err != nil {
		return Verdict{}, err
	}
	large := s.scaled(finalCalls)
	large.Trials, large.Progress = finalTrials, nil
	return search.verdict(large, large.Rate/s.Rate, a.Most)
}

type search struct {
	ctx    context.Context
	goal   Goal
	small  Storm
	rows   map[candidate]StormRow // on the small system
	report func(done, total int)
	stage  int
}

const stages = 4 // calls to simulate

func (s *search) simulate(cases []stormCase, trials int) ([]StormRow, error) {
	storm := s.small
	storm.Trials = trials
	if s.report != nil {
		stage := s.stage
		storm.Progress = func(done, total int) {
			s.report((1000*stage+1000*done/total)/stages, 1000)
		}
	}
	s.stage++
	done, err := runStorms(s.ctx, &storm, cases)
	if err != nil {
		return nil, err
	}
	rows := make([]StormRow, len(cases))
	for i, c := range cases {
		rows[i] = newStormRow(c.contender.Name, done[i])
	}
	return rows, nil
}

func (s *search) run(list []candidate) error {
	var cases []stormCase
	var fresh []candidate
	for _, c := range list {
		if _, done := s.rows[c]; done || slices.Contains(fresh, c) {
			continue
		}
		contender, err := ParseContender(c.text())
		if err != nil {
			return err
		}
		fresh = append(fresh, c)
		cases = append(cases, stormCase{s.small, contender})
	}
	rows, err := s.simulate(cases, searchTrials)
	for i, row := range rows {
		s.rows[fresh[i]] = row
	}
	return err
}

// order compares two rows; the better one comes first. If both are equally good, no retry
// is better than retries, and fewer attempts are better than more.
func (s *search) order(a, b *StormRow) int {
	recovery := func(r *StormRow) float64 {
		if r.Never > 0 {
			return 1e9 * (1 + r.Never)
		}
		return math.Round(r.Recovery.Mean)
	}
	// Differences below one call in 2,000 are noise.
	success := func(r *StormRow) float64 { return math.Round(r.Success.Mean * 2000) }
	never := cmp.Compare(a.Never, b.Never)
	bySuccess, byRecovery := cmp.Compare(success(b), success(a)), cmp.Compare(recovery(a), recovery(b))
	if s.goal == RecoveryFirst {
		bySuccess, byRecovery = byRecovery, bySuccess
	}
	retries := func(r *StormRow) int {
		if r.Contender == noRetry {
			return 0
		}
		return 1
	}
	return cmp.Or(never, bySuccess, byRecovery, retries(a)-retries(b),
		cmp.Compare(a.Amplification.Mean, b.Amplification.Mean), strings.Compare(a.Contender, b.Contender))
}

func (s *search) best(n int) []candidate {
	list := make([]candidate, 0, len(s.rows))
	for c := range s.rows {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b candidate) int {
		x, y := s.rows[a], s.rows[b]
		return s.order(&x, &y)
	})
	return list[:min(n, len(list))]
}

// frontier returns the rows that no other row beats in both success and recovery, the
// best for the goal first. If some rows always recovered, it omits those that did not.
func (s *search) frontier(rows []StormRow) []StormRow {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b StormRow) int { return s.order(&a, &b) })
	if rows[0].Never == 0 {
		rows = slices.DeleteFunc(rows, func(r StormRow) bool { return r.Never > 0 })
	}
	var kept []StormRow
	for _, r := range rows {
		dominated := slices.ContainsFunc(kept, func(k StormRow) bool {
			return k.Success.Mean >= r.Success.Mean-0.0005 && k.Recovery.Mean <= r.Recovery.Mean+0.5
		})
		if !dominated {
			kept = append(kept, r)
		}
	}
	return kept
}

func (s *search) verdict(large Storm, scale float64, most int) (Verdict, error) {
	v := Verdict{Storm: large, Scale: scale, Tried: len(s.rows)}
	// The frontier adds the policies that are best for the other goal.
	chosen := s.best(finalists)
	var all []StormRow
	for _, row := range s.rows {
		all = append(all, row)
	}
	var cases []stormCase
	names := map[string]bool{}
	add := func(text string) error {
		c, err := ParseContender(text)
		if err == nil && !names[c.Name] {
			names[c.Name] = true
			cases = append(cases, stormCase{large, c})
		}
		return err
	}
	texts := []string{noRetry}
	for _, c := range chosen {
		texts = append(texts, c.text())
	}
	for _, row := range s.frontier(all) {
		if len(texts) < 1+2*finalists {
			texts = append(texts, row.Contender)
		}
	}
	for _, text := range texts {
		if err := add(text); err != nil {
			return v, err
		}
	}
	rows, err := s.simulate(cases, finalTrials)
	if err != nil {
		return v, err
	}
	front := s.frontier(rows)
	front = front[:min(most, len(front))]
	v.Baseline.Row = rows[0]
	for _, row := range front {
		v.Advised = append(v.Advised, Advised{Row: row})
	}
	return v, s.stress(&v)
}

type change struct {
	name string
	make func(s *Storm)
}

func changes(s *Storm) []change {
	length := s.Outage.To - s.Outage.From
	list := []change{
		{"an outage twice as long", func(s *Storm) { s.Outage.To += length; s.Horizon += length }},
		{"20 % more calls", func(s *Storm) { s.Rate *= 1.2 }},
		{"ten times the processes", func(s *Storm) { s.Processes *= 10 }},
	}
	if s.Outage.Kind != Stall {
		list = append(list, change{"a stall of the same length", func(s *Storm) { s.Outage.Kind = Stall }})
	}
	return list
}

// stress sets Fails and Held of each advised policy.
func (s *search) stress(v *Verdict) error {
	all := append([]Advised{v.Baseline}, v.Advised...)
	list := changes(&s.small)
	var cases []stormCase
	for _, a := range all {
		c, err := ParseContender(a.Row.Contender)
		if err != nil {
			return err
		}
		for _, change := range list {
			storm := s.small
			change.make(&storm)
			cases = append(cases, stormCase{storm, c})
		}
	}
	rows, err := s.simulate(cases, 1)
	if err != nil {
		return err
	}
	for i := range v.Advised {
		a := &v.Advised[i]
		for j, change := range list {
			switch without, with := rows[j], rows[(i+1)*len(list)+j]; {
			case without.Never > 0 && with.Never > 0:
			case fails(with, without):
				a.Fails = append(a.Fails, change.name)
			default:
				a.Held = append(a.Held, change.name)
			}
		}
	}
	return nil
}

// fails reports whether the server does not recover with a policy, or recovers much later
// than without retries.
func fails(with, without StormRow) bool {
	return with.Never > 0 || without.Never == 0 && with.Recovery.Mean > 2*without.Recovery.Mean+10
}

// briefly returns s without most of the time before the outage and without most of the time
// after the queue has drained.
func (s Storm) briefly() Storm {
	early := max(0, s.Outage.From-10*time.Second)
	s.Outage.From -= early
	s.Outage.To -= early
	s.Horizon -= early
	spare := s.Capacity() - s.Rate
	if spare > 0 {
		piled := min(float64(s.Queue), s.Rate*(s.Outage.To-s.Outage.From).Seconds())
		drain := time.Duration(min(3*piled/spare, 1e6) * 1e9)
		s.Horizon = min(s.Horizon, s.Outage.To+drain+3*s.Deadline+20*time.Second)
	}
	return s
}

// scaled returns a smaller system with the same proportions and, if possible, about the
// given number of calls. It first removes workers, and then makes the remaining ones
// slower.
func (s Storm) scaled(calls float64) Storm {
	factor := max(calls/(s.Rate*s.Horizon.Seconds()), 1/float64(s.Processes))
	if factor >= 1 {
		return s
	}
	workers := max(min(s.Workers, 2), int(math.Round(float64(s.Workers)*factor)))
	share := float64(workers) / float64(s.Workers)
	if s.Latency == nil {
		// A slower server acts like a smaller one if an attempt takes a small part of
		// the callers' timeout.
		slower := min(share/factor, max(1, s.Timeout.Seconds()/50/s.Service.Seconds()))
		if slower > 1 {
			s.Service = time.Duration(float64(s.Service) * slower)
			share /= slower
		}
	}
	s.Workers = workers
	s.Rate *= share
	s.Queue = max(1, int(math.Round(float64(s.Queue)*share)))
	s.Processes = max(1, int(math.Round(float64(s.Processes)*share)))
	return s
}

type candidate struct {
	rule      string
	base, cap time.Duration
	attempts  int
	budget    string
}

func (c candidate) text() string {
	if c.attempts == 1 {
		return noRetry
	}
	rule := fmt.Sprintf("%s base=%v cap=%v", c.rule, c.base, c.cap)
	if c.rule == "fibonacci" {
		rule = fmt.Sprintf("jittered(fibonacci base=%v cap=%v) share=1", c.base, c.cap)
	}
	text := fmt.Sprintf("%s attempts=%d", rule, c.attempts)
	if c.budget != "" {
		text += " budget=" + c.budget
	}
	return text
}

// budgets maps each budget in the grid to its neighbors.
var budgets = map[string][]string{
	"":                           nil,
	"throttle":                   {"throttle(maxtokens=20)", "throttle(maxtokens=100)", "throttle(maxtokens=10 tokenratio=0.02)"},
	"token":                      {"token(capacity=100)", "token(capacity=50)", "token(capacity=500 cost=5 timeout=10)"},
	"ratio(ratio=0.1 floor=0.1)": {"ratio(ratio=0.05 floor=0.1)", "ratio(ratio=0.2 floor=0.1)", "ratio(ratio=0.1 floor=1)"},
}

func grid(s *Storm) []candidate {
	list := []candidate{{attempts: 1}}
	names := []string{"", "throttle", "token", "ratio(ratio=0.1 floor=0.1)"}
	for _, base := range bases(s) {
		for _, attempts := range []int{2, 3, 5, 10} {
			for _, budget := range names {
				list = append(list, candidate{"full", base, s.longest(), attempts, budget})
			}
		}
	}
	return list
}

func bases(s *Storm) []time.Duration {
	var list []time.Duration
	for _, base := range []time.Duration{s.Deadline / 200, s.Deadline / 20, s.Deadline / 4} {
		if base = base.Round(time.Millisecond); base > 0 {
			list = append(list, base)
		}
	}
	if list == nil {
		list = []time.Duration{max(1, s.Deadline/4)}
	}
	return list
}

// longest returns the cap in the grid: half the deadline, but at most 20 s.
func (s *Storm) longest() time.Duration { return max(1, min(20*time.Second, s.Deadline/2)) }

func (c candidate) neighbors(s *Storm) []candidate {
	if c.attempts == 1 {
		return nil
	}
	var list []candidate
	add := func(change func(c *candidate)) {
		n := c
		change(&n)
		if n.attempts > 1 && n.base > 0 && n.base <= n.cap && n.base < s.Deadline {
			list = append(list, n)
		}
	}
	add(func(c *candidate) { c.base = (c.base / 2).Round(time.Millisecond) })
	add(func(c *candidate) { c.base *= 2 })
	add(func(c *candidate) { c.cap = max(c.base, s.longest()/4) })
	add(func(c *candidate) { c.rule = "decorrelated" })
	add(func(c *candidate) { c.rule = "fibonacci" })
	add(func(c *candidate) { c.attempts-- })
	add(func(c *candidate) { c.attempts++ })
	add(func(c *candidate) { c.attempts *= 2 })
	for _, budget := range budgets[c.budget] {
		add(func(c *candidate) { c.budget = budget })
	}
	return list
}
