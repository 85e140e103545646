package apis_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retryhttp/apis"
)

const (
	begun    = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\n"
	hello    = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"Hello\"}}\n\n"
	overload = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	stopped  = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

// A stream that reports an overload before its first output is requested again. Throttling
// means that the request was not processed, so a POST is repeated, too.
func ExampleCheck() {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if requests++; requests == 1 {
			fmt.Fprint(w, begun, overload)
			return
		}
		fmt.Fprint(w, begun, hello, stopped)
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
	fmt.Println(requests, "requests;", strings.Count(string(stream), "event:"), "events")
	// Output:
	// 2 requests; 3 events
}

// An API answers 200 and reports in a field of its own that it is busy. With a row that says
// so, the request is sent again.
func ExampleWith() {
	table, err := apis.With(apis.Row{
		Path:   "state.code",
		Value:  "BUSY",
		Means:  apis.Throttled,
		Source: "https://api.example/docs/states",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		requests++
		if requests == 1 {
			fmt.Fprint(w, `{"state": {"code": "BUSY"}}`)
			return
		}
		fmt.Fprint(w, `{"state": {"code": "OK"}}`)
	}))
	defer server.Close()

	client := &http.Client{Transport: &retryhttp.Transport{Check: table.Check}}
	resp, err := client.Post(server.URL, "application/json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(requests, "requests:", string(body))
	// Output:
	// 2 requests: {"state": {"code": "OK"}}
}

// The error of a stream that breaks says whether the caller has got output.
func ExampleEvents() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, begun, hello, overload)
	}))
	defer server.Close()

	client := &http.Client{Transport: &retryhttp.Transport{Check: apis.CheckWithin(10 * time.Minute)}}
	resp, err := client.Post(server.URL, "application/json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range apis.Events(resp, time.Minute) {
		if broken, ok := errors.AsType[*apis.BrokenError](err); ok {
			fmt.Println("output:", broken.Output)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.Name)
	}
	// Output:
	// message_start
	// content_block_delta
	// output: true
	// the stream broke after its first output: Overloaded (reported in the body)
}
