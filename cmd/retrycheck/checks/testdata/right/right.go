// Package right has programs in which nothing is wrong, although they look like mistakes.
package right

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// search sends a POST that only asks: its answer is what the caller wants.
func search(ctx context.Context, p retry.Policy, client *http.Client, query string) (hits []string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/_search", strings.NewReader(query))
		if err != nil {
			return retry.Permanent(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if err := retryhttp.CheckStatus(resp); err != nil {
			return err
		}
		var found []string
		if err := json.NewDecoder(resp.Body).Decode(&found); err != nil {
			return err
		}
		hits = found
		return nil
	})
	return hits, err
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// rpc asks by JSON-RPC, whose errors are in the body.
func rpc(ctx context.Context, p retry.Policy, call any) (json.RawMessage, error) {
	body, err := json.Marshal(call)
	if err != nil {
		return nil, err
	}
	return retry.DoValue(ctx, p, func(ctx context.Context) (json.RawMessage, error) {
		req, err := http.NewRequestWithContext(ctx, "POST", "https://example.com/rpc", bytes.NewReader(body))
		if err != nil {
			return nil, retry.Permanent(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if err := retryhttp.CheckStatus(resp); err != nil {
			return nil, err
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		var r reply
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, err
		}
		if r.Error != nil {
			return nil, retry.Permanent(errors.New(r.Error.Message))
		}
		return r.Result, nil
	})
}

// create looks whether an earlier attempt has made it before it sends a POST.
func create(ctx context.Context, p retry.Policy, exists func(context.Context) (bool, error)) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		found, err := exists(ctx)
		if err != nil {
			return err
		}
		if found {
			return nil
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/orders", nil)
		if err != nil {
			return retry.Permanent(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return retryhttp.CheckStatus(resp)
	})
}

// counted adds in the first attempt only.
func counted(ctx context.Context, p retry.Policy, sizes []int, send func(context.Context) error) (total int, err error) {
	first := true
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		if !first {
			return send(ctx)
		}
		first = false
		for _, size := range sizes {
			total += size
		}
		return send(ctx)
	})
	return total, err
}

// perKey adds what it has not added yet.
func perKey(ctx context.Context, p retry.Policy, load func(context.Context) ([]string, error)) (names []string, err error) {
	seen := map[string]bool{}
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		list, err := load(ctx)
		for _, name := range list {
			if seen[name] {
				continue
			}
			seen[name] = true
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// spent asks the reason of a failure in a variable.
func spent(ctx context.Context, p retry.Policy, op func(context.Context) error) bool {
	var gaveUp *retry.Error
	if !errors.As(retry.Do(ctx, p, op), &gaveUp) {
		return false
	}
	why := gaveUp.Reason
	switch why {
	case retry.ErrBudget, retry.ErrMaxElapsed:
		return true
	}
	return why == retry.ErrMaxAttempts
}

var errBusy = errors.New("busy")

func isBusy(err error) bool { return err == errBusy }

// put compares with what its operation returns as it is.
func put(ctx context.Context, try func() bool) error {
	return retry.Do(ctx, retry.Policy{Classifier: retry.OnlyIf(isBusy)}, func(context.Context) error {
		if !try() {
			return errBusy
		}
		return nil
	})
}

// customer gets sql.ErrNoRows as the operation returned it, because it is permanent.
func customer(ctx context.Context, p retry.Policy, db *sql.DB, id int) (name string, found bool, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		return db.QueryRowContext(ctx, "SELECT name FROM customer WHERE id = $1", id).Scan(&name)
	})
	if err == sql.ErrNoRows {
		return "", false, nil
	}
	return name, true, err
}

// appears hides that the error is permanent, because the row will be there soon.
func appears(ctx context.Context, p retry.Policy, find func(context.Context) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := find(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("not there yet: %v", err)
		}
		return err
	})
}

// lines scans what is in memory.
func lines(ctx context.Context, p retry.Policy, load func(context.Context) ([]byte, error)) (list []string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		text, err := load(ctx)
		if err != nil {
			return err
		}
		var all []string
		scanner := bufio.NewScanner(bytes.NewReader(text))
		for scanner.Scan() {
			all = append(all, scanner.Text())
		}
		list = all
		return nil
	})
	return list, err
}

// resumed goes on behind what it has written.
func resumed(ctx context.Context, p retry.Policy, file *os.File, read func(context.Context, int64) (io.ReadCloser, error)) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		at, err := file.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		rest, err := read(ctx, at)
		if err != nil {
			return err
		}
		defer rest.Close()
		_, err = io.Copy(file, rest)
		return err
	})
}

// answered writes once, and only if nothing has been written.
func answered(w http.ResponseWriter, r *http.Request, p retry.Policy, load func(context.Context) ([]byte, error)) error {
	begun := false
	return retry.Do(r.Context(), p, func(ctx context.Context) error {
		text, err := load(ctx)
		if err != nil {
			return err
		}
		if begun {
			return nil
		}
		begun = true
		_, err = w.Write(text)
		return err
	})
}

// guarded sends a POST only if the server does not have the state already, which it says by 409.
func guarded(ctx context.Context, p retry.Policy, done func() bool) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if !done() {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/start", nil)
			if err != nil {
				return retry.Permanent(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			return retryhttp.CheckStatus(resp)
		}
		return nil
	})
}

// until is a loop that a failure ends.
func until(ctx context.Context, ready func(context.Context) (bool, error)) error {
	for {
		ok, err := ready(ctx)
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		time.Sleep(time.Second)
	}
}

// chosen sets a limit that depends on who asks, in a copy.
func chosen(ctx context.Context, base retry.Policy, urgent bool, op func(context.Context) error) error {
	p := base
	if urgent {
		p.MaxElapsed = time.Second
	} else {
		p.MaxElapsed = time.Minute
	}
	return retry.Do(ctx, p, op)
}
