package repeat

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/gobackoff/retry/retrysql"
)

func names(ctx context.Context, p retry.Policy, db *sql.DB) (names []string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		rows, err := db.QueryContext(ctx, "SELECT name FROM customer")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name) // want `a retry adds to names again: collect in a variable of the operation, and set names at its end`
		}
		return rows.Err()
	})
	return names, err
}

func inCallback(ctx context.Context, p retry.Policy, each func(context.Context, func(string) error) error) ([]string, error) {
	var all []string
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		return each(ctx, func(name string) error {
			all = append(all, name) // want `a retry adds to all again`
			return nil
		})
	})
	return all, err
}

func emptied(ctx context.Context, p retry.Policy, each func(context.Context, func(string) error) error) (all []string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		all = all[:0]
		return each(ctx, func(name string) error {
			all = append(all, name)
			return nil
		})
	})
	return all, err
}

// pages appends when nothing can fail any more.
func pages(ctx context.Context, p retry.Policy, page func(context.Context, int) ([]string, error)) (all []string, err error) {
	for number := range 3 {
		err = errors.Join(err, retry.Do(ctx, p, func(ctx context.Context) error {
			list, err := page(ctx, number)
			if err != nil {
				return err
			}
			for _, name := range list {
				all = append(all, name)
			}
			return nil
		}))
	}
	return all, err
}

func own(ctx context.Context, p retry.Policy, get func(context.Context) (string, error)) (failures []error, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		var all []string
		for range 3 {
			one, err := get(ctx)
			failures = append(failures, err)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return nil
	})
	return failures, err
}

func pays(ctx context.Context, p retry.Policy, post func(context.Context, http.Header) error) error {
	known := rand.Text()
	return retry.Do(ctx, p, func(ctx context.Context) error {
		header := http.Header{}
		header.Set("Idempotency-Key", rand.Text()) // want `each attempt has another key, so the server executes a retry again`
		header.Set("X-Request-Id", rand.Text())
		header.Set("Idempotency-Key", known)
		header.Set("Idempotency-Key", retryhttp.RandomKey(nil)) // want `each attempt has another key`
		key := "order " + rand.Text()
		header.Add("idempotency-key", key) // want `each attempt has another key`
		return post(ctx, header)
	})
}

func sends(ctx context.Context, p retry.Policy, client *http.Client, order string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader(order)) // want `a POST whose response is lost is executed again`
		if err != nil {
			return retry.Permanent(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 400 {
			return errors.New(resp.Status)
		}
		resp, err = client.PostForm("https://example.com/", nil) // want `a POST whose response is lost is executed again`
		if err == nil && resp.StatusCode >= 400 {
			err = errors.New(resp.Status)
		}
		return err
	})
}

func sendsWithKey(ctx context.Context, p retry.Policy, client *http.Client, method, order, key string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/", strings.NewReader(order))
		if err != nil {
			return retry.Permanent(err)
		}
		req.Header.Set("Idempotency-Key", key)
		other, err := http.NewRequestWithContext(ctx, method, "https://example.com/", nil)
		if err != nil {
			return retry.Permanent(err)
		}
		return errors.Join(checked(client.Do(req)), checked(client.Do(other)))
	})
}

func checked(resp *http.Response, err error) error {
	if err == nil && resp.StatusCode >= 400 {
		err = errors.New(resp.Status)
	}
	return err
}

var key = rand.Text()

var keys = []retryhttp.Transport{
	{IdempotencyKey: func(*http.Request) string { return "order-" + key }}, // want `all requests have the same key, so the server executes only the first: return another key for each`
	{IdempotencyKey: func(*http.Request) string { return "" }},
	{IdempotencyKey: func(req *http.Request) string { return req.Header.Get("X-Order") }},
	{IdempotencyKey: func(*http.Request) string { return rand.Text() }},
	{IdempotencyKey: retryhttp.RandomKey},
}

func once(ctx context.Context, p retry.Policy, db *sql.DB, id string) error {
	key := retrysql.Key{In: retrysql.PostgresKeys, ID: "orders/" + rand.Text()} // want `nobody can send this key again, so the work of a retry is done again: use the key of the request`
	_, err := retrysql.Once(ctx, p, db, nil, key, func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil })
	if err != nil {
		return err
	}
	key = retrysql.Key{In: retrysql.PostgresKeys, ID: "orders/" + id}
	_, err = retrysql.Once(ctx, p, db, nil, key, func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil })
	return err
}

type importer struct {
	done  int
	bytes int
	names []string
	seen  map[string]int
}

func (i *importer) all(ctx context.Context, p retry.Policy) error {
	return retry.Do(ctx, p, i.once)
}

func (i *importer) once(ctx context.Context) error {
	rows, err := list(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := store(ctx, row); err != nil {
			return err
		}
		i.names = append(i.names, row)
		i.done++
		i.seen[row]++
	}
	return ctx.Err()
}

