// Package apis reads what well-known HTTP APIs say about retrying in the bodies of their
// responses: waits, used-up quotas, overload within an event stream, and errors with
// status 200. It is separate from package retryhttp so that only programs that use it
// contain it.
//
//	client := &http.Client{Transport: &retryhttp.Transport{Check: apis.Check}}
//
// docs/apis.md in the repository lists responses of OpenAI, Azure OpenAI, Anthropic,
// Gemini, Vertex AI, Bedrock, OpenRouter, Mistral, Cohere, GitHub, GitLab, Stripe, Slack,
// Discord, Shopify, Twilio, Cloudflare, Atlassian, Notion and others, with their sources,
// and how they are classified.
package apis

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// maxBody is the largest part of a body that is read. A longer error is not understood.
const maxBody = 32 << 10

// Check is for the field Check of a [retryhttp.Transport]. It returns an error marked
// with [retry.Throttled], [retry.Transient] or [retry.Permanent] if the body of resp says
// what the failure means, with the wait that the body asks for if no header does, and
// otherwise nil, so that the status decides.
//
// Of a response with a status of 400 or above it reads a body of up to 32 KiB that begins
// like JSON, whatever its Content-Type. Of a response with status 200 it reads the first
// events of a text/event-stream, which delays the response until the first event that
// is not a ping, and a body whose Content-Type ends in json if its first key is error,
// errors, or ok with the value false. Of other bodies it reads at most 24 bytes.
//
// With status 200, the failure must be that of the whole request: a response of GraphQL
// with partial results, or with an error that has a path, is a success. If no retry follows, the caller gets the last
// response without an error, even if its status is 200, and must still read its body.
func Check(resp *http.Response, peek func(n int) ([]byte, error)) error {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";") // its parameters may be many
	kind = strings.ToLower(strings.TrimSpace(kind))
	var body []byte
	var failed bool
	switch {
	case resp.StatusCode == http.StatusOK && kind == "text/event-stream":
		body, failed = firstEvent(peek)
	case resp.StatusCode >= 400 && begins(peek, "{", "["),
		resp.StatusCode == http.StatusOK && strings.HasSuffix(kind, "json") && begins(peek, `{"ok":false`, `{"error"`, `{"errors"`, `[{"error`):
		body, _ = peek(maxBody)
	}
	if len(body) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	// A stream of Google's, or a batch of GraphQL, which may have executed the others.
	if list, ok := value.([]any); ok && (len(list) == 1 || len(list) > 1 && resp.StatusCode != http.StatusOK) {
		value = list[0]
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	if resp.StatusCode == http.StatusOK {
		object = failureIn(object, failed)
	}
	r := report{}
	r.read(object, 0)
	return r.verdict(resp, time.Now())
}

// begins reports whether a body begins with one of prefixes, apart from white space.
func begins(peek func(n int) ([]byte, error), prefixes ...string) bool {
	begin, _ := peek(24)
	text := strings.Join(strings.Fields(string(begin)), "")
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// failureIn returns the part of a body with status 200 that reports the failure of the
// whole request, or nil. If failed is false, object may be a success whose fields have
// the names of those of an error.
func failureIn(object map[string]any, failed bool) map[string]any {
	switch {
	case executed(object):
		return nil
	case failed, object["ok"] == false, object["type"] == "error":
		return object
	}
	extensions, _ := object["extensions"].(map[string]any)
	return map[string]any{"error": object["error"], "errors": object["errors"], "cost": extensions["cost"]}
}

// executed reports whether a response of GraphQL has results, or errors at a path in
// them. Such an error can replace all results by null, even those of executed mutations.
func executed(object map[string]any) bool {
	switch data := object["data"].(type) {
	case nil:
	case map[string]any:
		for _, result := range data {
			if result != nil {
				return true
			}
		}
	default:
		return true
	}
	list, _ := object["errors"].([]any)
	for _, element := range list {
		element, _ := element.(map[string]any)
		if path, _ := element["path"].([]any); len(path) > 0 {
			return true
		}
	}
	return false
}

// firstEvent returns the data of the first event that is not a ping, if it may be an
// error, and whether its name says so.
func firstEvent(peek func(n int) ([]byte, error)) (data []byte, failed bool) {
	name := ""
	for begin, end := 0, 0; end < maxBody; end++ {
		text, err := peek(end + 1)
		if len(text) <= end || err != nil {
			return nil, false
		}
		if text[end] != '\n' {
			continue
		}
		line := strings.TrimRight(string(text[begin:end]), "\r")
		begin = end + 1
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case line == "":
			name = ""
		case field == "event":
			name = value
		case field != "data" || name == "ping" || strings.Contains(value, `"type":"ping"`) || strings.Contains(value, `"type": "ping"`):
		case name == "error" || strings.HasPrefix(value, `{"error"`) || strings.Contains(value, `"type":"error"`) || strings.Contains(value, `"error":{"code"`):
			return []byte(value), name == "error"
		default:
			return nil, false
		}
	}
	return nil, false
}

