package retryaws_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryaws"
	"github.com/gobackoff/retry/retryhttp/transfer"
)

// An objectServer serves one object to a client, without a network. Each response has its plan;
// those after the last plan are whole.
type objectServer struct {
	object  []byte
	plans   []plan
	asked   []string // the header Range of each request, and its part number
	matches []string // the header If-Match
	open    int      // bodies that are not closed
}

// A plan is what becomes of a response.
type plan struct {
	bytes  int           // that arrive; then the connection breaks
	status int           // instead of the object; 0: none
	silent time.Duration // before the response
	change func(*http.Request, http.Header)
	whole  bool
}

func (s *objectServer) Do(r *http.Request) (*http.Response, error) {
	plan := plan{whole: true}
	if len(s.asked) < len(s.plans) {
		plan = s.plans[len(s.asked)]
	}
	asked := r.Header.Get("Range")
	if r.URL.Query().Has("partNumber") {
		asked += "partNumber=" + r.URL.Query().Get("partNumber")
	}
	s.asked = append(s.asked, asked)
	s.matches = append(s.matches, r.Header.Get("If-Match"))
	select {
	case <-time.After(plan.silent):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	w.Header().Set("ETag", `"1"`)
	if asked == "" {
		sum := sha256.Sum256(s.object)
		w.Header().Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
	}
	r = r.Clone(r.Context())
	if plan.change != nil {
		plan.change(r, w.Header())
	}
	if plan.status != 0 {
		w.WriteHeader(plan.status)
	} else {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.object))
	}
	response := w.Result()
	var body io.Reader = response.Body
	if response.StatusCode < 300 && !plan.whole {
		body = io.MultiReader(io.LimitReader(body, int64(plan.bytes)), failing{syscall.ECONNRESET})
	}
	s.open++
	response.Body = &closing{Reader: body, ctx: r.Context(), server: s}
	response.Request = r
	return response, nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// closing is a body that ends with the context of its request.
type closing struct {
	io.Reader
	ctx    context.Context
	server *objectServer
	closed bool
}

func (c *closing) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

func (c *closing) Close() error {
	if !c.closed {
		c.closed = true
		c.server.open--
	}
	return nil
}

func (s *objectServer) client(apply ...func(*middleware.Stack) error) *s3.Client {
	return s3.New(s3.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: aws.String("http://127.0.0.1:1"), UsePathStyle: true, HTTPClient: s},
		func(o *s3.Options) { o.APIOptions = append(o.APIOptions, apply...) })
}

// download returns what arrives of the object, and the first error of the body.
func (s *objectServer) download(t *testing.T, in s3.GetObjectInput, apply ...func(*middleware.Stack) error) ([]byte, error) {
	t.Helper()
	in.Bucket, in.Key, in.ChecksumMode = aws.String("b"), aws.String("k"), "ENABLED"
	out, err := s.client(apply...).GetObject(t.Context(), &in)
	require.NoError(t, err)
	got, err := io.ReadAll(out.Body)
	if err != nil {
		_, again := out.Body.Read(make([]byte, 1))
		assert.Equal(t, err, again, "the error stays")
	}
	requests := len(s.asked)
	require.NoError(t, out.Body.Close())
	assert.Len(t, s.asked, requests, "no request after Close")
	assert.Zero(t, s.open, "all bodies are closed")
	return got, err
}

func resuming(p retry.Policy) func(*middleware.Stack) error {
	return retryaws.WithPolicy(p, retryaws.Resume())
}

