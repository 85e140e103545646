package lab

import (
	"context"
	"testing"
	"time"
)

func BenchmarkStorm(b *testing.B) {
	for _, bb := range []struct {
		name   string
		storm  Storm
		policy string
	}{
		{"collapsed", Storm{Outage: Outage{From: 10 * time.Second, To: 20 * time.Second}}, "full base=100ms cap=20s attempts=4"},
		{"refused", Storm{Outage: Outage{Kind: Down, From: 10 * time.Second, To: 150 * time.Second}}, "full base=100ms cap=20s attempts=4"},
		{"healthy", Storm{Outage: Outage{Kind: BrownOut, Share: 1}}, "full base=100ms cap=20s attempts=4"},
		{"budget", Storm{Outage: Outage{Kind: BrownOut, Share: 1}}, "full base=100ms cap=20s attempts=4 budget=token"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := bb.storm
			s.Horizon, s.Trials, s.Parallel = 200*time.Second, 1, 1
			s.Contenders = mustParse(bb.policy)
			attempts := 0.0
			for b.Loop() {
				result, err := s.Run(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				for _, n := range result[0].Attempts {
					attempts += n
				}
				s.Seed++
			}
			b.ReportMetric(attempts/b.Elapsed().Seconds(), "attempts/s")
		})
	}
}
