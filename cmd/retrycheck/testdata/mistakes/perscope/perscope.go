package perscope

import (
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

var policy = retry.Policy{Budget: &retry.SharedBudget{}}

func run(req *http.Request) error {
	transport := &retryhttp.Transport{Policy: policy}
	transport.PerScope = &retryhttp.PerScope{} // mistake
	client := &http.Client{Transport: transport}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return retryhttp.CheckStatus(resp)
}
