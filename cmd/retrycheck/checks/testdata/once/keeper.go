package once

import (
	"context"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrykeep"
	"golang.org/x/sync/errgroup"
)

type subscriber struct {
	keeper  *retrykeep.Keeper
	keepers map[string]*retrykeep.Keeper
	listen  func(ctx context.Context, topic string, up func()) error
}

func (s *subscriber) session(topic string) func(context.Context, func()) error {
	return func(ctx context.Context, up func()) error { return s.listen(ctx, topic, up) }
}

func (s *subscriber) all(ctx context.Context, topics []string) {
	for _, topic := range topics {
		go s.keeper.Run(ctx, s.session(topic)) // want `s.keeper runs one session at a time, so Run returns an error at once for all but the first: make a Keeper for each session`
	}
}

func grouped(ctx context.Context, s *subscriber, topics []string) error {
	keeper := &retrykeep.Keeper{Policy: retry.Policy{}}
	group, ctx := errgroup.WithContext(ctx)
	for _, topic := range topics {
		group.Go(func() error {
			return keeper.Run(ctx, s.session(topic)) // want `keeper runs one session at a time`
		})
	}
	return group.Wait()
}

func (s *subscriber) two(ctx context.Context) {
	go s.keeper.Run(ctx, s.session("a"))
	go func() {
		_ = s.keeper.Run(ctx, s.session("b")) // want `s.keeper runs one session at a time, and another Run of it is started here`
	}()
}

func (s *subscriber) start(ctx context.Context, topic string) {
	go func() {
		_ = s.keeper.Run(ctx, s.session(topic)) // want `s.keeper runs one session at a time`
	}()
}

func starts(ctx context.Context, s *subscriber, topics []string) {
	for _, topic := range topics {
		s.start(ctx, topic)
	}
}

func (s *subscriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = s.keeper.Run(r.Context(), s.session(r.URL.Path)) // want `s.keeper runs one session at a time`
}

func (s *subscriber) right(ctx context.Context, topics []string) {
	for _, topic := range topics {
		keeper := &retrykeep.Keeper{}
		go keeper.Run(ctx, s.session(topic))
	}
	for _, topic := range topics {
		go s.keepers[topic].Run(ctx, s.session(topic))
	}
	for _, topic := range topics {
		_ = s.keeper.Run(ctx, s.session(topic)) // one after the other
	}
	for name, keeper := range s.keepers {
		go keeper.Run(ctx, s.session(name))
	}
	for _, topic := range topics {
		if topic == "important" {
			go s.keeper.Run(ctx, s.session(topic))
			break
		}
	}
}

func (s *subscriber) either(ctx context.Context, first bool) {
	if first {
		go s.keeper.Run(ctx, s.session("a"))
	} else {
		go s.keeper.Run(ctx, s.session("b"))
	}
}

type feed struct {
	*subscriber
	name string
}

func startAll(ctx context.Context, feeds []*feed) {
	for _, f := range feeds {
		f.begin(ctx)
	}
}

func (f *feed) begin(ctx context.Context) { go f.keeper.Run(ctx, f.session(f.name)) }