// A report is what the body of a failure says.
type report struct {
	class   retry.Class // ClassUnknown: nothing
	message string
	wait    time.Duration

	// A quota for a day or longer is used up, according to an identifier or a sentence.
	// A sentence may be about a quota that is renewed continuously, as OpenAI's are.
	daily, saysDaily bool
}

// codes maps the codes, types and reasons of errors to classes. Those that a status
// expresses as well are left out.
var codes = map[string]retry.Class{
	// OpenAI, Azure OpenAI, OpenRouter, Mistral, Cohere
	"insufficient_quota":         retry.ClassPermanent,
	"billing_hard_limit_reached": retry.ClassPermanent,
	"billing_not_active":         retry.ClassPermanent,
	"quota_exceeded":             retry.ClassPermanent,
	"insufficient_credits":       retry.ClassPermanent,
	"rate_limit_exceeded":        retry.ClassThrottled,
	"slow_down":                  retry.ClassThrottled,
	"server_is_overloaded":       retry.ClassThrottled,
	"engine_overloaded":          retry.ClassThrottled,
	"server_error":               retry.ClassTransient,

	"openrouter_in_flight_budget": retry.ClassThrottled,
	// Anthropic
	"rate_limit_error": retry.ClassThrottled,
	"overloaded_error": retry.ClassThrottled,
	"api_error":        retry.ClassTransient,
	"timeout_error":    retry.ClassTransient,

	"enforced_spend_limit_reached": retry.ClassPermanent,
	// Google
	"rateLimitExceeded":     retry.ClassThrottled,
	"userRateLimitExceeded": retry.ClassThrottled,
	"RATE_LIMIT_EXCEEDED":   retry.ClassThrottled,
	"RESOURCE_EXHAUSTED":    retry.ClassThrottled,
	"quotaExceeded":         retry.ClassPermanent,
	"dailyLimitExceeded":    retry.ClassPermanent,
	// AWS
	"ThrottlingException":           retry.ClassThrottled,
	"ThrottledException":            retry.ClassThrottled,
	"TooManyRequestsException":      retry.ClassThrottled,
	"ModelNotReadyException":        retry.ClassTransient,
	"ServiceQuotaExceededException": retry.ClassPermanent,
	// GitHub, Slack, Shopify, Twilio, Notion
	"RATE_LIMIT":             retry.ClassThrottled,
	"RATE_LIMITED":           retry.ClassThrottled,
	"ratelimited":            retry.ClassThrottled,
	"rate_limited":           retry.ClassThrottled,
	"message_limit_exceeded": retry.ClassThrottled,
	"THROTTLED":              retry.ClassThrottled,
	"20429":                  retry.ClassThrottled,
	"service_overload":       retry.ClassThrottled,
}

// codeFields are the fields that contain codes, objectFields those that contain more of
// the error, and waitFields numbers of seconds.
var (
	codeFields   = []string{"code", "type", "status", "reason", "__type", "error", "quota_limit", "quotaId", "error_code", "limit_source"}
	objectFields = []string{"error", "errors", "details", "metadata", "extensions", "violations"}
	waitFields   = []string{"retry_after", "retry_after_seconds", "retryDelay", "retryAfterSeconds"}
)

