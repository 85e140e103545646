package lab

import (
	"fmt"
	"math"
	"testing"
)

func TestTmp(t *testing.T) {
	cells, err := Contention{Clients: []int{10, 100, 190}, Trials: 4000}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		fmt.Printf("%-30s %4d calls %.2f±%.2f time %.1f±%.1f\n", c.Contender, c.Clients, c.Calls.Mean, c.Calls.SE(), c.Time.Mean, c.Time.SE())
	}
	_ = math.Pi
}

func BenchmarkTmp(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000, 100000} {
		for _, mode := range []string{"buckets", "heap"} {
			b.Run(fmt.Sprint(mode, "/", n), func(b *testing.B) {
				c := Contention{Clients: []int{n}, Trials: 1, Contenders: Blog()[3:4]}.withDefaults()
				plan := c.plan()
				var m model
				calls := int64(0)
				for b.Loop() {
					plan[0].trial++
					m.setUp(&c, plan[0].cell, plan[0].trial)
					if mode == "heap" {
						m.byHeap(b.Context(), n, 0)
					} else if !m.byBuckets(b.Context(), n, 0) {
						b.Fatal("irregular")
					}
					calls += m.calls
				}
				b.ReportMetric(float64(calls)/b.Elapsed().Seconds()/1e6, "Mcalls/s")
			})
		}
	}
}

func BenchmarkGrid(b *testing.B) {
	var ns []int
	for n := 10; n <= 190; n += 10 {
		ns = append(ns, n)
	}
	for _, only := range []int{-1, 0, 1, 2, 3, 4} {
		name := "all"
		cs := Blog()
		if only >= 0 {
			cs = cs[only : only+1]
			name = cs[0].Name
		}
		b.Run(name, func(b *testing.B) {
			calls := 0.0
			for b.Loop() {
				cells, _ := Contention{Clients: ns, Contenders: cs, Trials: 20, Workers: 1}.Run(b.Context())
				for _, c := range cells {
					calls += c.Calls.Mean * 20
				}
			}
			b.ReportMetric(calls/b.Elapsed().Seconds()/1e6, "Mcalls/s")
		})
	}
}
