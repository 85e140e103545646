package connections

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrykeep"
)

var errNoContent = errors.New("the server has no more events")

// Events returns a session that receives Server-Sent Events. It continues after the last
// event, waits as long as the server's field retry asks for, and ends if the server sends
// nothing for longer than silence. client must not retry and must not have a Timeout.
func Events(client *http.Client, url string, silence time.Duration, handle func(data string)) func(context.Context, func()) error {
	lastID, wait := "", time.Duration(0)
	return func(ctx context.Context, up func()) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return retry.Permanent(err)
		}
		req.Header.Set("Accept", "text/event-stream")
		if lastID != "" {
			req.Header.Set("Last-Event-ID", lastID)
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusNoContent { // the standard's way to say: do not come back
			return retry.Permanent(errNoContent)
		}
		if err := retryhttp.CheckStatus(resp); err != nil {
			return err
		}
		up()
		silent := time.AfterFunc(silence, cancel)
		defer silent.Stop()
		id, data := lastID, []string(nil)
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			silent.Reset(silence)
			name, value, _ := strings.Cut(lines.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch name {
			case "data":
				data = append(data, value)
			case "id":
				id = value
			case "retry":
				if ms, err := strconv.ParseUint(value, 10, 32); err == nil {
					wait = time.Duration(ms) * time.Millisecond
				}
			}
			if lines.Text() != "" {
				continue
			}
			lastID = id
			if data != nil {
				handle(strings.Join(data, "\n"))
				data = nil
			}
		}
		err = lines.Err()
		if err == nil {
			err = retrykeep.ErrEnded
		}
		return retry.After(err, wait)
	}
}