func TestResume(t *testing.T) {
	object := bytes.Repeat([]byte("0123456789"), 100)
	fixed := func(name, value string) func(*http.Request, http.Header) {
		return func(_ *http.Request, h http.Header) { h.Set(name, value) }
	}
	without := func(names ...string) func(*http.Request, http.Header) {
		return func(r *http.Request, _ http.Header) {
			for _, name := range names {
				r.Header.Del(name)
			}
		}
	}
	asking := func(part string) func(*http.Request, http.Header) {
		return func(r *http.Request, _ http.Header) { r.Header.Set("Range", part) }
	}
	both := func(first, second func(*http.Request, http.Header)) func(*http.Request, http.Header) {
		return func(r *http.Request, h http.Header) { first(r, h); second(r, h) }
	}
	for name, tt := range map[string]struct {
		in    s3.GetObjectInput
		plans []plan
		off   bool
		want  []byte
		asked []string
		err   error  // nil: none, unless there is a text
		text  string // of the error
	}{
		"whole":    {want: object, asked: []string{""}},
		"one cut":  {plans: []plan{{bytes: 400}}, want: object, asked: []string{"", "bytes=400-999"}},
		"at once":  {plans: []plan{{bytes: 0}}, want: object, asked: []string{"", "bytes=0-999"}},
		"the last": {plans: []plan{{bytes: 999}}, want: object, asked: []string{"", "bytes=999-999"}},
		"five cuts, each after progress": {
			plans: []plan{{bytes: 100}, {bytes: 100}, {bytes: 100}, {bytes: 100}, {bytes: 100}}, want: object,
			asked: []string{"", "bytes=100-999", "bytes=200-999", "bytes=300-999", "bytes=400-999", "bytes=500-999"},
		},
		"cut, then 500":          {plans: []plan{{bytes: 400}, {status: 500}}, want: object, asked: []string{"", "bytes=400-999", "bytes=400-999"}},
		"cut, then no byte":      {plans: []plan{{bytes: 400}, {bytes: 0}}, want: object, asked: []string{"", "bytes=400-999", "bytes=400-999"}},
		"a range":                {in: s3.GetObjectInput{Range: aws.String("bytes=100-199")}, plans: []plan{{bytes: 10}}, want: object[100:200], asked: []string{"bytes=100-199", "bytes=110-199"}},
		"a range without an end": {in: s3.GetObjectInput{Range: aws.String("bytes=900-")}, plans: []plan{{bytes: 10}}, want: object[900:], asked: []string{"bytes=900-", "bytes=910-999"}},
		"the end":                {in: s3.GetObjectInput{Range: aws.String("bytes=-100")}, plans: []plan{{bytes: 10}}, want: object[900:], asked: []string{"bytes=-100", "bytes=910-999"}},
		"a part": {
			in:    s3.GetObjectInput{PartNumber: aws.Int32(2)},
			plans: []plan{{bytes: 10, change: asking("bytes=100-199")}},
			want:  object[100:200], asked: []string{"partNumber=2", "bytes=110-199"},
		},
		"never again": {
			plans: []plan{{bytes: 400}, {status: 500}, {status: 503}}, want: object[:400],
			asked: []string{"", "bytes=400-999", "bytes=400-999"}, err: retry.ErrMaxAttempts, text: "go on at byte 400 of the object",
		},
		"another version": {
			plans: []plan{{bytes: 400}, {change: fixed("ETag", `"2"`), whole: true}}, want: object[:400],
			asked: []string{"", "bytes=400-999"}, text: "StatusCode: 412",
		},
		"another version, and If-Match is ignored": {
			plans: []plan{{bytes: 400}, {change: both(fixed("ETag", `"2"`), without("If-Match")), whole: true}}, want: object[:400],
			asked: []string{"", "bytes=400-999"}, text: `its version is "2" now, and was "1"`, err: transfer.ErrChanged,
		},
		"no version": {
			plans: []plan{{bytes: 400}, {change: func(r *http.Request, h http.Header) { r.Header.Del("If-Match"); h.Del("ETag") }, whole: true}}, want: object[:400],
			asked: []string{"", "bytes=400-999"}, text: "no strong ETag", err: transfer.ErrChanged,
		},
		"a weak version": {
			plans: []plan{{bytes: 400}, {change: both(fixed("ETag", `W/"1"`), without("If-Match")), whole: true}}, want: object[:400],
			asked: []string{"", "bytes=400-999"}, text: "no strong ETag", err: transfer.ErrChanged,
		},
		"Range is ignored": {
			plans: []plan{{bytes: 400}, {change: without("Range"), whole: true}}, want: object[:400],
			asked: []string{"", "bytes=400-999"}, text: "200 OK to a request for the bytes from 400 on", err: transfer.ErrChanged,
		},
		"less than was asked for": {
			plans: []plan{{bytes: 400}, {change: asking("bytes=400-499"), whole: true}}, want: object,
			asked: []string{"", "bytes=400-999", "bytes=500-999"},
		},
		"other bytes": {
			plans: []plan{{bytes: 400}, {change: asking("bytes=401-999"), whole: true}}, want: object[:400],
			asked: []string{"", "bytes=400-999"}, text: "has bytes 401 to 999, not those from 400 on", err: transfer.ErrChanged,
		},
		"denied meanwhile": {
			plans: []plan{{bytes: 400}, {status: 403}}, want: object[:400],
			asked: []string{"", "bytes=400-999"}, text: "StatusCode: 403",
		},
		"the first response without a version": {
			plans: []plan{{bytes: 400, change: func(_ *http.Request, h http.Header) { h.Del("ETag") }}}, want: object[:400], asked: []string{""}, err: syscall.ECONNRESET,
		},
		"the first response with a weak one": {
			plans: []plan{{bytes: 400, change: fixed("ETag", `W/"1"`)}}, want: object[:400], asked: []string{""}, err: syscall.ECONNRESET,
		},
		"without Resume": {off: true, plans: []plan{{bytes: 400}}, want: object[:400], asked: []string{""}, err: syscall.ECONNRESET},
	} {
		t.Run(name, func(t *testing.T) {
			s := &objectServer{object: object, plans: tt.plans}
			p := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 3}
			apply := resuming(p)
			if tt.off {
				apply = retryaws.WithPolicy(p)
			}
			got, err := s.download(t, tt.in, apply)
			assert.Equal(t, string(tt.want), string(got))
			assert.Equal(t, tt.asked, s.asked)
			for _, match := range s.matches[1:] {
				assert.Equal(t, `"1"`, match)
			}
			if tt.err == nil && tt.text == "" {
				assert.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.text)
			if tt.err != nil {
				assert.ErrorIs(t, err, tt.err)
			}
		})
	}
}

