// Package driver runs the cases from standard input with one SDK, and writes the observations
// to standard output, as described in conformance/PROTOCOL.md.
package driver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
)

type input struct {
	Endpoint string `json:"endpoint"`
	Mode     string `json:"mode"`
	Cases    []Case `json:"cases"`
}

// A Case is the lifetime of one client.
type Case struct {
	Name        string            `json:"name"`
	Service     string            `json:"service"`
	Operation   string            `json:"operation"`
	Endpoint    string            `json:"endpoint"` // never empty
	MaxAttempts int               `json:"max_attempts"`
	Random      []float64         `json:"random"`
	RandomThen  float64           `json:"random_then"`
	Quota       *uint             `json:"quota"`
	Calls       []json.RawMessage `json:"calls"`
	Setting     string            `json:"setting"` // code of docs/reference/aws.md, or ""
}

// A Client is an SDK's client for one case.
type Client struct {
	Call   func() error
	Delays func() []int64 // since the last call of Delays, in ns
	Quota  func() uint    // nil: the client has no quota
}

type output struct {
	SDK     string       `json:"sdk"`
	Modules []string     `json:"modules"`
	Unit    string       `json:"unit"`
	Cases   []caseResult `json:"cases"`
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
	Quota    *uint   `json:"quota"`
}

// Run runs all cases. open makes the client of a case in a mode such as
// aws-go-v2-adaptive-2.1.
func Run(sdk string, open func(mode string, c Case) (Client, error)) {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		log.Fatal(err)
	}
	out := output{SDK: sdk, Modules: modules(), Unit: "ns"}
	for _, c := range in.Cases {
		if c.Endpoint == "" {
			c.Endpoint = in.Endpoint
		}
		client, err := open(in.Mode, c)
		if err != nil {
			log.Fatalf("%s: %v", c.Name, err)
		}
		result := caseResult{Name: c.Name}
		for _, call := range c.Calls {
			r, err := play(in.Endpoint, client, call)
			if err != nil {
				log.Fatalf("%s: %v", c.Name, err)
			}
			result.Calls = append(result.Calls, r)
		}
		out.Cases = append(out.Cases, result)
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		log.Fatal(err)
	}
}

// modules returns the modules of AWS in this program.
func modules() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var list []string
	for _, m := range info.Deps {
		if strings.HasPrefix(m.Path, "github.com/aws/") && !strings.Contains(m.Path, "/internal/") {
			list = append(list, strings.TrimPrefix(m.Path, "github.com/aws/")+" "+m.Version)
		}
	}
	return list
}

func play(endpoint string, c Client, script []byte) (callResult, error) {
	if _, err := send(http.MethodPut, endpoint, script); err != nil {
		return callResult{}, err
	}
	c.Delays()
	callErr := c.Call()
	body, err := send(http.MethodGet, endpoint, nil)
	if err != nil {
		return callResult{}, err
	}
	var played struct{ Requests int }
	if err := json.Unmarshal(body, &played); err != nil {
		return callResult{}, err
	}
	result := callResult{Attempts: played.Requests, Delays: c.Delays(), OK: callErr == nil}
	if callErr != nil {
		result.Error = callErr.Error()
	}
	if c.Quota != nil {
		result.Quota = new(c.Quota())
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

// Numbers returns a function that returns the elements of list in order and, once they are
// used up, always the value of then.
func Numbers(list []float64, then float64) func() float64 {
	return func() float64 {
		if len(list) == 0 {
			return then
		}
		u := list[0]
		list = list[1:]
		return u
	}
}

// CopyBody returns the request with a copy of its body. An SDK closes the body when the
// response arrives; if net/http were still using that body, it would break the connection
// while the response is being read.
func CopyBody(request *http.Request) (*http.Request, error) {
	if request.Body == nil {
		return request, nil
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Body = io.NopCloser(bytes.NewReader(body))
	return request, nil
}
