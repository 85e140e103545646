package lab

// The search for the policy that suits a system.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gobackoff/retry/admit"
)

// An Advice chooses a policy for a system. It simulates some eighty policies under outages
// of every kind, each on a smaller system with the same proportions, and drops the worse
// ones as the outages become more. The score of a policy is its mean success minus its
// latency times Price. Of the policies that are at most 0.3 points worse than the best and
// whose latency is at most 1.25 times as long, the one nearest to the zero [retry.Policy] is
// advised: the one with the fewest settings that differ from it, and then with the nearest
// number of attempts.
type Advice struct {
	// Storm is the system. Its Contenders and Trials are not used. Its Progress reports the
	// work in thousandths. If its Outage is the zero value, each trial has another outage
	// and Horizon: stall, down, brown-out and partial in turn, from 0.5 to 120 s with all
	// orders of magnitude equally likely, and a Share from 0.1 to 0.9. Otherwise all trials
	// have that outage.
	Storm Storm

	// Price is the share of success that a second of the 99th percentile of the latency is
	// worth. 0 means 0.01, one point for each second.
	Price float64

	// Outages is the number of outages, rounded up, that the finalists go through, from 32
	// to 1000. 0 means 96. With fewer, the search is faster and depends more on chance.
	Outages int
}

// Verdict is the result of an [Advice].
type Verdict struct {
	Policy string // the advised policy, as text

	// Equal lists the other finalists whose score is within half a point, apart from noise
	// of up to another half: it hardly matters which of them is used.
	Equal []string

	// Rows are those of the advised policy, of the References, and of the other finalists,
	// the best first.
	Rows []Assessed

	// Sure is the probability that no finalist is better than the advised policy by half a
	// point or more.
	Sure float64

	// WithGate are the rows of the advised policy and of the zero policy if the server has
	// an admission gate; nil if it has one anyway. Gate reports whether the gate improves
	// the better of them by half a point or more.
	WithGate []Assessed
	Gate     bool

	AllKinds bool    // each trial had another kind and length of outage
	Price    float64 // as in Advice
	Tried    int     // number of policies simulated
	Outages  int     // number of outages that each finalist went through
	Storm    Storm   // the smaller system, with the first outage
}

// Assessed is the result of an [Advice] for one policy. Its summaries are over outages.
type Assessed struct {
	Contender string
	Settings  int     // that differ from those of the zero policy
	Success   Summary // successful share of all calls
	P99       Summary // latency of successful calls, in seconds
	Peak      Summary // maximum attempts in a second / Rate
	Never     float64 // share of the outages after which the server did not recover
	Score     Summary // Success − Price · P99

	// Loss is the score of the advised policy minus that of this one, in the same outages.
	// It is the regret of those who use this one instead.
	Loss Summary
}

// The rounds of the search: the number of policies in each, and the share of the outages
// that it adds, in 24ths. The first round simulates all policies.
var rounds = []struct{ policies, share int }{{0, 2}, {32, 6}, {16, 6}, {12, 10}}

const (
	adviceCalls = 3_000 // wanted in each trial
	same        = 0.001 // policies that differ by no more than a tenth of a point act alike
	tie         = 0.003 // for that much, nobody should have to set anything
	matters     = 0.005 // half a point
	slower      = 1.25  // policies with so many times the latency do not tie
)

// Run runs the search. If ctx ends first, it returns the error of ctx. Other errors name an
// invalid field.
func (a Advice) Run(ctx context.Context) (Verdict, error) {
	a.Price, a.Outages = cmp.Or(a.Price, 0.01), cmp.Or(a.Outages, 96)
	a.Storm.Contenders = nil
	s, err := a.Storm.WithDefaults()
	switch {
	case err != nil:
		return Verdict{}, err
	case !(a.Price > 0 && a.Price <= 1000):
		return Verdict{}, fmt.Errorf("advice: Price: %v is not above 0 and up to 1000", a.Price)
	case a.Outages < 32 || a.Outages > 1000:
		return Verdict{}, fmt.Errorf("advice: Outages: %d is not in 32 to 1000", a.Outages)
	}
	if a.Storm.Outage == (Outage{}) {
		s.Outage = Outage{}
	}
	search := &search{ctx: ctx, price: a.Price, outages: a.Outages, storm: s}
	for rank, text := range grid(&s) {
		c, err := ParseContender(text)
		if err != nil {
			return Verdict{}, err
		}
		search.list = append(search.list, &candidate{Contender: c, settings: settings(text), rank: rank})
	}
	return search.run()
}

type search struct {
	ctx     context.Context
	price   float64
	outages int
	storm   Storm // the described system
	list    []*candidate
	work    int // thousandths done
}

type candidate struct {
	Contender
	settings int
	rank     int          // by nearness to the zero policy
	trials   []StormTrial // by outage
}

