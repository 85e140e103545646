package response

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

func inSwitch(resp *http.Response) error {
	switch {
	case resp.StatusCode >= 500:
		return errors.New(resp.Status)
	case resp.StatusCode >= 400:
		return retry.Permanent(errors.New(resp.Status)) // want `this is true of every status from 400 to 499, so a 429 and a 408 are never retried: return the error of retryhttp.CheckStatus, or mark only what no retry mends, such as 404`
	}
	return nil
}

func byHundred(resp *http.Response) error {
	switch resp.StatusCode / 100 {
	case 2, 3:
		return nil
	case 4:
		return retry.Permanent(errors.New(resp.Status)) // want `this is true of every status from 400 to 499`
	}
	return errors.New(resp.Status)
}

func below(resp *http.Response) error {
	code := resp.StatusCode
	if code == http.StatusOK {
		return nil
	}
	err := fmt.Errorf("status %d", code)
	if code < http.StatusInternalServerError {
		err = retry.Permanent(err) // want `this is true of every status from 400 to 499`
	}
	return err
}

func checkedBefore(resp *http.Response) error {
	err := retryhttp.CheckStatus(resp)
	if err != nil && (resp.StatusCode >= 400 && resp.StatusCode <= 499) {
		return retry.Permanent(err) // want `this is true of every status from 400 to 499`
	}
	return err
}

func otherwise(resp *http.Response) error {
	if resp.StatusCode < 400 {
		return nil
	} else if resp.StatusCode >= 500 {
		return errors.New(resp.Status)
	} else {
		return retry.Permanent(errors.New(resp.Status)) // want `this is true of every status from 400 to 499`
	}
}

func treated(resp *http.Response) error {
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout {
		return retry.Throttled(errors.New(resp.Status))
	}
	if resp.StatusCode >= 400 && resp.StatusCode < 500 {
		return retry.Permanent(errors.New(resp.Status))
	}
	return nil
}

func treatedInSwitch(resp *http.Response) error {
	switch {
	case resp.StatusCode == 408, resp.StatusCode == 429, resp.StatusCode >= 500:
		return errors.New(resp.Status)
	case resp.StatusCode >= 400:
		return retry.Permanent(errors.New(resp.Status))
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return errors.New(resp.Status)
	default:
		return retry.Permanent(errors.New(resp.Status))
	}
}

func isThrottled(resp *http.Response) bool { return resp.StatusCode == 429 || resp.StatusCode == 403 }

func treatedElsewhere(resp *http.Response) error {
	if isThrottled(resp) {
		return errors.New(resp.Status)
	}
	if resp.StatusCode/100 == 4 {
		return retry.Permanent(errors.New(resp.Status))
	}
	return nil
}

func except(resp *http.Response) error {
	if resp.StatusCode/100 == 4 && resp.StatusCode != 429 {
		return retry.Permanent(errors.New(resp.Status))
	}
	if resp.StatusCode >= 400 && resp.StatusCode < 500 && resp.Header.Get("Retry-After") == "" {
		return retry.Permanent(errors.New(resp.Status))
	}
	if resp.StatusCode == 404 || resp.StatusCode == 410 {
		return retry.Permanent(errors.New(resp.Status))
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return retry.Permanent(errors.New(resp.Status))
	}
	return nil
}

func asked(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return retry.Permanent(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return retryhttp.CheckStatus(resp)
}

type apiError struct{ Status int }

func (e *apiError) Error() string { return http.StatusText(e.Status) }

func (e *apiError) NonRetryable() bool { return e.Status/100 == 4 } // want `this makes a failure of every status from 400 to 499, so a 429 and a 408 are never retried: treat them like a 503`

type otherError struct{ StatusCode int }

func (e otherError) Error() string { return http.StatusText(e.StatusCode) }

func (e otherError) Retryable() bool { return e.StatusCode >= 500 } // want `this makes a failure of every status from 400 to 499`

type carefulError struct{ StatusCode int }

func (e carefulError) Error() string { return http.StatusText(e.StatusCode) }

func (e carefulError) Retryable() bool { return e.StatusCode >= 500 || e.StatusCode == 429 }

func classify(err error) retry.Verdict {
	e, ok := errors.AsType[*apiError](err)
	if ok && e.Status >= 400 && e.Status < 500 {
		return retry.Verdict{Class: retry.ClassPermanent} // want `this is true of every status from 400 to 499, so a 429 and a 408 are never retried: leave them to retry.DefaultClassifier, or name those that no retry mends`
	}
	return retry.Verdict{}
}

func classifyRight(err error) retry.Verdict {
	e, ok := errors.AsType[*apiError](err)
	if ok {
		switch {
		case e.Status == 429:
			return retry.Verdict{Class: retry.ClassThrottled}
		case e.Status < 500:
			return retry.Verdict{Class: retry.ClassPermanent}
		}
	}
	return retry.Verdict{}
}

func isClientError(code int) bool { return code >= 400 && code < 500 }

func byFunction(resp *http.Response) error {
	if isClientError(resp.StatusCode) {
		return retry.Permanent(errors.New(resp.Status)) // want `this is true of every status from 400 to 499`
	}
	return marked(resp.StatusCode, errors.New(resp.Status))
}

func marked(code int, err error) error {
	if code < 500 {
		return retry.Permanent(err) // want `this is true of every status from 400 to 499`
	}
	return err
}

var codes = retry.Policy{Classifier: retry.Codes{Stop: []string{"4xx"}}} // want `4xx contains 429 and 408, which are then never retried: list those that no retry mends`

var few = retry.Policy{Classifier: retry.Codes{Retry: []string{"5xx"}, Stop: []string{"404", "410"}}}
