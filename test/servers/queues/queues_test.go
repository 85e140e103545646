//go:build unix

package queues

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
)

var (
	messages = flag.Int("queues.messages", 60, "messages that TestQueues publishes")
	outage   = flag.Duration("queues.outage", 2*time.Second, "how long the handlers of TestQueues fail")
	deploys  = flag.Duration("queues.deploys", 400*time.Millisecond, "time between two replacements of a worker in TestQueues")
)

// scaled returns a policy whose delays outlast the outage, and whose attempts are short.
func scaled() retry.Policy {
	return retry.Policy{
		Backoff:        retry.EqualJitter{Base: *outage / 5, Cap: *outage / 2},
		MaxAttempts:    8,
		AttemptTimeout: *outage / 4,
	}
}

// A ledger is the database of the handlers, which knows what they have done.
type ledger struct {
	mu    sync.Mutex
	from  time.Time // it is away from then on
	away  time.Duration
	calls map[string]int
	done  map[string]int
	order map[string][]int // the numbers that were done, by key
}

func newLedger() *ledger {
	return &ledger{calls: map[string]int{}, done: map[string]int{}, order: map[string][]int{}}
}

// work is what a message says.
type work struct {
	ID, Key string
	N       int
	Hangs   int // attempts that end with their context
}

var errAway = errors.New("the database is away")

func (l *ledger) handle(ctx context.Context, data string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[data]++
	var w work
	err := json.Unmarshal([]byte(data), &w)
	if err != nil {
		return err
	}
	if l.calls[data] <= w.Hangs {
		l.mu.Unlock()
		<-ctx.Done()
		l.mu.Lock()
		return ctx.Err()
	}
	since := time.Since(l.from)
	if since > 0 && since < l.away {
		return errAway
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.done[w.ID]++
	l.order[w.Key] = append(l.order[w.Key], w.N)
	return nil
}

func (l *ledger) doneIDs() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.done))
}

// text returns the message of a piece of work.
func text(t *testing.T, w work) string {
	data, err := json.Marshal(w)
	require.NoError(t, err)
	return string(data)
}

// onEachBroker runs a test with an empty queue of each broker.
func onEachBroker(t *testing.T, test func(t *testing.T, b *broker)) {
	for name, open := range brokers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// settled waits until the queue is empty and has as many dead letters as wanted.
func (b *broker) settled(t *testing.T, letters int) []letter {
	t.Helper()
	var found []letter
	require.Eventually(t, func() bool {
		left, err := b.left()
		if err != nil || left > 0 {
			return false
		}
		found, err = b.letters()
		return err == nil && len(found) >= letters
	}, time.Minute+10**outage, 50*time.Millisecond)
	assert.Len(t, found, letters)
	return found
}

// TestQueues: some messages can never be handled, some hang at first, and some are published
// twice. The database is away for a while, and workers are replaced all the time. Nothing is lost
// or stuck, and what cannot be handled makes one dead letter each.
func TestQueues(t *testing.T) {
	onEachBroker(t, func(t *testing.T, b *broker) { tryQueue(t, b, nil) })
}

// TestKilledBroker is TestQueues, and the broker is killed once. Kafka's fake is stopped and begins
// again with its data, and SQS loses its connections for a while.
func TestKilledBroker(t *testing.T) {
	for name, open := range brokers {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			tryQueue(t, b, b.restart)
		})
	}
}

