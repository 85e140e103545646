package lab

// The budgets of other systems, with which the ones of package retry are compared.

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

// ThrottleBudget is a [retry.Budget] modeled on gRPC's retry throttling (proposal A6), like that of
// package retrygrpc, for comparison. A failure that could be retried takes one token, and is
// retried only if more than half of the tokens are left.
type ThrottleBudget struct {
	MaxTokens  float64 // maximum and initial tokens; 0: 10
	TokenRatio float64 // tokens returned by a success; 0: 0.1

	missing atomic.Int64 // thousandths below MaxTokens
}

// TryWithdraw implements [retry.Budget].
func (b *ThrottleBudget) TryWithdraw(retry.Attempt) bool {
	full := b.full()
	missing := b.add(1000, full)
	return full-missing > full/2
}

// Deposit implements [retry.Budget].
func (b *ThrottleBudget) Deposit(_ retry.Attempt, err error) {
	ratio := b.TokenRatio
	if ratio == 0 {
		ratio = 0.1
	}
	if err == nil {
		b.add(-thousandths(ratio), b.full())
	}
}

// Balance returns the tokens that are left.
func (b *ThrottleBudget) Balance() float64 { return float64(b.full()-b.missing.Load()) / 1000 }

func (b *ThrottleBudget) full() int64 {
	if b.MaxTokens == 0 {
		return 10_000
	}
	return thousandths(b.MaxTokens)
}

// add adds delta to missing, within [0, full], and returns the result.
func (b *ThrottleBudget) add(delta, full int64) int64 {
	for {
		missing := b.missing.Load()
		after := min(max(0, missing+delta), full)
		if after == missing || b.missing.CompareAndSwap(missing, after) {
			return after
		}
	}
}

// RatioBudget is a [retry.Budget] that allows retries in proportion to recent calls, and a few
// per second besides, for comparison. It is modeled on Finagle's RetryBudget, defaults
// included.
type RatioBudget struct {
	Ratio  float64       // retries per call; 0: 0.2; below 0: none
	Floor  float64       // additional retries per second; 0: 10; below 0: none
	Window time.Duration // how far back calls and retries count; 0 or less: 10 s
	Clock  retry.Clock   // nil: the system clock

	mu    sync.Mutex
	start time.Time         // of the first slot
	slot  int64             // the current one; it never decreases
	slots [ratioSlots]int64 // thousandths of a retry: what the calls of a slot allow, less its retries
}

// ratioSlots make a window.
const ratioSlots = 10

// TryWithdraw implements [retry.Budget].
func (b *RatioBudget) TryWithdraw(a retry.Attempt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	current := b.current()
	if a.Number == 1 {
		b.count(current)
	}
	if b.sum() < 1000 {
		return false
	}
	*current -= 1000
	return true
}

// Deposit implements [retry.Budget].
func (b *RatioBudget) Deposit(paid retry.Attempt, _ error) {
	if paid.Number == 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.count(b.current())
	}
}

// Balance returns the retries that are allowed now.
func (b *RatioBudget) Balance() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current()
	return float64(max(0, b.sum())) / 1000
}

// count adds a call to a slot.
func (b *RatioBudget) count(slot *int64) {
	ratio := int64(200)
	if b.Ratio != 0 {
		ratio = thousandths(b.Ratio)
	}
	*slot = min(*slot+ratio, mostTokens)
}

func (b *RatioBudget) window() time.Duration {
	if b.Window <= 0 {
		return 10 * time.Second
	}
	return b.Window
}

// current returns the current slot and empties those that are a window old.
func (b *RatioBudget) current() *int64 {
	now := time.Now()
	if b.Clock != nil {
		now = b.Clock.Now()
	}
	if b.start.IsZero() {
		b.start = now
	}
	slot := int64(now.Sub(b.start) / max(1, b.window()/ratioSlots))
	for passed := min(slot-b.slot, ratioSlots); passed > 0; passed-- {
		b.slots[(slot-passed+1)%ratioSlots] = 0
	}
	b.slot = max(b.slot, slot)
	return &b.slots[b.slot%ratioSlots]
}

