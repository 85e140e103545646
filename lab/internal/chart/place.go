package chart

import "math"

// spot is a place in the picture, and box a rectangle of it.
type (
	spot struct{ x, y float64 }
	box  struct{ x0, y0, x1, y1 float64 }
)

func (b box) overlap(o box) float64 {
	w, h := math.Min(b.x1, o.x1)-math.Max(b.x0, o.x0), math.Min(b.y1, o.y1)-math.Max(b.y0, o.y0)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h
}

func (b box) within(o box) bool { return b.x0 >= o.x0 && b.y0 >= o.y0 && b.x1 <= o.x1 && b.y1 <= o.y1 }

// nearest is the spot of b that a leader from s ends at.
func (b box) nearest(s spot) spot {
	return spot{math.Min(math.Max(s.x, b.x0), b.x1), math.Min(math.Max(s.y, b.y0), b.y1)}
}

func around(s spot, r float64) box { return box{s.x - r, s.y - r, s.x + r, s.y + r} }

// labelling looks for places for the labels of points.
type labelling struct {
	at     []spot // the points
	size   []spot // width and height of each label
	frame  box    // where labels may stand
	avoid  []spot // a curve, which a label should leave free
	radius float64
	chosen []box
}

// place gives each label a place beside its point, by turns, until none gains by
// moving. It reports whether no label lies on another or on a point.
func (l *labelling) place() bool {
	l.chosen = make([]box, len(l.at))
	candidates := make([][]box, len(l.at))
	for i := range l.at {
		candidates[i] = l.candidates(i)
		l.chosen[i] = candidates[i][0]
	}
	for range 40 {
		moved := false
		for i, list := range candidates {
			best, cost := l.chosen[i], l.cost(i, l.chosen[i])
			for _, c := range list {
				if other := l.cost(i, c); other < cost-1e-9 {
					best, cost, moved = c, other, true
				}
			}
			l.chosen[i] = best
		}
		if !moved {
			break
		}
	}
	return l.clear()
}

// candidates lists places around a point, the better ones first.
func (l *labelling) candidates(i int) []box {
	var out []box
	w, h := l.size[i].x, l.size[i].y
	for _, far := range []float64{0, 8, 18, 30, 44, 60, 80, 104, 132, 164} {
		r := l.radius + 2 + far
		for k := range 16 {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / 16)
			// The label leans outwards: its near edge is at the distance r.
			c := spot{l.at[i].x + cos*r + clamp(cos*1.6)*w/2, l.at[i].y + sin*r + clamp(sin*1.6)*h/2}
			b := box{c.x - w/2, c.y - h/2, c.x + w/2, c.y + h/2}
			if b.within(l.frame) {
				out = append(out, b)
			}
		}
	}
	if len(out) == 0 { // wider than the frame
		out = []box{{l.at[i].x - w/2, l.at[i].y - h/2, l.at[i].x + w/2, l.at[i].y + h/2}}
	}
	return out
}

func clamp(v float64) float64 { return math.Min(math.Max(v, -1), 1) }

// cost weighs what is wrong with a place: others below or above it are worst,
// then leaders through others, then the way from the point.
func (l *labelling) cost(i int, b box) float64 {
	end := b.nearest(l.at[i])
	cost := 2 * math.Hypot(end.x-l.at[i].x, end.y-l.at[i].y)
	// Beside is where names are read with least doubt, right before left.
	cost += math.Abs((b.y0+b.y1)/2-l.at[i].y) / 5
	if b.x1 < l.at[i].x {
		cost++
	} else if b.x0 < l.at[i].x {
		cost += 4
	}
	for j := range l.at {
		if marker := around(l.at[j], l.radius); b.overlap(marker) > 0 {
			cost += 2000 + b.overlap(marker)
		}
		if j == i {
			continue
		}
		if o := b.overlap(l.chosen[j]); o > 0 {
			cost += 3000 + o
		}
		other := l.chosen[j].nearest(l.at[j])
		if passes(l.at[i], end, l.chosen[j]) || passes(l.at[i], end, around(l.at[j], l.radius-1)) {
			cost += 400
		}
		if passes(l.at[j], other, b) {
			cost += 400
		}
		if crosses(l.at[i], end, l.at[j], other) {
			cost += 200
		}
	}
	for _, s := range l.avoid {
		if b.overlap(around(s, 2)) > 0 {
			return cost + 50
		}
	}
	return cost
}

func (l *labelling) clear() bool {
	for i, b := range l.chosen {
		if !b.within(l.frame) {
			return false
		}
		for j, o := range l.chosen[:i] {
			if b.overlap(o) > 0 || b.overlap(around(l.at[j], l.radius)) > 0 || o.overlap(around(l.at[i], l.radius)) > 0 {
				return false
			}
		}
	}
	return true
}

// passes reports whether a leader goes through a box.
func passes(from, to spot, b box) bool {
	for k := range 9 {
		t := float64(k+1) / 10
		x, y := from.x+t*(to.x-from.x), from.y+t*(to.y-from.y)
		if x > b.x0 && x < b.x1 && y > b.y0 && y < b.y1 {
			return true
		}
	}
	return false
}

func crosses(a, b, c, d spot) bool {
	side := func(p, q, r spot) float64 { return (q.x-p.x)*(r.y-p.y) - (q.y-p.y)*(r.x-p.x) }
	return side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0
}
