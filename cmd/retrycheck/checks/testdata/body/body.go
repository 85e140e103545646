package body

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/gobackoff/retry/retryhttp"

	"github.com/gobackoff/retry"
)

func send(client *http.Client, req *http.Request) error {
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func loop(client *http.Client, text string) error {
	req, err := http.NewRequest(http.MethodPut, "https://example.com/", strings.NewReader(text))
	if err != nil {
		return err
	}
	for range 3 {
		resp, err := client.Do(req) // want `the body of req is read by the first attempt`
		if err == nil {
			return resp.Body.Close()
		}
	}
	return errors.New("down")
}

func operation(ctx context.Context, p retry.Policy, text []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://example.com/", bytes.NewReader(text))
	if err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		resp, err := http.DefaultClient.Do(req.WithContext(ctx)) // want `the body of req is read by the first attempt`
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}

func reader(ctx context.Context, p retry.Policy, text string) error {
	body := strings.NewReader(text)
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://example.com/", body) // want `body is read by the first attempt, so later ones send nothing`
		if err != nil {
			return err
		}
		return send(http.DefaultClient, req)
	})
}

func buffer(ctx context.Context, p retry.Policy, text string) error {
	var body bytes.Buffer
	body.WriteString(text)
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://example.com/", &body) // want `body is read by the first attempt`
		if err != nil {
			return err
		}
		return send(http.DefaultClient, req)
	})
}

func refilled(ctx context.Context, p retry.Policy, text string) error {
	var body bytes.Buffer
	return retry.Do(ctx, p, func(ctx context.Context) error {
		body.Reset()
		body.WriteString(text)
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://example.com/", &body)
		if err != nil {
			return err
		}
		return send(http.DefaultClient, req)
	})
}

func hosts(hosts []string, file io.Reader) {
	for _, host := range hosts {
		if resp, err := http.Post(host, "text/plain", file); err == nil { // want `file is read by the first attempt`
			resp.Body.Close()
		}
	}
}

func fresh(ctx context.Context, p retry.Policy, text string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://example.com/", strings.NewReader(text))
		if err != nil {
			return err
		}
		return send(http.DefaultClient, req)
	})
}

func rewound(client *http.Client, text string) (err error) {
	req, err := http.NewRequest(http.MethodPut, "https://example.com/", strings.NewReader(text))
	if err != nil {
		return err
	}
	for range 3 {
		if req.Body, err = req.GetBody(); err != nil {
			return err
		}
		if _, err = client.Do(req); err == nil {
			break
		}
	}
	return err
}

func seeks(ctx context.Context, p retry.Policy, file io.ReadSeeker) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://example.com/", file)
		if err != nil {
			return err
		}
		return send(http.DefaultClient, req)
	})
}

func seeksInner(ctx context.Context, p retry.Policy, file io.ReadSeeker) error {
	limited := io.LimitReader(file, 1<<20)
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://example.com/", limited)
		if err != nil {
			return err
		}
		return send(http.DefaultClient, req)
	})
}

func empty(client *http.Client) {
	req, _ := http.NewRequest(http.MethodGet, "https://example.com/", nil)
	var body io.Reader = http.NoBody
	for range 3 {
		if _, err := client.Do(req); err == nil {
			return
		}
		if other, err := http.NewRequest(http.MethodGet, "https://example.com/", body); err == nil {
			_ = send(client, other)
		}
	}
}

func pages(client *http.Client, urls []string) {
	for _, url := range urls {
		req, _ := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
		_, _ = client.Do(req)
	}
}

type input struct {
	Name string
	Body io.Reader
}

func reads(ctx context.Context, p retry.Policy, name string, upload func(context.Context, io.Reader) error, put func(context.Context, *input) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	content := strings.NewReader("content")
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if err := upload(ctx, file); err != nil { // want `file is read by the first attempt, so later ones get nothing`
			return err
		}
		return put(ctx, &input{Name: name, Body: content}) // want `content is read by the first attempt, so later ones get nothing`
	})
}

func rereads(ctx context.Context, p retry.Policy, file *os.File, upload func(context.Context, io.Reader) error) error {
	var out bytes.Buffer
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		out.Reset()
		_, err := io.Copy(&out, strings.NewReader("head"))
		return errors.Join(err, upload(ctx, file))
	})
	return errors.Join(err, upload(ctx, file))
}

func written(ctx context.Context, p retry.Policy, log *os.File, run func(context.Context, io.Writer, io.ReadWriter) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error { return run(ctx, log, log) })
}

func given(ctx context.Context, p retry.Policy, r io.Reader, upload func(context.Context, io.Reader) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		return upload(ctx, r) // want `r is read by the first attempt, so later ones get nothing`
	})
}

func readAll(ctx context.Context, p retry.Policy, in *http.Request, store func(context.Context, []byte) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		content, err := io.ReadAll(in.Body) // want `in.Body is read by the first attempt`
		if err != nil {
			return err
		}
		return store(ctx, content)
	})
}

func readBefore(ctx context.Context, p retry.Policy, r io.Reader, upload func(context.Context, io.Reader) error) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		return upload(ctx, bytes.NewReader(content))
	})
}

func sought(ctx context.Context, p retry.Policy, r io.ReadSeeker, upload func(context.Context, io.Reader) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return upload(ctx, r)
	})
}

type source struct{ r io.Reader }

func (s *source) send(ctx context.Context, p retry.Policy, upload func(context.Context, io.Reader) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		return upload(ctx, s.r) // want `s.r is read by the first attempt`
	})
}

var client = retryhttp.NewClient(retry.Policy{})