func tryQueue(t *testing.T, b *broker, restart func() error) {
	poison := map[int]string{10: `{"ID":x}`, 20: `{"ID":`, 30: "no JSON"}
	var want []string
	for n := range *messages {
		w := work{ID: fmt.Sprintf("m%03d", n), Key: fmt.Sprint("k", n%7), N: n}
		if n == 40 || n == 41 {
			w.Hangs = 2
		}
		want = append(want, w.ID)
		b.publish(t, w.Key, text(t, w))
		if n%12 == 5 {
			b.publish(t, w.Key, text(t, w))
		}
		if poison[n] != "" {
			b.publish(t, w.Key, poison[n])
		}
	}
	l := newLedger()
	l.from, l.away = time.Now().Add(*outage/4), *outage
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	begin := func(worker int) context.CancelFunc {
		ctx, stop := context.WithCancel(ctx)
		workers.Go(func() {
			assert.ErrorIs(t, keep(ctx, b.session(fmt.Sprint("worker ", worker), scaled(), l.handle)), context.Canceled)
		})
		return stop
	}
	workers.Go(func() {
		stops := []context.CancelFunc{begin(0), begin(1)}
		for i := 2; ctx.Err() == nil; i++ {
			_ = retry.SystemClock{}.Sleep(ctx, *deploys)
			if time.Since(l.from) < *outage+5**deploys { // later, all could get their work done
				stops[i-2]()
				stops = append(stops, begin(i))
			}
		}
		for _, stop := range stops {
			stop()
		}
	})
	if restart != nil {
		time.Sleep(*outage / 2) // while messages wait for their next attempt
		require.NoError(t, restart())
	}
	letters := b.settled(t, len(poison))
	stop()
	workers.Wait()
	assert.Equal(t, want, l.doneIDs())
	var dead []string
	for _, l := range letters {
		dead = append(dead, l.data)
	}
	assert.ElementsMatch(t, slices.Collect(maps.Values(poison)), dead)
	if restart == nil {
		assert.Equal(t, 1, l.calls[poison[10]], "a message that does not parse")
	}
	if b.ordered {
		for key, numbers := range l.order {
			if restart != nil {
				numbers = firstTimes(numbers)
			}
			assert.True(t, slices.IsSorted(numbers), "%s: %v", key, numbers)
		}
	}
}

// firstTimes leaves out what was handled again, because a killed broker has not stored that it was
// handled.
func firstTimes(numbers []int) []int {
	var first []int
	for _, n := range numbers {
		if !slices.Contains(first, n) {
			first = append(first, n)
		}
	}
	return first
}

// TestCrash: a message kills its workers. It becomes a dead letter, and the others are handled.
func TestCrash(t *testing.T) {
	onEachBroker(t, func(t *testing.T, b *broker) {
		if !b.counts {
			t.Skip("the broker does not count deliveries")
		}
		b.publish(t, "", "kill")
		var want []string
		for n := range 10 {
			w := work{ID: fmt.Sprintf("m%03d", n)}
			want = append(want, w.ID)
			b.publish(t, "", text(t, w))
		}
		l := newLedger()
		session := func(worker int) func(context.Context, func()) error {
			return b.session(fmt.Sprint(worker), scaled(), func(ctx context.Context, data string) error {
				if data == "kill" {
					runtime.Goexit() // nothing is settled, as if the process had died
				}
				return l.handle(ctx, data)
			})
		}
		ctx, stop := context.WithCancel(t.Context())
		var workers sync.WaitGroup
		for worker := range 2 {
			workers.Go(func() {
				for ctx.Err() == nil {
					var life sync.WaitGroup
					life.Go(func() { _ = session(worker)(ctx, func() {}) })
					life.Wait()
				}
			})
		}
		letters := b.settled(t, 1)
		stop()
		workers.Wait()
		assert.Equal(t, "kill", letters[0].data)
		assert.Equal(t, want, l.doneIDs())
	})
}

// start runs a worker until the test ends.
func start(t *testing.T, b *broker, policy retry.Policy, handle func(context.Context, string) error) {
	ctx, stop := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	worker.Go(func() {
		assert.ErrorIs(t, keep(ctx, b.session("worker", policy, handle)), context.Canceled)
	})
	t.Cleanup(func() {
		stop()
		worker.Wait()
	})
}

// TestPanic: a handler panics. The worker goes on, and after the last attempt the dead letter says
// why.
func TestPanic(t *testing.T) {
	onEachBroker(t, func(t *testing.T, b *broker) {
		b.publish(t, "key", "panic")
		b.publish(t, "key", "fine")
		policy := retry.Policy{Backoff: retry.Constant(time.Millisecond), MaxAttempts: 2, AttemptTimeout: time.Second / 2}
		start(t, b, policy, func(_ context.Context, data string) error {
			if data == "panic" {
				panic("ouch\x00")
			}
			return nil
		})
		letters := b.settled(t, 1)
		assert.Equal(t, "panic", letters[0].data)
		assert.Equal(t, "attempts", letters[0].reason)
		assert.Contains(t, letters[0].err, retry.ErrNoReturn.Error()+": ouch")
	})
}

