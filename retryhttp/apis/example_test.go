package apis_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/apis"
)

// An event stream that begins with an overload is requested again.
func ExampleCheck() {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if requests++; requests == 1 {
			fmt.Fprint(w, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n")
			return
		}
		fmt.Fprint(w, "event: message_start\ndata: {}\n\n")
	}))
	defer server.Close()

	client := &http.Client{Transport: &retryhttp.Transport{Check: apis.Check}}
	resp, err := client.Post(server.URL, "application/json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	stream, _ := io.ReadAll(resp.Body)
	fmt.Printf("%d requests\n%s", requests, stream)
	// Output:
	// 2 requests
	// event: message_start
	// data: {}
}
