package repeat

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-resty/resty/v2"
	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/redis/go-redis/v9"
	"github.com/segmentio/kafka-go"
)

var retryable = retryablehttp.NewClient()

func fifteen(ctx context.Context, url string) ([]byte, error) {
	return retry.DoValue(ctx, retry.Policy{}, func(ctx context.Context) ([]byte, error) {
		req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, retry.Permanent(err)
		}
		resp, err := retryable.Do(req) // want `this client retries by itself, and retry.DoValue retries it again, so attempts multiply: make the client with RetryMax = 0`
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if err := retryhttp.CheckStatus(resp); err != nil {
			return nil, err
		}
		return io.ReadAll(resp.Body)
	})
}

func newSingle() *retryablehttp.Client {
	c := retryablehttp.NewClient()
	c.RetryMax = 0
	return c
}

func newFive() *retryablehttp.Client {
	c := retryablehttp.NewClient()
	c.RetryMax, c.RetryWaitMin = 5, time.Second
	return c
}

func standard(ctx context.Context, p retry.Policy, url string) error {
	std := newFive().StandardClient()
	through := &http.Client{Transport: &retryablehttp.RoundTripper{Client: retryable}}
	single := newSingle()
	return retry.Do(ctx, p, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return retry.Permanent(err)
		}
		if err := checked(std.Do(req)); err != nil { // want `this client retries by itself`
			return err
		}
		if err := checked(through.Do(req)); err != nil { // want `this client retries by itself`
			return err
		}
		if err := checked(single.Get(url)); err != nil {
			return err
		}
		return checked(retryablehttp.Get(url)) // want `go-retryablehttp.Get retries by itself`
	})
}

func onlyOnce(ctx context.Context, url string) error {
	return retry.Do(ctx, retry.Policy{MaxAttempts: retry.NoRetry}, func(context.Context) error {
		return checked(retryable.Get(url))
	})
}

func byConflict(ctx context.Context, url string, conflict error) error {
	p := retry.Policy{Classifier: retry.OnlyIf(func(err error) bool { return errors.Is(err, conflict) })}
	return retry.Do(ctx, p, func(context.Context) error {
		return checked(retryable.Get(url))
	})
}

type cache struct {
	redis  *redis.Client
	single *redis.Client
}

func newCache(config struct{ Addr string }) *cache {
	return &cache{
		redis:  redis.NewClient(&redis.Options{Addr: config.Addr}),
		single: redis.NewClient(&redis.Options{Addr: config.Addr, MaxRetries: -1}),
	}
}

func (c *cache) get(ctx context.Context, p retry.Policy, key string) (value string, err error) {
	err = retry.Do(ctx, p, func(ctx context.Context) error {
		value, err = c.redis.Get(ctx, key).Result() // want `this client retries by itself, and retry.Do retries it again, so attempts multiply: make the client with MaxRetries: -1`
		if errors.Is(err, redis.Nil) {
			return nil
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return value, retry.Do(ctx, p, func(ctx context.Context) error {
		return c.touch(ctx, key)
	})
}

func (c *cache) touch(ctx context.Context, key string) error {
	if err := c.redis.Expire(ctx, key, time.Hour).Err(); err != nil { // want `this client retries by itself`
		return err
	}
	return c.single.Expire(ctx, key, time.Hour).Err()
}

// polls waits for a lock: a failure of the client ends the wait.
func (c *cache) polls(ctx context.Context, p retry.Policy, key string) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		ok, err := c.redis.SetNX(ctx, key, 1, time.Minute).Result()
		if err != nil {
			return retry.Permanent(err)
		}
		if !ok {
			return errUnavailable
		}
		return nil
	})
}

// filled falls back to the database when the cache is down.
func (c *cache) filled(ctx context.Context, p retry.Policy, key string, load func(context.Context) (string, error)) (string, error) {
	return retry.DoValue(ctx, p, func(ctx context.Context) (string, error) {
		value, err := c.redis.Get(ctx, key).Result()
		if err == nil {
			return value, nil
		}
		c.redis.Incr(ctx, "misses")
		return load(ctx)
	})
}

// swaps repeats a transaction that met another one.
func (c *cache) swaps(ctx context.Context, p retry.Policy, key string, swap func(*redis.Tx) error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		return c.redis.Watch(ctx, swap, key)
	})
}

func given(ctx context.Context, p retry.Policy, options *redis.Options, other *redis.Client, key string) error {
	client := redis.NewClient(options)
	return retry.Do(ctx, p, func(ctx context.Context) error {
		return errors.Join(client.Ping(ctx).Err(), other.Ping(ctx).Err())
	})
}

