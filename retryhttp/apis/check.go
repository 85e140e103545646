// Package apis reads what well-known HTTP APIs say about retrying in the bodies of their
// responses: waits, used-up quotas, and errors with status 200. It also reads streams, such
// as those of language models, and finds failures before and after their first output. It is
// separate from package retryhttp so that only programs that use it contain it.
//
//	client := &http.Client{Transport: &retryhttp.Transport{Check: apis.Check}}
//
// docs/reference/apis.md in the repository lists responses of seventy APIs, with their sources,
// and how they are classified. [With] adds what an API of your own says.
package apis

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/internal/errfacts"
	"github.com/gobackoff/retry/retryhttp"
)

const (
	maxBody  = 32 << 10  // bytes of a body that are read, unless it is a stream; a longer error is not understood
	maxShort = 1 << 10   // bytes of a body with status 200 that is read whatever its first key is
	maxRPC   = 128       // bytes before the error in a response of JSON-RPC
	maxText  = 1 << 10   // bytes of a text that are searched
	maxDepth = 5         // objects within one another
	longest  = time.Hour // wait for a retry, after which nobody expects a response any more
)

// Check is for the field Check of a [retryhttp.Transport]. If resp says what a failure means,
// Check returns an error marked with [retry.Throttled], [retry.Transient] or [retry.Permanent].
// The error has the wait that the headers or the body of resp ask for. Otherwise, Check returns
// nil, so that the status decides. If a limit is reached, a wait of more than an hour is permanent.
//
// Check reads up to 32 KiB of these bodies:
//
//   - With a status of 400 or above, a body that begins like JSON, is XML or is text/plain.
//   - With status 200, a body whose Content-Type ends in json, if its first key and the value of it
//     are those of a failure, such as error, error_code, or ok with the value false.
//   - With status 200, any other body of JSON whose Content-Length is at most 1 KiB, because it may
//     have a value that means a failure of one vendor.
//   - With status 200, an XML document whose root is Error.
//
// Of other bodies it reads at most 24 bytes, or 128 of a response of JSON-RPC or XML, apart from
// white space.
//
// The stream that answers a POST, of server-sent events or JSON lines, is read up to the
// first event with output, or 2 MiB. An error event before it, a lost connection and the end
// of the stream are failures of the attempt, because nobody has seen anything yet: the
// request is repeated if the Transport may repeat it. An event of a language model that only
// announces an answer is not output. An unknown event counts as output. See
// [CheckWithin] for a limit of time, and [Events] for what comes after the first output.
//
// With status 200, the failure must be that of the whole request: a response of GraphQL
// with partial results, or with an error that has a path, is a success. So is an object with
// an error and an id of its own, such as a job that has failed. If no retry
// follows, the caller gets the last response without an error and must read its body.
//
// What Check knows is a table. [With] adds rows to it.
func Check(resp *http.Response, peek func(n int) ([]byte, error)) error {
	return builtin().check(resp, peek, 0)
}

// Check is like the function [Check], with the rows of t.
func (t *Table) Check(resp *http.Response, peek func(n int) ([]byte, error)) error {
	return t.rules().check(resp, peek, 0)
}

func (x *index) check(resp *http.Response, peek func(n int) ([]byte, error), silence time.Duration) error {
	kind := kindOf(resp)
	stream, byLine := isStream(kind)
	if stream && resp.StatusCode == http.StatusOK {
		if resp.Request != nil && resp.Request.Method != http.MethodPost {
			return nil
		}
		return x.newReport(resp).firstOutput(resp, peek, byLine, silence)
	}
	ok := resp.StatusCode == http.StatusOK
	body, marked := x.read(resp, kind, peek)
	rule := x.inBody(resp, body, marked, false)
	if ok && rule == nil || !ok && resp.StatusCode < 400 {
		return nil
	}
	value := decoded(body)
	// A stream of Google's, or a batch of GraphQL, which may have executed the others.
	if list, isList := value.([]any); isList && (len(list) == 1 || len(list) > 1 && !ok) {
		value = list[0]
	}
	object, _ := value.(map[string]any)
	if ok && isStored(object) {
		rule = x.inBody(resp, body, marked, true)
	}
	switch {
	case ok && (rule == nil || object == nil), rule != nil && rule.Means == Ordinary:
		return nil
	case value == nil:
		rule = nil // it is no JSON
	case ok && rule.yields && failureIn(object) == nil:
		return nil
	case ok && (rule.Means == envelope || rule.Means == erred):
		object = failureIn(object)
	}
	r := x.newReport(resp)
	r.rule = rule
	switch {
	case kind != "text/plain":
	case value == nil:
		r.readText(string(body))
	default:
		r.readText(textOf(value))
	}
	r.read(object, 0)
	return r.verdict(resp)
}