func (s *search) run() (Verdict, error) {
	v := Verdict{Price: s.price, Tried: len(s.list), AllKinds: s.storm.Outage == Outage{}}
	for i, round := range rounds {
		if i > 0 {
			s.keep(round.policies)
		}
		outages := (s.outages*round.share/24 + 3) / 4 * 4 // as many of each kind
		if err := s.simulate(s.list, outages, 1000*(i+1)/(len(rounds)+1), nil); err != nil {
			return v, err
		}
		v.Outages += outages
	}
	best, equal := s.choose()
	v.Policy, v.Storm, v.Sure = best.Name, s.trial(0), s.sure(best)
	for _, c := range equal {
		v.Equal = append(v.Equal, c.Name)
	}
	s.list = slices.DeleteFunc(s.list, func(c *candidate) bool { return c == best })
	front := []*candidate{best}
	for _, c := range s.list {
		if c.reference() {
			front = append(front, c)
		}
	}
	for _, c := range append(front, slices.DeleteFunc(s.list, (*candidate).reference)...) {
		v.Rows = append(v.Rows, s.assess(c, best))
	}
	return v, s.gate(&v, best)
}

// keep drops all but the n best policies and the references. A setting counts as much as a
// tenth of a point. Of those that acted alike in enough outages only the nearest to the zero
// policy stays, so that there is room for others.
func (s *search) keep(n int) {
	worth := func(c *candidate) float64 { return s.score(c).Mean - same*float64(c.settings) }
	slices.SortStableFunc(s.list, func(a, b *candidate) int { return cmp.Compare(worth(b), worth(a)) })
	var kept []*candidate
	for _, c := range s.list {
		alike := func(k *candidate) bool {
			loss := s.loss(k, c)
			return len(c.trials) >= 32 && math.Abs(loss.Mean)+2*loss.SE() <= same && c.rank > k.rank
		}
		if c.reference() || len(kept) < n && !slices.ContainsFunc(kept, alike) {
			kept = append(kept, c)
		}
	}
	s.list = kept
}

func (c *candidate) p99() Summary {
	return over(c.trials, func(t *StormTrial) float64 { return t.P99 })
}

func (c *candidate) reference() bool { return c.Name == NoRetry || c.Name == ZeroPolicy }

// simulate adds trials with further outages to each candidate. When it returns, the given
// thousandths of all work are done.
func (s *search) simulate(list []*candidate, outages, until int, gate func() *admit.Gate) error {
	var cases []stormCase
	for _, c := range list {
		for i := range outages {
			storm := s.trial(len(c.trials) + i)
			if gate != nil {
				storm.Gate = gate
			}
			cases = append(cases, stormCase{storm, c.Contender})
		}
	}
	runner := Storm{Trials: 1, Parallel: s.storm.Parallel}
	if s.storm.Progress != nil {
		begin := s.work
		runner.Progress = func(done, total int) { s.storm.Progress(begin+(until-begin)*done/total, 1000) }
	}
	trials, err := runStorms(s.ctx, &runner, cases)
	if err != nil {
		return err
	}
	s.work = until
	for i, c := range list {
		for j := range outages {
			c.trials = append(c.trials, trials[i*outages+j]...)
		}
	}
	return nil
}

func (s *search) points(c *candidate) []float64 {
	values := make([]float64, len(c.trials))
	for i, t := range c.trials {
		values[i] = t.Success - s.price*t.P99
	}
	return values
}

func (s *search) score(c *candidate) Summary { return summarize(s.points(c)) }

// loss returns the score of a minus that of b in each outage.
func (s *search) loss(a, b *candidate) Summary {
	x, y := s.points(a), s.points(b)
	n := min(len(x), len(y))
	for i := range n {
		x[i] -= y[i]
	}
	return summarize(x[:n])
}

// choose returns the nearest to the zero policy of those that tie with the best, and the
// others within half a point of it, apart from noise up to another half.
func (s *search) choose() (best *candidate, equal []*candidate) {
	s.keep(len(s.list)) // sorts
	top := slices.MaxFunc(s.list, func(a, b *candidate) int { return cmp.Compare(s.score(a).Mean, s.score(b).Mean) })
	for _, c := range s.list {
		if s.loss(top, c).Mean <= tie && c.p99().Mean <= slower*top.p99().Mean && (best == nil || c.rank < best.rank) {
			best = c
		}
	}
	for _, c := range s.list {
		if loss := s.loss(best, c); c != best && math.Abs(loss.Mean) <= min(matters+2*loss.SE(), 2*matters) {
			equal = append(equal, c)
		}
	}
	return best, equal
}