func restful(ctx context.Context, p retry.Policy, url string) error {
	patient := resty.New().SetTimeout(time.Second).SetRetryCount(3)
	single := resty.New().SetTimeout(time.Second)
	none := resty.New()
	none.SetRetryCount(0)
	return retry.Do(ctx, p, func(ctx context.Context) error {
		resp, err := patient.R().SetContext(ctx).Get(url) // want `this client retries by itself`
		if err != nil {
			return err
		}
		if resp.IsError() {
			return errUnavailable
		}
		req := single.R().SetContext(ctx)
		if _, err := req.Get(url); err != nil {
			return err
		}
		_, err = none.R().Get(url)
		return err
	})
}

func asks(ctx context.Context, p retry.Policy, options []option.RequestOption, question openai.ChatCompletionNewParams) error {
	client := openai.NewClient(option.WithAPIKey("key"))
	single := openai.NewClient(option.WithAPIKey("key"), option.WithMaxRetries(0))
	known := openai.NewClient(options...)
	return retry.Do(ctx, p, func(ctx context.Context) error {
		answer, err := client.Chat.Completions.New(ctx, question) // want `this client retries by itself.*make the client with option.WithMaxRetries\(0\)`
		if err != nil {
			return err
		}
		if len(answer.Choices) == 0 {
			return errUnavailable
		}
		if _, err := single.Chat.Completions.New(ctx, question); err != nil {
			return err
		}
		if _, err := client.Chat.Completions.New(ctx, question, option.WithMaxRetries(0)); err != nil {
			return err
		}
		_, err = known.Chat.Completions.New(ctx, question)
		return err
	})
}

func publishes(ctx context.Context, p retry.Policy, message kafka.Message) error {
	writer := &kafka.Writer{Addr: kafka.TCP("kafka:9092"), Topic: "orders"}
	defer writer.Close()
	single := &kafka.Writer{Addr: kafka.TCP("kafka:9092"), MaxAttempts: 1}
	err := retry.Do(ctx, p, func(ctx context.Context) error {
		return writer.WriteMessages(ctx, message) // want `this client retries by itself.*make the client with MaxAttempts: 1`
	})
	if err != nil {
		return err
	}
	return retry.Do(ctx, p, func(ctx context.Context) error {
		return single.WriteMessages(ctx, message)
	})
}

func loops(ctx context.Context, p retry.Policy, op func() error) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		err := backoff.Retry(op, backoff.WithContext(backoff.NewExponentialBackOff(), ctx)) // want `backoff.Retry retries by itself, and retry.Do retries it again`
		if err != nil {
			return err
		}
		if err := backoff.Retry(op, backoff.NewExponentialBackOff()); err != nil {
			return retry.Permanent(err)
		}
		return retry.Do(ctx, p, func(context.Context) error { return op() })
	})
}

func inside(ctx context.Context, p retry.Policy, op func(context.Context) error) error {
	err := backoff.Retry(func() error {
		return retry.Do(ctx, p, op) // want `retry.Do retries by itself, and backoff.Retry retries it again`
	}, backoff.NewExponentialBackOff())
	if err != nil {
		return err
	}
	return backoff.Retry(func() error {
		if err := retry.Do(ctx, p, op); err != nil {
			return backoff.Permanent(err)
		}
		return nil
	}, backoff.NewExponentialBackOff())
}

type service struct{ client, single *http.Client }

func newService(p retry.Policy) *service {
	s := &service{}
	transport := &retryhttp.Transport{Policy: p}
	s.client = &http.Client{Transport: transport}
	s.single = retryhttp.NewClient(retry.Policy{MaxAttempts: retry.NoRetry})
	return s
}

func (s *service) twice(ctx context.Context, p retry.Policy, req *http.Request) error {
	return retry.Do(ctx, p, func(ctx context.Context) error {
		resp, err := s.client.Do(req.WithContext(ctx)) // want `this client retries by itself, and Do retries it again`
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 500 {
			return errUnavailable
		}
		resp, err = s.single.Do(req.WithContext(ctx))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 500 {
			return errUnavailable
		}
		return nil
	})
}

func stacked(p retry.Policy) []any {
	through := retryablehttp.NewClient() // want `this client retries, and its Transport of retryhttp retries each of its attempts, so attempts multiply: make the client with RetryMax = 0`
	through.HTTPClient = retryhttp.NewClient(p)
	single := retryablehttp.NewClient()
	single.HTTPClient, single.RetryMax = retryhttp.NewClient(p), 0
	plain := retryablehttp.NewClient()
	plain.HTTPClient = &http.Client{Timeout: time.Second}
	client := retryhttp.NewClient(p)
	return []any{
		through, single, plain,
		resty.New().SetTransport(&retryhttp.Transport{Policy: p}).SetRetryCount(3), // want `this client retries, and its Transport of retryhttp retries`
		resty.NewWithClient(client).SetRetryCount(3),                               // want `this client retries, and its Transport of retryhttp retries`
		resty.NewWithClient(client),
		resty.New().SetTransport(&retryhttp.Transport{Policy: retry.Policy{MaxAttempts: retry.NoRetry}}).SetRetryCount(3),
		openai.NewClient(option.WithHTTPClient(client)),
	}
}
