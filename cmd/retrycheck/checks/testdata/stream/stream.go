package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/gobackoff/retry/retryhttp/apis"
)

func ends(resp *http.Response) (string, error) {
	var answer strings.Builder
	for event, err := range apis.Events(resp, time.Minute) {
		if err != nil {
			break // want `the error of the stream is dropped, so a part of it, or nothing, is taken for the whole: return the error`
		}
		answer.Write(event.Data)
	}
	return answer.String(), nil
}

func returns(resp *http.Response) (string, error) {
	var answer strings.Builder
	for event, err := range apis.Events(resp, time.Minute) {
		if errors.Is(err, context.Canceled) {
			return answer.String(), nil // want `the error of the stream is dropped`
		}
		answer.Write(event.Data)
	}
	for event, err := range apis.Events(resp, time.Minute) {
		if err != nil {
			return answer.String(), nil // want `the error of the stream is dropped`
		}
		answer.Write(event.Data)
	}
	for event, err := range events(resp) { // want `the error of the stream is dropped`
		if err == nil {
			answer.Write(event.Data)
		}
	}
	for event := range events(resp) { // want `the error of the stream is dropped`
		answer.Write(event.Data)
	}
	stream := apis.Events(resp, 0)
	for event, _ := range stream { // want `the error of the stream is dropped`
		answer.Write(event.Data)
	}
	return answer.String(), nil
}

func events(resp *http.Response) iter.Seq2[apis.Event, error] { return apis.Events(resp, 0) }

func prints(resp *http.Response, print func([]byte)) {
	for event, err := range apis.Events(resp, 0) {
		if err != nil {
			return // want `the error of the stream is dropped`
		}
		print(event.Data)
	}
}

func heeds(resp *http.Response, print func([]byte), out chan<- error, failed func()) (*string, error) {
	for event, err := range apis.Events(resp, 0) {
		if err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
		print(event.Data)
	}
	for event, err := range apis.Events(resp, 0) {
		if err != nil {
			return nil, errors.New("no answer")
		}
		print(event.Data)
	}
	broken := false
	for event, err := range apis.Events(resp, 0) {
		if err != nil {
			broken = true
			break
		}
		print(event.Data)
	}
	for event, err := range apis.Events(resp, 0) {
		if err != nil {
			failed()
			break
		}
		print(event.Data)
	}
	for event, err := range apis.Events(resp, 0) {
		out <- err
		print(event.Data)
	}
	var last error
	for event, err := range apis.Events(resp, 0) {
		if err == nil {
			print(event.Data)
		} else {
			last = err
		}
	}
	if broken {
		return nil, last
	}
	return nil, nil
}

func found(resp *http.Response) *string {
	for event, err := range apis.Events(resp, 0) {
		if err != nil {
			return nil // which means that it failed
		}
		if event.Name == "found" {
			return &event.LastID
		}
	}
	return nil
}

type line struct{ data json.RawMessage }

type recorder struct{ last []byte }

func (r *recorder) keeps(resp *http.Response, out chan<- []byte) ([][]byte, error) {
	var lines [][]byte
	var all []line
	var whole []apis.Event
	for event, err := range apis.Events(resp, time.Minute) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, event.Data)            // want `the next event uses the memory of Data again: keep a copy, such as bytes.Clone\(event.Data\)`
		whole = append(whole, event)                 // want `the next event uses the memory of Data again`
		r.last = bytes.TrimSpace(event.Data)         // want `the next event uses the memory of Data again`
		out <- event.Data[1:]                        // want `the next event uses the memory of Data again`
		l := line{data: json.RawMessage(event.Data)} // want `the next event uses the memory of Data again`
		all = append(all, l)
	}
	fmt.Println(all, whole)
	return lines, nil
}

func (r *recorder) copies(resp *http.Response, print func([]byte)) ([]string, []byte, error) {
	var lines []string
	var text []byte
	var all []line
	for event, err := range apis.Events(resp, time.Minute) {
		if err != nil {
			return nil, nil, err
		}
		data := event.Data
		print(bytes.TrimSpace(data))
		lines = append(lines, string(data))
		lines = append(lines, event.Name)
		text = append(text, event.Data...)
		all = append(all, line{data: bytes.Clone(event.Data)})
		if event.Name == "done" {
			r.last = event.Data
			break
		}
	}
	fmt.Println(all)
	return lines, text, nil
}