func (s *search) sure(best *candidate) float64 {
	sure := 1.0
	for _, c := range s.list {
		if loss := s.loss(c, best); loss.SE() > 0 {
			sure = min(sure, distuv.UnitNormal.CDF((matters-loss.Mean)/loss.SE()))
		}
	}
	return sure
}

func (s *search) assess(c, best *candidate) Assessed {
	a := Assessed{Contender: c.Name, Settings: c.settings, Score: s.score(c), Loss: s.loss(best, c)}
	a.Success = over(c.trials, func(t *StormTrial) float64 { return t.Success })
	a.P99 = c.p99()
	a.Peak = over(c.trials, func(t *StormTrial) float64 { return t.Peak })
	_, a.Never = recoveries(c.trials)
	return a
}

func (s *search) gate(v *Verdict, best *candidate) error {
	if s.storm.Gate != nil {
		return nil
	}
	var list []*candidate
	for _, text := range []string{best.Name, ZeroPolicy} {
		if len(list) == 0 || text != list[0].Name {
			list = append(list, &candidate{Contender: mustParse(text)[0], settings: settings(text)})
		}
	}
	if err := s.simulate(list, v.Outages, 1000, func() *admit.Gate { return new(admit.Gate) }); err != nil {
		return err
	}
	for _, c := range list {
		v.WithGate = append(v.WithGate, s.assess(c, best))
		gain := s.loss(c, best)
		v.Gate = v.Gate || gain.Mean > max(matters, 2*gain.SE())
	}
	return nil
}

// trial returns the system with the i-th outage.
func (s *search) trial(i int) Storm {
	t := s.storm
	t.Trials, t.Progress, t.Seed = 1, nil, derive(t.Seed, uint64(i))
	if t.Outage == (Outage{}) {
		// Multiples of irrational numbers are spread evenly, however many there are. They
		// are the same for all seeds, so that the advice is, too.
		spread := func(step float64) float64 {
			_, part := math.Modf(0.5 + step*float64(i/len(outageNames)))
			return part
		}
		const from = 10 * time.Second
		to := from + time.Duration(0.5e9*math.Pow(240, spread(math.Phi)))
		t.Outage = Outage{OutageKind(i % len(outageNames)), from, to, 0.1 + 0.8*spread(math.Sqrt2)}
		t.Horizon = to + t.settling(60) + t.Deadline
	}
	return t.Scaled(adviceCalls)
}

// settling returns the time after the outage that a trial covers: one and a half times that
// in which the queue drains, but at least that many seconds.
func (s *Storm) settling(least float64) time.Duration {
	piled := min(float64(s.Queue), s.Rate*(s.Outage.To-s.Outage.From).Seconds())
	drain := piled / max(s.Capacity()-s.Rate, 0.01*s.Rate)
	return time.Duration(min(max(least, 1.5*drain), 240) * 1e9)
}

// Scaled returns a smaller system with the same proportions and, if possible, about the
// given number of calls. It first removes workers, and then makes the remaining ones
// slower.
func (s Storm) Scaled(calls float64) Storm {
	factor := max(calls/(s.Rate*s.Horizon.Seconds()), 1/float64(s.Processes))
	if factor >= 1 {
		return s
	}
	workers := max(min(s.Workers, 2), int(math.Round(float64(s.Workers)*factor)))
	share := float64(workers) / float64(s.Workers)
	if s.Latency == nil {
		// A slower server acts like a smaller one if an attempt takes a small part of
		// the callers' timeout.
		slower := min(share/factor, max(1, s.Timeout.Seconds()/20/s.Service.Seconds()))
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

// settings returns the number of settings in a policy's text that the text of the zero
// policy does not contain. A budget with its parameters is one.
func settings(text string) int {
	if text == NoRetry {
		return 1 // the rule does not matter
	}
	text, _, _ = strings.Cut(text, "(")
	n := 0
	for word := range strings.FieldsSeq(text) {
		if !slices.Contains(strings.Fields(ZeroPolicy), word) {
			n++
		}
	}
	return n
}

// grid returns the policies of the first round, those nearest to the zero policy first.
func grid(s *Storm) []string {
	rules := []string{"standard"}
	for _, part := range []time.Duration{100, 20, 5} {
		rules = append(rules, fmt.Sprintf("full base=%v", max(time.Millisecond, (s.Deadline/part).Round(time.Millisecond))))
	}
	var list []string
	for _, attempts := range []int{3, 2, 1, 5, 10} {
		if attempts == 1 {
			list = append(list, NoRetry)
			continue
		}
		for _, budget := range []string{"", " budget=shared", " budget=shared(reserve=1)", " budget=shared(reserve=2)", " budget=shared(reserve=20)"} {
			for _, rule := range rules {
				list = append(list, fmt.Sprintf("%s attempts=%d%s", rule, attempts, budget))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return settings(a) - settings(b) })
	return list
}