// TestRefused: the broker does not store a dead letter. The message is not lost: it is delivered
// again until the letter is stored.
func TestRefused(t *testing.T) {
	onEachBroker(t, func(t *testing.T, b *broker) {
		b.publish(t, "key", "poison")
		var calls atomic.Int64
		start(t, b, scaled(), func(context.Context, string) error {
			switch calls.Add(1) {
			case 1:
				b.refuse(t)
			case 2:
				b.accept(t)
			}
			return retry.Permanent(errAway)
		})
		letters := b.settled(t, 1)
		assert.Equal(t, letter{"poison", "permanent", errAway.Error()}, letters[0])
		assert.GreaterOrEqual(t, calls.Load(), int64(2))
	})
}

// TestInvalid: a consumer whose limits would lose or repeat messages does not begin.
func TestInvalid(t *testing.T) {
	valid := retry.Policy{AttemptTimeout: time.Second}
	for name, session := range map[string]func(context.Context, func()) error{
		"RabbitMQ, no AttemptTimeout": Rabbit{}.Session,
		"RabbitMQ, invalid policy":    Rabbit{Policy: retry.Policy{AttemptTimeout: time.Second, MaxAttempts: -2}}.Session,
		"Redis, no AttemptTimeout":    Stream{Idle: time.Second, MaxDeliveries: 1}.Session,
		"Redis, Idle too short":       Stream{Idle: time.Second, MaxDeliveries: 1, Policy: valid}.Session,
		"Redis, no MaxDeliveries":     Stream{Idle: time.Minute, Policy: valid}.Session,
		"Kafka, no AttemptTimeout":    Topics{}.Session,
		"SQS, no AttemptTimeout":      SQS{Visibility: time.Second, MaxReceive: 1}.Session,
		"SQS, Visibility too short":   SQS{Visibility: time.Second, MaxReceive: 1, Policy: valid}.Session,
		"SQS, Visibility too long":    SQS{Visibility: 13 * time.Hour, MaxReceive: 1, Policy: valid}.Session,
		"SQS, no MaxReceive":          SQS{Visibility: time.Minute, Policy: valid}.Session,
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorIs(t, keep(t.Context(), session), retry.ErrInvalid)
		})
	}
}

// TestRabbitKeeps: what a handler sees of a message is the same at each attempt, except for what
// tells RabbitMQ where to send it.
func TestRabbitKeeps(t *testing.T) {
	url, queue, exchange := amqpURL(rabbitmq.Start(t)), unique(), unique()
	conn, err := amqp.Dial(url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	channel, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, Rabbit{Queue: queue}.declare(channel))
	require.NoError(t, channel.ExchangeDeclare(exchange, "topic", false, true, false, false, nil))
	require.NoError(t, channel.QueueBind(queue, "order.*", exchange, false, nil))
	require.NoError(t, channel.Publish(exchange, "order.new", true, false, amqp.Publishing{
		Headers:       amqp.Table{"tenant": "t1", "CC": []any{queue + ".dead"}},
		ContentType:   "text/plain",
		CorrelationId: "correlation",
		MessageId:     "id",
		UserId:        "guest",
		Type:          "order",
		Body:          []byte("body"),
	}))
	seen := make(chan amqp.Delivery, 10)
	consumer := Rabbit{URL: url, Queue: queue, Policy: scaled(), Handle: func(_ context.Context, d amqp.Delivery) error {
		seen <- d
		if len(seen) < 2 {
			return errAway
		}
		return nil
	}}
	ctx, stop := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	worker.Go(func() { _ = keep(ctx, consumer.Session) })
	first := <-seen
	for len(seen) == 0 {
		time.Sleep(time.Millisecond)
	}
	stop()
	worker.Wait()
	second := <-seen
	for _, d := range []amqp.Delivery{first, second} {
		assert.Equal(t, exchange, d.Exchange)
		assert.Equal(t, "order.new", d.RoutingKey)
		assert.Equal(t, "t1", d.Headers["tenant"])
		assert.Equal(t, []string{"text/plain", "correlation", "id", "order", "body"}, []string{d.ContentType, d.CorrelationId, d.MessageId, d.Type, string(d.Body)})
	}
	info, err := channel.QueueDeclarePassive(queue+".dead", true, false, false, false, nil)
	require.NoError(t, err)
	assert.Zero(t, info.Messages, "a retry has sent a copy")
}

