// Command go runs the cases from standard input with the AWS SDK for Go v2 and writes
// the observations to standard output, as described in conformance/PROTOCOL.md.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

type input struct {
	Endpoint string     `json:"endpoint"`
	Preset   string     `json:"preset"`
	Cases    []testCase `json:"cases"`
}

type testCase struct {
	Name        string            `json:"name"`
	Service     string            `json:"service"`
	Operation   string            `json:"operation"`
	Endpoint    string            `json:"endpoint"`
	MaxAttempts int               `json:"max_attempts"`
	Random      []float64         `json:"random"`
	RandomThen  float64           `json:"random_then"`
	Quota       *uint             `json:"quota"`
	Calls       []json.RawMessage `json:"calls"`
}

type output struct {
	SDK   string       `json:"sdk"`
	Unit  string       `json:"unit"`
	Cases []caseResult `json:"cases"`
}

type caseResult struct {
	Name  string       `json:"name"`
	Calls []callResult `json:"calls"`
}

type callResult struct {
	Attempts int     `json:"attempts"`
	Delays   []int64 `json:"delays"`
	OK       bool    `json:"ok"`
	Error    string  `json:"error"`
	Quota    uint    `json:"quota"`
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		log.Fatal(err)
	}
	setFlag(strings.HasSuffix(in.Preset, "-2026"))
	out := output{SDK: "aws-sdk-go-v2 " + aws.SDKVersion, Unit: "ns"}
	for _, c := range in.Cases {
		result, err := play(in, c)
		if err != nil {
			log.Fatalf("%s: %v", c.Name, err)
		}
		out.Cases = append(out.Cases, result)
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		log.Fatal(err)
	}
}

func play(in input, c testCase) (caseResult, error) {
	result := caseResult{Name: c.Name}
	client, err := newClient(in, c)
	if err != nil {
		return result, err
	}
	for _, call := range c.Calls {
		r, err := playCall(in.Endpoint, client, call)
		if err != nil {
			return result, err
		}
		result.Calls = append(result.Calls, r)
	}
	return result, nil
}

// setFlag switches the behavior of 2026 on or off where a variable still decides: in the
// SDK's core until v1.47.8, and in service modules from before 10 November 2026, even
// with a newer core.
func setFlag(on bool) {
	os.Unsetenv("AWS_NEW_RETRIES_2026")
	if on {
		os.Setenv("AWS_NEW_RETRIES_2026", "true")
	}
}

func playCall(endpoint string, c client, script []byte) (callResult, error) {
	if _, err := send(http.MethodPut, endpoint, script); err != nil {
		return callResult{}, err
	}
	c.recorder.start()
	callErr := c.call(context.Background())
	body, err := send(http.MethodGet, endpoint, nil)
	if err != nil {
		return callResult{}, err
	}
	var played struct{ Requests int }
	if err := json.Unmarshal(body, &played); err != nil {
		return callResult{}, err
	}
	result := callResult{
		Attempts: played.Requests,
		Delays:   c.recorder.delays,
		OK:       callErr == nil,
		Quota:    c.quota.Remaining(),
	}
	if callErr != nil {
		result.Error = callErr.Error()
	}
	return result, nil
}

func send(method, endpoint string, script []byte) ([]byte, error) {
	request, err := http.NewRequest(method, endpoint+"/__script", bytes.NewReader(script))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("the server refused the script: %s", response.Status)
	}
	return body, err
}