// read returns the body of a response, if it may say something, and reports whether the status
// or the first key marks it as a failure. XML is returned as JSON.
func (x *index) read(resp *http.Response, kind string, peek func(n int) ([]byte, error)) (body []byte, marked bool) {
	isXML := strings.HasSuffix(kind, "xml")
	wanted := false
	switch {
	case resp.StatusCode >= 400:
		marked = isXML && begins(peek, "<") || begins(peek, "{", "[") || kind == "text/plain"
	case resp.StatusCode != http.StatusOK:
	case isXML:
		marked = xmlFails(peek)
		wanted = x.reads(resp)
	case strings.HasSuffix(kind, "json"):
		marked = x.mayFail(resp, peek)
		wanted = x.reads(resp) || 0 < resp.ContentLength && resp.ContentLength <= maxShort
	}
	if !marked && !wanted {
		return nil, false
	}
	body, _ = peek(maxBody)
	if isXML && begins(peek, "<") {
		body = jsonOf(string(body))
	}
	return body, marked
}

// kindOf returns the type of resp's content, without its parameters, which may be many.
func kindOf(resp *http.Response) string {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

func (x *index) newReport(resp *http.Response) *report {
	r := &report{index: x, resp: resp, now: time.Now(), status: resp.StatusCode}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		r.now = date
	}
	return r
}