// sum returns the balance of the window, including the floor.
func (b *RatioBudget) sum() int64 {
	floor := b.Floor
	if floor == 0 {
		floor = 10
	}
	total := thousandths(floor * b.window().Seconds())
	for _, balance := range b.slots {
		total += balance
	}
	return total
}

const mostTokens = 1 << 50 // in thousandths; a window of such slots does not overflow

// thousandths maps NaN and negative numbers to 0.
func thousandths(tokens float64) int64 {
	if math.IsNaN(tokens) {
		return 0
	}
	return int64(math.Round(min(max(0, tokens*1000), mostTokens)))
}

// A namedBudget is one of a text such as ratio(ratio=0.1).
type namedBudget struct {
	text string
	make func() retry.Budget
}

var budgetPattern = regexp.MustCompile(`(^|[ ,;])budget=(token|throttle|ratio)(\(([^()]*)\))?`)

// cutBudget returns text without its last key budget, and that budget, or nil if the budget
// is none of those that only the lab has.
func cutBudget(text string) (string, *namedBudget, error) {
	found := budgetPattern.FindStringSubmatchIndex(text)
	if found == nil {
		return text, nil, nil
	}
	name, settings := text[found[4]:found[5]], ""
	if found[8] >= 0 {
		settings = text[found[8]:found[9]]
	}
	rest := text[:found[0]] + " " + text[found[1]:]
	if strings.Contains(rest, "budget=") {
		return "", nil, fmt.Errorf(`key "budget" is given twice`)
	}
	budget, err := budgetNamed(name, settings)
	return rest, budget, err
}

// budgetKeys are the keys of each budget, in the order in which they are printed.
var budgetKeys = map[string][]string{
	"token":    {"capacity", "cost", "timeout", "throttled", "success"},
	"throttle": {"maxtokens", "tokenratio"},
	"ratio":    {"ratio", "floor"},
}

func budgetNamed(name, settings string) (*namedBudget, error) {
	keys := budgetKeys[name]
	given := map[string]float64{}
	words := strings.FieldsFunc(settings, func(r rune) bool { return strings.ContainsRune(" ,;", r) })
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case !slices.Contains(keys, key):
			return nil, fmt.Errorf("budget=%s: unknown key %q; valid: %s", name, key, strings.Join(keys, ", "))
		case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
			return nil, fmt.Errorf("budget=%s: %s is not a number", name, word)
		case n == 0 && key != "throttled":
			return nil, fmt.Errorf("budget=%s: %s would mean the default; omit it", name, word)
		case n < 0 && key != "floor" && key != "success":
			return nil, fmt.Errorf("budget=%s: %s is negative", name, word)
		}
		given[key] = n
	}
	var texts []string
	for _, key := range keys {
		if n, ok := given[key]; ok {
			texts = append(texts, key+"="+strconv.FormatFloat(n, 'g', -1, 64))
		}
	}
	b := &namedBudget{text: name}
	if texts != nil {
		b.text += "(" + strings.Join(texts, " ") + ")"
	}
	switch name {
	case "token":
		costs := awspreset.Standard21.Policy("").Budget.(*awspreset.TokenBudget).Costs
		if cost, ok := given["cost"]; ok {
			costs = awspreset.TokenCosts{Transient: cost, Timeout: cost, Throttled: cost}
		}
		costs.Timeout = cmp.Or(given["timeout"], costs.Timeout)
		if throttled, ok := given["throttled"]; ok {
			costs.Throttled = throttled
		}
		b.make = func() retry.Budget {
			return &awspreset.TokenBudget{Capacity: given["capacity"], Costs: costs, Success: given["success"]}
		}
	case "throttle":
		b.make = func() retry.Budget {
			return &ThrottleBudget{MaxTokens: given["maxtokens"], TokenRatio: given["tokenratio"]}
		}
	case "ratio":
		b.make = func() retry.Budget { return &RatioBudget{Ratio: given["ratio"], Floor: given["floor"]} }
	}
	return b, nil
}