func withRetry(ctx context.Context, p retry.Policy, what string, op func(context.Context) error) error {
	err := retry.Do(ctx, p, func(ctx context.Context) error { return op(ctx) })
	if err != nil {
		return errors.New(what)
	}
	return nil
}

func helped(ctx context.Context, p retry.Policy, out chan<- string) (total int, err error) {
	attempts := 0
	err = withRetry(ctx, p, "copy", func(ctx context.Context) error {
		attempts++
		rows, err := list(ctx)
		if err != nil {
			return err
		}
		total += len(rows) // want `a retry adds to total again`
		for _, row := range rows {
			out <- row
		}
		return store(ctx, "end")
	})
	return total, err
}

// resumes goes on where the last attempt ended.
func resumes(ctx context.Context, p retry.Policy, rows []string) error {
	var done []string
	next := 0
	return retry.Do(ctx, p, func(ctx context.Context) error {
		for next < len(rows) {
			if err := store(ctx, rows[next]); err != nil {
				return retry.Progress(err)
			}
			next++
		}
		for len(done) < len(rows) {
			if err := store(ctx, rows[len(done)]); err != nil {
				return err
			}
			done = append(done, rows[len(done)])
		}
		return nil
	})
}

// conversation sends what an attempt adds in the next one.
func conversation(ctx context.Context, p retry.Policy, ask func(context.Context, []string) (string, error), parse func(string) error) error {
	messages := []string{"Answer in JSON."}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		answer, err := ask(ctx, messages)
		if err != nil {
			return err
		}
		if err := parse(answer); err != nil {
			messages = append(messages, err.Error())
			return err
		}
		return nil
	})
}

func list(context.Context) ([]string, error)      { return nil, nil }
func store(ctx context.Context, row string) error { return ctx.Err() }

var errUnavailable = errors.New("unavailable")

func nine(ctx context.Context, p retry.Policy, req *http.Request) error {
	client := retryhttp.NewClient(p)
	return retry.Do(ctx, p, func(ctx context.Context) error {
		resp, err := client.Do(req.WithContext(ctx)) // want `this client retries by itself, and Do retries it again`
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 400 {
			return errUnavailable
		}
		return nil
	})
}

func three(ctx context.Context, p retry.Policy, req *http.Request) error {
	client := &http.Client{Transport: &retryhttp.Transport{Policy: p}}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		resp, err := client.Do(req.WithContext(ctx))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return retryhttp.CheckStatus(resp)
	})
}

func downloads(ctx context.Context, p retry.Policy, open func(context.Context) (io.ReadCloser, error), file *os.File) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		content, err := open(ctx)
		if err != nil {
			return err
		}
		defer content.Close()
		_, err = io.Copy(file, content) // want `file keeps what a failed attempt has written, and a retry writes all of it again: write to a variable of the operation, or rewind and truncate first`
		return err
	})
}

func writes(ctx context.Context, p retry.Policy, open func(context.Context) (io.ReadCloser, error), file *os.File) {
	var text, all bytes.Buffer
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		content, err := open(ctx)
		if err != nil {
			return err
		}
		_, err = text.ReadFrom(content) // want `text keeps what a failed attempt has written`
		return err
	})
	_ = retry.Do(ctx, p, func(ctx context.Context) error {
		content, err := open(ctx)
		if err != nil {
			return err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		all.Reset()
		var own bytes.Buffer
		if _, err := io.Copy(&own, content); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return err
		}
		_, err = io.Copy(io.MultiWriter(file, &all), content)
		return err
	})
	all.WriteString("end")
}

func answers(p retry.Policy, load func(context.Context) ([]string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_ = retry.Do(r.Context(), p, func(ctx context.Context) error {
			lines, err := load(ctx)
			if err != nil {
				return err
			}
			_, err = io.WriteString(w, strings.Join(lines, "\n")) // want `a retry answers on w again, behind what the failed attempt has written: answer after retry.Do`
			return err
		})
		_ = retry.Do(r.Context(), p, func(ctx context.Context) error {
			lines, err := load(ctx)
			if err != nil {
				return err
			}
			w.Header().Set("Etag", lines[0])
			_, _ = io.WriteString(w, lines[0])
			return nil
		})
	}
}

func total(ctx context.Context, p retry.Policy, load func(context.Context, int) ([]string, error)) (names []string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		for page := range 3 {
			got, err := load(ctx, page)
			if err != nil {
				return err
			}
			names = append(names, got...) // want `a retry adds to names again`
		}
		return nil
	})
	return names, err
}

func addsOnSuccess(ctx context.Context, p retry.Policy, load func(context.Context) (int, error)) (sum int, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		n, err := load(ctx)
		if err == nil {
			sum += n
		}
		return err
	})
	return sum, err
}