// TestRabbitDeleted: a queue that is deleted ends the session, and the next one makes it again.
func TestRabbitDeleted(t *testing.T) {
	b := openRabbit(t)
	sessions, handled := make(chan bool, 100), make(chan string, 100)
	session := b.session("worker", scaled(), func(_ context.Context, data string) error {
		handled <- data
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	worker.Go(func() {
		_ = keep(ctx, func(ctx context.Context, up func()) error {
			return session(ctx, func() { sessions <- true; up() })
		})
	})
	<-sessions
	b.remove(t)
	<-sessions
	b.publish(t, "", "after")
	assert.Equal(t, "after", <-handled)
	stop()
	worker.Wait()
}

// TestRedisKeeps: a message keeps its fields, and two messages that are alike stay two while they
// wait.
func TestRedisKeeps(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: redisServer.Start(t)})
	t.Cleanup(func() { _ = client.Close() })
	binary := "\x00\xff\n \"'"
	var mu sync.Mutex
	seen := map[string]int{}
	s := Stream{Client: client, Name: unique(), Group: "group", Consumer: "worker", Idle: time.Minute, MaxDeliveries: 3, Policy: scaled(), Handle: func(_ context.Context, m redis.XMessage) error {
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, map[string]any{"data": binary, "": "empty"}, m.Values)
		seen[m.ID]++
		if len(seen) <= 2 {
			return errAway
		}
		return nil
	}}
	for range 2 {
		require.NoError(t, client.XAdd(t.Context(), &redis.XAddArgs{Stream: s.Name, Values: []any{"data", binary, "", "empty"}}).Err())
	}
	ctx, stop := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	worker.Go(func() { _ = keep(ctx, s.Session) })
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seen) == 4
	}, time.Minute, 10*time.Millisecond)
	stop()
	worker.Wait()
	assert.Zero(t, client.ZCard(t.Context(), s.waiting()).Val())
}

// TestLetterAttributes: a message with as many attributes as SQS allows has a dead letter, too.
func TestLetterAttributes(t *testing.T) {
	for n, want := range map[int]int{0: 2, 8: 10, 9: 9, 10: 10} {
		m := types.Message{MessageId: aws.String("id"), MessageAttributes: map[string]types.MessageAttributeValue{}}
		for i := range n {
			m.MessageAttributes[fmt.Sprint(i)] = types.MessageAttributeValue{}
		}
		letter := SQS{}.letter(m, &retry.Error{Err: errors.New(""), Reason: retry.ErrPermanent})
		assert.Len(t, letter.MessageAttributes, want)
		assert.Len(t, m.MessageAttributes, n)
		if n == 0 {
			assert.NotEmpty(t, *letter.MessageAttributes[attributeError].StringValue, "SQS refuses an empty value")
		}
	}
	fifo := types.Message{MessageId: aws.String("id"), Attributes: map[string]string{"MessageGroupId": "group"}}
	letter := SQS{}.letter(fifo, &retry.Error{Err: errAway, Reason: retry.ErrPermanent})
	assert.Equal(t, "group", *letter.MessageGroupId)
	assert.Equal(t, "id", *letter.MessageDeduplicationId)
}

// TestReason: brokers accept the text of any error.
func TestReason(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"plain":         {errAway, errAway.Error()},
		"empty":         {errors.New(""), "an error without text"},
		"lines":         {errors.New("a\nb\x00c\u2028d"), "a b c d"},
		"not UTF-8":     {errors.New("a\xffb"), "a b"},
		"long":          {errors.New(strings.Repeat("é", 2000)), strings.Repeat("é", 512) + " ..."},
		"with a secret": {&url.Error{Op: "Get", URL: "https://u:p@host/path?key=secret", Err: errAway}, `Get "https://host/path": ` + errAway.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			reason, text := reasonOf(&retry.Error{Err: tt.err, Reason: retry.ErrMaxElapsed})
			assert.Equal(t, "elapsed", reason)
			assert.Equal(t, tt.want, text)
		})
	}
}

// TestWholeSeconds: waits of SQS have the right mean.
func TestWholeSeconds(t *testing.T) {
	const draws = 10_000
	sum := 0
	for range draws {
		n := wholeSeconds(300 * time.Millisecond)
		require.Contains(t, []int32{0, 1}, n)
		sum += int(n)
	}
	assert.InDelta(t, 0.3, float64(sum)/draws, 0.03)
	assert.EqualValues(t, 7, wholeSeconds(7*time.Second))
	assert.EqualValues(t, 43200, wholeSeconds(100*time.Hour))
}
