package order

import (
	"net/http"
	"testing"

	"github.com/gobackoff/retry/retrytest/faults"
)

func TestOrder(t *testing.T) {
	faults.Test(t, func(t testing.TB, rt *faults.Transport) {
		shop := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusCreated) })
		server := rt.NewServer(shop) // was httptest.NewServer(shop)
		client := &Client{HTTP: server.Client(), URL: server.URL}
		if err := client.Order(t.Context(), "tea"); err != nil {
			t.Fatal(err)
		}
	})
}
