// Background in a handler.
package handler

import (
	"context"
	"net/http"

	"github.com/gobackoff/retry"
)

type S struct {
	p    retry.Policy
	load func(context.Context, string) (string, error)
}

func (s *S) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v, err := retry.DoValue(context.Background(), s.p, func(ctx context.Context) (string, error) { // mistake
		return s.load(ctx, r.URL.Path)
	})
	if err != nil {
		http.Error(w, err.Error(), 502)
		return
	}
	w.Write([]byte(v))
}