// TestResumeEverywhere: wherever two connections break, the whole object arrives.
func TestResumeEverywhere(t *testing.T) {
	object := []byte("the whole object")
	for first := range object {
		for second := range len(object) - first {
			s := &objectServer{object: object, plans: []plan{{bytes: first}, {bytes: second}}}
			got, err := s.download(t, s3.GetObjectInput{}, resuming(retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 4}))
			require.NoError(t, err, "%d, %d", first, second)
			require.Equal(t, string(object), string(got), "%d, %d", first, second)
		}
	}
}

// TestResumePolicy: the policy decides as after a failed attempt, anew after each byte.
func TestResumePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed []string
		limiter := &waits{}
		ledger := newLedger()
		p := retry.Policy{
			Backoff: retry.Constant(time.Second), MaxAttempts: 2, AttemptTimeout: time.Minute, Limiter: limiter, Budget: ledger,
			Hooks: retry.Hooks{OnRetry: func(_ context.Context, a retry.Attempt, _ time.Duration) {
				failed = append(failed, fmt.Sprint(a.Number, " ", a.Class))
			}},
		}
		s := &objectServer{object: []byte("0123456789"), plans: []plan{{bytes: 3}, {bytes: 3}, {bytes: 3}}}
		start := time.Now()
		got, err := s.download(t, s3.GetObjectInput{}, resuming(p))
		require.NoError(t, err)
		assert.Equal(t, "0123456789", string(got))
		assert.Equal(t, 3*time.Second, time.Since(start))
		assert.Equal(t, []string{"1 transient", "1 transient", "1 transient"}, failed)
		assert.Equal(t, 4, limiter.count, "one wait for each request")

		s = &objectServer{object: []byte("0123456789"), plans: []plan{{bytes: 3}, {silent: time.Hour}}}
		start = time.Now()
		got, err = s.download(t, s3.GetObjectInput{}, resuming(p))
		assert.ErrorIs(t, err, retry.ErrMaxAttempts)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "attempt timed out after 1m0s")
		assert.Equal(t, "012", string(got))
		assert.Equal(t, time.Minute+time.Second, time.Since(start))
	})
}

// waits counts attempts.
type waits struct{ count int }

func (w *waits) Wait(context.Context) error { w.count++; return nil }

