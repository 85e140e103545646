package connections

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrykeep"
)

var errNoContent = errors.New("the server has no more events")

// maxEvent is the length of an event's data from which on it is cut.
const maxEvent = 1 << 20

// An Event is one of a stream of Server-Sent Events.
type Event struct {
	ID   string // of the last event that had one
	Data string
	Cut  bool // Data is only the beginning, because the event is longer than maxEvent
}

// Events returns a session that receives Server-Sent Events. It continues after the last
// event, waits as long as the server's field retry asks for, and ends if the server sends
// nothing for longer than silence. The time in which handle runs does not count. An event that is
// too long is cut: if it ended the session, the server would send it again, for ever. client must
// not retry and must not have a Timeout.
func Events(client *http.Client, url string, silence time.Duration, handle func(Event)) func(context.Context, func()) error {
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
		event, data, size := Event{ID: lastID}, []string(nil), 0
		body := bufio.NewReader(resp.Body)
		for {
			line, cut, err := readLine(body)
			if err == io.EOF {
				err = retrykeep.ErrEnded
			}
			if err != nil {
				return retry.After(err, wait)
			}
			silent.Reset(silence)
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch name {
			case "data":
				size += len(value)
				event.Cut = event.Cut || cut || size > maxEvent
				if size <= maxEvent {
					data = append(data, value)
				}
			case "id":
				event.ID = value
			case "retry":
				ms, err := strconv.ParseUint(value, 10, 32)
				if err == nil {
					wait = time.Duration(ms) * time.Millisecond
				}
			}
			if line != "" {
				continue
			}
			lastID = event.ID
			if data != nil {
				event.Data = strings.Join(data, "\n")
				silent.Stop()
				handle(event)
				silent.Reset(silence)
			}
			event, data, size = Event{ID: lastID}, nil, 0
		}
	}
}

// readLine returns the next line without its end. Of a line that is longer than maxEvent, it returns
// the beginning.
func readLine(r *bufio.Reader) (line string, cut bool, err error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		room := maxEvent - b.Len()
		b.Write(part[:min(len(part), room)])
		cut = cut || len(part) > room
		switch err {
		case nil:
			return strings.TrimRight(b.String(), "\r\n"), cut, nil
		case bufio.ErrBufferFull: // the line goes on
		default:
			return "", false, err
		}
	}
}
