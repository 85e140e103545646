package faults_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrytest/faults"
)

func ExampleTest() {
	var t *testing.T // of a test function
	faults.Test(t, func(t testing.TB, rt *faults.Transport) {
		shop := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusCreated) })
		server := rt.NewServer(shop) // was httptest.NewServer(shop)
		client := &http.Client{Transport: &retryhttp.Transport{Base: rt, Policy: retry.Policy{}}}
		resp, err := client.Post(server.URL+"/orders", "text/plain", strings.NewReader("tea"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusCreated {
			t.Fatal(resp.Status)
		}
	})
}

func ExampleAllow() {
	var t *testing.T // of a test function
	test := func(t testing.TB, rt *faults.Transport) {
		// ...
	}
	faults.Test(t, test, faults.Allow("POST_search#*/lost", "a search changes nothing"))
}