// begins reports whether a body begins with one of prefixes, apart from white space.
func begins(peek func(n int) ([]byte, error), prefixes ...string) bool {
	begin, _ := peek(24)
	text := strings.Join(strings.Fields(string(begin)), "")
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// jsonRPC matches the beginning of a response of JSON-RPC that is an error.
var jsonRPC = regexp.MustCompile(`^\s*\{(?:\s*"(?:jsonrpc|id)"\s*:\s*(?:"[^"]*"|\d+|null)\s*,){0,2}\s*"error"\s*:\s*\{`)

// mayFail reports whether a body of JSON with status 200 begins like a failure.
func (x *index) mayFail(resp *http.Response, peek func(n int) ([]byte, error)) bool {
	begin, _ := peek(24)
	if x.beginsLikeFailure(resp, begin) {
		return true
	}
	if !bytes.Contains(begin, []byte(`"jsonrpc"`)) {
		return false // a peek at more would wait for it
	}
	begin, _ = peek(maxRPC)
	return jsonRPC.Match(begin)
}

// failureIn returns the part of a body with status 200 that reports the failure of the
// whole request, or nil.
func failureIn(object map[string]any) map[string]any {
	if executed(object) || object["result"] != nil {
		return nil
	}
	extensions, _ := object["extensions"].(map[string]any)
	return map[string]any{"error": object["error"], "errors": object["errors"], "cost": extensions["cost"]}
}

// isStored reports whether a body with status 200 is an object of its own, such as a job,
// whose error is not that of the request. In JSON-RPC, the id is that of the request.
func isStored(object map[string]any) bool {
	_, hasResult := object["result"]
	if hasResult || object["jsonrpc"] != nil {
		return false
	}
	return slices.ContainsFunc(ownKeys, func(key string) bool { return object[key] != nil && object[key] != "" })
}

// ownKeys are keys of an object that was stored before it was returned.
var ownKeys = []string{
	"id", "uuid", "job_id", "jobId", "task_id", "taskId", "run_id", "runId", "operation_id", "operationId",
	"batch_id", "batchId", "created_at", "createdAt", "done",
}

// executed reports whether a response of GraphQL has results, or errors at a path in
// them. Such an error can replace all results by null, even those of executed mutations.
func executed(object map[string]any) bool {
	data, isObject := object["data"].(map[string]any)
	if !isObject && object["data"] != nil {
		return true
	}
	for _, result := range data {
		if result != nil {
			return true
		}
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

// A report is what the body of a failure says.
type report struct {
	index     *index
	resp      *http.Response
	rule      *rule // that applies to the whole response or event; nil: none
	now       time.Time
	status    int
	failed    bool          // an event of a stream is an error, whatever it says
	refused   bool          // a code says that the request is not accepted
	class     retry.Class   // ClassUnknown: nothing
	retryable bool          // a flag says so
	message   string        // a sentence
	word      string        // what stands in its place
	wait      time.Duration // in a field
	textWait  time.Duration // in a sentence

	// A quota for a day or longer is used up, according to an identifier or a sentence.
	// A sentence may be about a quota that is renewed continuously, as OpenAI's are.
	daily, saysDaily bool

	// A sentence says that a rate limit is exceeded, that no money is left, or that the
	// request itself is above a limit.
	saysLimited, saysMoney, saysTooLarge bool

	secondary bool // GitHub's secondary limit is exceeded
}

// codeFields are the keys under which APIs put codes.
var codeFields = []string{"code", "type", "status", "reason", "__type", "error", "quota_limit", "quotaId", "error_code", "errorCode", "error_type", "status_code", "limit_source"}

// sentenceFields are the keys under which APIs say what failed. If a row has told the class,
// other texts, such as that of an answer, are not read.
var sentenceFields = []string{"message", "msg", "errmsg", "error_msg", "error_message", "status_msg", "retMsg", "description", "detail", "error"}

// read collects what object says; its fields take precedence over those further inside.
func (r *report) read(object map[string]any, depth int) {
	var inside []map[string]any
	for _, key := range slices.Sorted(maps.Keys(object)) {
		elements, ok := object[key].([]any)
		if !ok {
			elements = []any{object[key]}
		}
		unit, isWait := waitUnit(key)
		for _, element := range elements {
			text := textOf(element)
			switch inner, isObject := element.(map[string]any); {
			case isObject && depth < maxDepth:
				inside = append(inside, inner)
			case isWait:
				r.wait = cmp.Or(r.wait, r.waitAtStart(text, unit))
			case key == "is_transient", key == "retryable":
				r.retryable = r.retryable || element == true
			case slices.Contains(codeFields, key):
				r.readCode(text)
			}
			if key == "message" || key == "error" {
				r.word = cmp.Or(r.word, text[:min(len(text), maxText)])
			}
			if r.rule == nil || classes[r.rule.Means] == retry.ClassUnknown || slices.Contains(sentenceFields, key) {
				r.readText(text)
			}
		}
	}
	r.wait = cmp.Or(r.wait, shopifyWait(object["cost"]))
	for _, inner := range inside {
		r.read(inner, depth+1)
	}
}

// readCode reads a code, which in AWS has a namespace.
func (r *report) readCode(code string) {
	code = code[max(strings.LastIndex(code, "#")+1, len(code)-maxText):]
	class := retry.ClassUnknown
	rule := r.index.code(r.resp, code)
	switch {
	case rule == nil && r.status == http.StatusOK:
		class = classOfCode(code)
	case rule == nil:
	case rule.Means == refused:
		r.refused = true
	default:
		class = classes[rule.Means]
	}
	if class == retry.ClassPermanent || r.class == retry.ClassUnknown {
		r.class = class
	}
	r.daily = r.daily || !strings.Contains(code, " ") && period.MatchString(code)
}

// classOfCode returns the class of a code in the body of a response with status 200 that is the
// status that the response should have had.
func classOfCode(code string) retry.Class {
	status, err := strconv.Atoi(code)
	if err != nil || len(code) != 3 {
		return retry.ClassUnknown
	}
	return classOfStatus[errfacts.OfStatus(status)]
}

// classes are the classes of meanings.
var classes = map[Meaning]retry.Class{
	Throttled: retry.ClassThrottled, Transient: retry.ClassTransient, Permanent: retry.ClassPermanent,
}

var classOfStatus = map[errfacts.Class]retry.Class{
	errfacts.Permanent: retry.ClassPermanent, errfacts.Throttled: retry.ClassThrottled,
	errfacts.Transient: retry.ClassTransient, errfacts.TimedOut: retry.ClassTransient,
}

// readText reads a sentence.
func (r *report) readText(text string) {
	text = text[:min(len(text), maxText)]
	r.secondary = r.secondary || errfacts.SaysSecondary(text)
	if !strings.Contains(text, " ") {
		return
	}
	r.message = cmp.Or(r.message, text)
	r.saysDaily = r.saysDaily || period.MatchString(text)
	r.saysLimited = r.saysLimited || limited.MatchString(text)
	r.saysMoney = r.saysMoney || noMoney.MatchString(text)
	r.saysTooLarge = r.saysTooLarge || isTooLarge(text)
	for _, phrase := range beforeWait.FindAllStringIndex(text, 8) {
		r.textWait = cmp.Or(r.textWait, r.waitAtStart(text[phrase[1]:], time.Second))
	}
}

// isTooLarge reports whether a sentence says that the request is above a limit, so that a
// smaller one is needed: "Limit 30000, Requested 36278".
func isTooLarge(text string) bool {
	if tooLarge.MatchString(text) {
		return true
	}
	match := requested.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	limit, _ := strconv.ParseInt(match[1], 10, 64)
	asked, _ := strconv.ParseInt(match[2], 10, 64)
	return asked > limit
}

// textOf returns a text or number, or "".
func textOf(value any) string {
	switch value.(type) {
	case string, json.Number:
		return fmt.Sprint(value)
	}
	return ""
}

var (
	// period matches quotas of a day or longer: GenerateRequestsPerDayPerProject (Gemini),
	// free-models-per-day (OpenRouter), "1000 API calls / month" (Cohere), "DAY limit".
	period = regexp.MustCompile(`(?i)(?:per[ _-]?|/ ?)(?:day|week|month)|\b(?:daily|weekly|monthly|day|month)[a-z ,_-]{0,24}(?:limit|quota)|(?:limit|quota)[a-z ]{0,30}\b(?:day|month)\b`)

	// limited matches what says that a rate limit is exceeded, in a failure with status 200.
	limited = regexp.MustCompile(`(?i)\b(?:rate|request|call)[- ]limit|\btoo many requests\b`)

	// noMoney matches what says that a balance is used up.
	noMoney = regexp.MustCompile(`(?i)\binsufficient (?:account )?(?:balance|credits?|funds)\b`)

	// tooLarge and requested match requests above a limit: of Groq and OpenAI, and Infura.
	tooLarge  = regexp.MustCompile(`(?i)\brequest too large\b|\breturned more than [0-9]+ results\b`)
	requested = regexp.MustCompile(`(?i)\blimit ([0-9]{1,15})(?:, used [0-9]{1,15})?, requested ([0-9]{1,15})\b`)

	// beforeWait matches the words before a wait in a sentence, such as "Please try again in".
	beforeWait = regexp.MustCompile(`(?i)(?:\b(?:again|(?:re)?try(?: (?:the|this|your) (?:request|operation|call))?|available|resets?|(?:can|may) (?:only )?(?:submit|send|make|request|retry)[a-z ]{0,24}) (?:in|after|at|on):? |\bwait )(?:(?:for|about|at least|approximately|another) |~)*`)

	// amount matches a number with a word that may be its unit; bareNumber, one without.
	amount     = regexp.MustCompile(`^(?:,|,? and)? ?([0-9]{1,12}(?:\.[0-9]{1,20})?) ?([a-zA-Z]+)`)
	bareNumber = regexp.MustCompile(`^([0-9]{1,13}(?:\.[0-9]{1,20})?)(?:[.,;:!)]+ |[.,;:!)]*$)`)

	// date matches a date in one of the forms of dateLayouts.
	date        = regexp.MustCompile(`^(?:[0-9]{4}-[0-9-]{5}[T ][0-9:.]+|[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8})(?: ?(?:[A-Z]{1,3}|[-+][0-9]{2}:?[0-9]{2}))?`)
	dateLayouts = [...]string{time.RFC3339, time.RFC1123, time.RFC1123Z, "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", "2006-01-02T15:04:05"}

	// waitKey matches keys such as retry_after and retryAfterSeconds, or, with a group,
	// recommendedRetryTime. notWait matches those that are about other waits.
	waitKey  = regexp.MustCompile(`(?i:retry|backoff)[-_ ]?(?i:after|in|delay|seconds|(at|time))(?:[^a-z]|$)`)
	notWait  = regexp.MustCompile(`(?i)max|min[^u]|initial|default`)
	lastWord = regexp.MustCompile(`[A-Z]?[a-z]+$|[A-Z]+$`)
)

// units are the units of waits; most may also end in s.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "milli": time.Millisecond, "msec": time.Millisecond, "millisecond": time.Millisecond,
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour, "month": 30 * 24 * time.Hour,
}

func unitOf(word string) time.Duration {
	word = strings.ToLower(word)
	return cmp.Or(units[word], units[strings.TrimSuffix(word, "s")])
}

// waitAtStart reads a date, an amount such as 6m0s or "1 hour and 5 minutes", or a number of
// bare units or, if it is that large, of seconds or milliseconds since 1970.
func (r *report) waitAtStart(text string, bare time.Duration) time.Duration {
	text = strings.TrimSpace(text[:min(len(text), 64)])
	written := strings.TrimRight(date.FindString(text), ".")
	for _, layout := range dateLayouts {
		if at, err := time.Parse(layout, written); err == nil {
			return max(0, at.Sub(r.now))
		}
	}
	if match := bareNumber.FindStringSubmatch(text); match != nil && bare > 0 {
		n, _ := strconv.ParseFloat(match[1], 64)
		if n >= 1e12 {
			n /= 1000
		}
		if n >= 1e9 {
			return max(0, time.UnixMilli(int64(n*1000)).Sub(r.now))
		}
		return time.Duration(min(n*float64(bare), 1<<62))
	}
	var sum float64
	for match := amount.FindStringSubmatch(text); match != nil; match = amount.FindStringSubmatch(text) {
		n, _ := strconv.ParseFloat(match[1], 64)
		sum += n * float64(unitOf(match[2]))
		text = text[len(match[0]):]
	}
	return time.Duration(min(sum, 1<<62))
}

// waitUnit reports whether a key means a wait before a retry, and the unit of its numbers; 0
// if the key means a time.
func waitUnit(key string) (unit time.Duration, ok bool) {
	key = key[:min(len(key), 64)]
	match := waitKey.FindStringSubmatch(key)
	switch {
	case match == nil, notWait.MatchString(key):
		return 0, false
	case match[1] != "":
		return 0, true
	}
	return cmp.Or(unitOf(lastWord.FindString(key)), time.Second), true
}

// shopifyWait returns the time until the bucket of a GraphQL API of Shopify holds the
// cost of the query.
func shopifyWait(value any) time.Duration {
	cost, _ := value.(map[string]any)
	status, _ := cost["throttleStatus"].(map[string]any)
	number := func(value any) float64 { n, _ := strconv.ParseFloat(textOf(value), 64); return n }
	rate := number(status["restoreRate"])
	missing := number(cost["requestedQueryCost"]) - number(status["currentlyAvailable"])
	if rate <= 0 || missing <= 0 {
		return 0
	}
	return time.Duration(min(missing/rate*float64(time.Second), 1<<62))
}

// statusQuotaExceeded is DeepL's status for a quota of a month.
const statusQuotaExceeded = 456

// verdict returns the error for Check.
func (r *report) verdict(resp *http.Response) error {
	status, class := resp.StatusCode, r.class
	stated := retry.ClassUnknown // by a row about this response
	if r.rule != nil {
		stated = classes[r.rule.Means]
		class = cmp.Or(stated, class)
	}
	limits := resp
	if stated == retry.ClassThrottled { // a limit is used up, whatever the status
		limits = &http.Response{StatusCode: http.StatusTooManyRequests, Header: resp.Header}
	}
	wait := cmp.Or(r.wait, r.textWait)
	hint := cmp.Or(retryhttp.RetryAfter(limits, r.now), wait)
	refused := errfacts.OfStatus(status) == errfacts.Throttled || status == http.StatusForbidden && r.wait > 0
	if status == http.StatusOK && r.saysLimited && class != retry.ClassPermanent {
		class = retry.ClassThrottled
	}
	if r.secondary {
		class = retry.ClassThrottled
		hint = errfacts.SecondaryWait(resp.Header, r.now)
	}
	limited := refused || class == retry.ClassThrottled || status == http.StatusForbidden && hint > 0
	if class == retry.ClassTransient && stated == retry.ClassUnknown && status != http.StatusOK { // the status says more
		class = retry.ClassUnknown
	}
	switch {
	case r.rule != nil && r.rule.own && stated != retry.ClassUnknown && !(limited && hint > longest):
	case status == statusQuotaExceeded,
		status == http.StatusRequestEntityTooLarge && hint <= 0,
		r.saysTooLarge && (limited || r.failed || class != retry.ClassUnknown),
		r.saysMoney && (limited || r.failed):
		class = retry.ClassPermanent
	case limited && (r.daily || r.saysDaily && hint <= 0 || hint > longest), status >= 500 && wait > longest:
		class = retry.ClassPermanent
	case class != retry.ClassUnknown:
	case refused && wait > 0:
		class = retry.ClassThrottled
	case r.retryable && !refused, status >= 500 && wait > 0, status == http.StatusOK && r.wait > 0:
		class = retry.ClassTransient
	case r.failed && r.refused:
		class = retry.ClassPermanent
	case r.failed:
		class = retry.ClassTransient
	}
	text := cmp.Or(r.message, r.word)
	if text == "" && stated != retry.ClassUnknown {
		text = r.rule.Value
	}
	err := errors.New(strings.TrimSpace(text + " (reported in the body)"))
	if hint > 0 {
		err = retry.After(err, hint)
	}
	if mark := marks[class]; mark != nil {
		return mark(err)
	}
	return nil
}

var marks = map[retry.Class]func(error) error{
	retry.ClassPermanent: retry.Permanent, retry.ClassThrottled: retry.Throttled, retry.ClassTransient: retry.Transient,
}