// TestResumeEnds: no request is made once the caller's context has ended or the body is closed,
// also while Read waits.
func TestResumeEnds(t *testing.T) {
	for name, end := range map[string]func(cancel func(), body io.Closer){
		"canceled": func(cancel func(), _ io.Closer) { cancel() },
		"closed":   func(_ func(), body io.Closer) { _ = body.Close() },
	} {
		for when, plans := range map[string][]plan{
			"in a wait":    {{bytes: 3}},
			"in a request": {{bytes: 3}, {silent: 24 * time.Hour}},
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					s := &objectServer{object: []byte("0123456789"), plans: plans}
					delay := retry.Backoff(retry.Constant(2 * time.Hour))
					if len(plans) > 1 {
						delay = retry.NoDelay{}
					}
					out, err := s.client(resuming(retry.Policy{Backoff: delay})).GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
					require.NoError(t, err)
					time.AfterFunc(time.Hour, func() { end(cancel, out.Body) })
					start := time.Now()
					got, err := io.ReadAll(out.Body)
					assert.ErrorIs(t, err, context.Canceled)
					assert.Equal(t, "012", string(got))
					assert.Equal(t, time.Hour, time.Since(start))
					require.NoError(t, out.Body.Close())
					assert.Len(t, s.asked, len(plans))
					assert.Zero(t, s.open)
				})
			})
		}
	}
}

// TestWithPolicyTwice: the last policy counts, as for a client and then one call.
func TestWithPolicyTwice(t *testing.T) {
	short := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 1, AttemptTimeout: time.Hour}
	long := retry.Policy{Backoff: retry.NoDelay{}, MaxAttempts: 3, AttemptTimeout: time.Hour}
	s := &objectServer{object: []byte("0123456789"), plans: []plan{{bytes: 3}}}
	got, err := s.download(t, s3.GetObjectInput{}, resuming(short), resuming(long))
	require.NoError(t, err)
	assert.Equal(t, "0123456789", string(got))

	s = &objectServer{object: []byte("0123456789"), plans: []plan{{bytes: 3}}}
	_, err = s.download(t, s3.GetObjectInput{}, resuming(long), retryaws.WithPolicy(short))
	assert.ErrorIs(t, err, syscall.ECONNRESET)
}

// TestResumeChecksum: the SDK compares its checksum with the joined body.
func TestResumeChecksum(t *testing.T) {
	s := &objectServer{object: []byte("0123456789"), plans: []plan{{bytes: 3, change: func(_ *http.Request, h http.Header) {
		sum := sha256.Sum256([]byte("another object"))
		h.Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
	}}}}
	_, err := s.download(t, s3.GetObjectInput{}, resuming(retry.Policy{Backoff: retry.NoDelay{}}))
	assert.ErrorContains(t, err, "checksum did not match")
}

// TestResumeFromServer: connections to a server break in the middle of an object in several parts.
func TestResumeFromServer(t *testing.T) {
	onMoto(t, func(t *testing.T, url string) {
		p := newProxy(t, url)
		c := s3.New(s3.Options{Region: "us-east-1", Credentials: credentials, BaseEndpoint: &p.URL, UsePathStyle: true, HTTPClient: p.client()}, func(o *s3.Options) {
			o.APIOptions = append(o.APIOptions, resuming(retry.Policy{Backoff: retry.NoDelay{}}))
		})
		bucket, key := uniqueName(), aws.String("k")
		_, err := c.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket})
		require.NoError(t, err)
		object := strings.Repeat("0123456789", 100_000)
		_, err = c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader(object)})
		require.NoError(t, err)
		get := func(in s3.GetObjectInput) string {
			in.Bucket, in.Key = bucket, key
			out, err := c.GetObject(t.Context(), &in)
			require.NoError(t, err)
			got, err := io.ReadAll(out.Body)
			require.NoError(t, errors.Join(err, out.Body.Close()))
			return string(got)
		}

		p.expect(truncate, truncate, refuse(500, ""), truncate)
		assert.Equal(t, object, get(s3.GetObjectInput{}))
		assert.Equal(t, 5, p.count())
		p.expect(truncate)
		assert.Equal(t, object[5:900_000], get(s3.GetObjectInput{Range: aws.String("bytes=5-899999")}))

		p.expect(truncate)
		out, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key})
		require.NoError(t, err)
		_, err = c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("another version")})
		require.NoError(t, err)
		got, err := io.ReadAll(out.Body)
		assert.ErrorContains(t, err, "StatusCode: 412")
		assert.Equal(t, object[:len(got)], string(got), "only the first version")
		require.NoError(t, out.Body.Close())
	})
}
