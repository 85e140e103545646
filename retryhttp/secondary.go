package retryhttp

import (
	"net/http"
	"strings"
	"time"

	"github.com/gobackoff/retry/internal/errfacts"
)

// maxSentence is how many bytes of a body are read for the sentence of GitHub's secondary limit.
const maxSentence = 1 << 10

// secondaryWait returns the wait after a response whose body says that GitHub's secondary limit is
// exceeded, or 0. The status of such a response is 403 or 429, and no header need ask for a
// wait. What has been read remains in the body.
func secondaryWait(resp *http.Response, now time.Time) time.Duration {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return 0
	}
	kind, _, _ := strings.Cut(strings.ToLower(resp.Header.Get("Content-Type")), ";")
	isText := strings.HasSuffix(kind, "json") || kind == "text/plain"
	if !isText || resp.Body == http.NoBody || errfacts.ReadHead(resp.Header, 0, now).Wait > 0 {
		return 0
	}
	body := &aheadBody{ReadCloser: resp.Body, most: maxSentence}
	resp.Body = body
	body.fillFor(maxAhead)
	if !errfacts.SaysSecondary(body.text()) {
		return 0
	}
	return errfacts.SecondaryWait(resp.Header, now)
}