// read collects what object says; its fields take precedence over those further inside.
func (r *report) read(object map[string]any, depth int) {
	for _, name := range codeFields {
		code := textOf(object[name])
		code = code[strings.LastIndex(code, "#")+1:] // without a namespace of AWS
		if class := codes[code]; class == retry.ClassPermanent || r.class == retry.ClassUnknown {
			r.class = class
		}
		r.readQuota(code)
	}
	for _, name := range waitFields {
		if r.wait == 0 {
			r.wait = wait(textOf(object[name]))
		}
	}
	if text, ok := object["message"].(string); ok && r.message == "" {
		r.message = text
		r.readQuota(text)
		if r.wait == 0 {
			r.wait = waitInText(text)
		}
	}
	if depth > 4 {
		return
	}
	for _, name := range objectFields {
		switch inner := object[name].(type) {
		case map[string]any:
			r.read(inner, depth+1)
		case []any:
			for _, element := range inner {
				if element, ok := element.(map[string]any); ok {
					r.read(element, depth+1)
				}
			}
		}
	}
	if cost, ok := object["cost"].(map[string]any); ok && r.wait == 0 {
		r.wait = shopifyWait(cost)
	}
}

// readQuota looks for a quota of a day or longer in an identifier or a sentence.
func (r *report) readQuota(text string) {
	switch {
	case !isDaily(text):
	case strings.Contains(text, " "):
		r.saysDaily = true
	default:
		r.daily = true
	}
}

// textOf returns a text or number, or "".
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}

// isDaily recognizes quotas such as GenerateRequestsPerDayPerProjectPerModel-FreeTier
// (Gemini), free-models-per-day (OpenRouter) and "1000 API calls / month" (Cohere).
func isDaily(text string) bool {
	text = strings.ToLower(text)
	for _, part := range [...]string{"perday", "per day", "per-day", "permonth", "per month", "per-month", "/ month", "daily limit", "monthly limit"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// wait reads a number of seconds or a duration such as 58s or 6m0s.
func wait(text string) time.Duration {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d
	}
	if d, err := time.ParseDuration(text + "s"); err == nil && d > 0 {
		return d
	}
	return 0
}

// waitInText reads the wait in a message such as "Please try again in 6.3s." or "Please
// retry after 45 seconds."
func waitInText(text string) time.Duration {
	for _, before := range [...]string{"try again in ", "retry in ", "retry after ", "Try again in ", "Retry after "} {
		_, rest, found := strings.Cut(text, before)
		if !found {
			continue
		}
		words := strings.Fields(rest)
		if len(words) == 0 {
			continue
		}
		if len(words) > 1 && strings.HasPrefix(words[1], "minute") {
			return 60 * wait(words[0])
		}
		return wait(strings.TrimRight(words[0], ".,;"))
	}
	return 0
}

// shopifyWait returns the time until the bucket of a GraphQL API of Shopify holds the
// cost of the query.
func shopifyWait(cost map[string]any) time.Duration {
	status, _ := cost["throttleStatus"].(map[string]any)
	seconds := func(value any) float64 { return wait(textOf(value)).Seconds() }
	rate := seconds(status["restoreRate"])
	missing := seconds(cost["requestedQueryCost"]) - seconds(status["currentlyAvailable"])
	if rate <= 0 || missing <= 0 {
		return 0
	}
	return time.Duration(missing / rate * float64(time.Second))
}

// verdict returns the error for Check.
func (r *report) verdict(resp *http.Response, now time.Time) error {
	hint := retryhttp.RetryAfter(resp, now)
	if hint <= 0 {
		hint = r.wait
	}
	class := r.class
	limited := class == retry.ClassThrottled || resp.StatusCode == http.StatusTooManyRequests
	switch {
	case limited && (r.daily || r.saysDaily && hint <= 0):
		class = retry.ClassPermanent
	case class == retry.ClassUnknown && limited && r.wait > 0:
		class = retry.ClassThrottled
	case class == retry.ClassTransient && resp.StatusCode != http.StatusOK: // the status says more
		class = retry.ClassUnknown
	}
	err := errors.New(strings.TrimSpace(r.message + " (reported in the body)"))
	if hint > 0 {
		err = retry.After(err, hint)
	}
	switch class {
	case retry.ClassPermanent:
		return retry.Permanent(err)
	case retry.ClassThrottled:
		return retry.Throttled(err)
	case retry.ClassTransient:
		return retry.Transient(err)
	}
	return nil
}
