//go:build unix

package queues

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrykeep"
	"github.com/gobackoff/retry/test/testserver"
)

var (
	rabbitmq = testserver.RabbitMQ(func(_ context.Context, addr string) error {
		conn, err := amqp.Dial(amqpURL(addr))
		if err != nil {
			return err
		}
		return conn.Close()
	})

	// What a killed Redis has acknowledged is still there.
	redisServer = testserver.Redis(func(ctx context.Context, addr string) error {
		client := redis.NewClient(&redis.Options{Addr: addr})
		defer client.Close()
		return client.Ping(ctx).Err()
	}, "--appendonly", "yes", "--appendfsync", "always")

	moto = &testserver.Program{
		Name:   "moto",
		Signal: "TERM",
		SetUp: func(_ *testserver.Program, _ string, port int) ([]string, error) {
			server, err := testserver.Find(cmp.Or(os.Getenv("MOTO_SERVER"), "moto_server"))
			return []string{server, "-H", "127.0.0.1", "-p", strconv.Itoa(port)}, err
		},
		Ready: testserver.Answers("/moto-api"),
	}
)

func amqpURL(addr string) string { return "amqp://guest:guest@" + addr + "/" }

func TestMain(m *testing.M) {
	code := m.Run()
	for _, p := range []*testserver.Program{rabbitmq, redisServer, moto} {
		p.Clean()
	}
	os.Exit(code)
}

// A letter is a message that was given up.
type letter struct{ data, reason, err string }

// A broker has an empty queue, and a consumer of it.
type broker struct {
	publish func(t *testing.T, key, data string)
	session func(worker string, policy retry.Policy, handle func(ctx context.Context, data string) error) func(context.Context, func()) error
	letters func() ([]letter, error)
	left    func() (int, error) // messages that wait or are handled, without the dead letters

	refuse  func(t *testing.T) // dead letters cannot be stored from now on
	accept  func(t *testing.T)
	remove  func(t *testing.T) // the queue; nil: not tried
	restart func() error       // after a kill, or what the fake can do instead
	ordered bool               // messages with one key
	counts  bool               // deliveries that killed their worker
}

var brokers = map[string]func(*testing.T) *broker{
	"RabbitMQ": openRabbit,
	"Redis":    openRedis,
	"Kafka":    openKafka,
	"SQS":      openSQS,
}

// unique returns the name of a queue of this test.
func unique() string { return fmt.Sprint("orders", time.Now().UnixNano()) }

func openRabbit(t *testing.T) *broker {
	url := amqpURL(rabbitmq.Start(t))
	name := unique()
	in := func(do func(*amqp.Channel) error) error {
		conn, err := amqp.Dial(url)
		if err != nil {
			return err
		}
		defer conn.Close() // what was fetched and not acknowledged goes back
		channel, err := conn.Channel()
		if err != nil {
			return err
		}
		return do(channel)
	}
	require.NoError(t, in(Rabbit{Queue: name}.declare))
	return &broker{
		counts: true,
		publish: func(t *testing.T, _, data string) {
			require.NoError(t, in(func(channel *amqp.Channel) error {
				err := channel.Confirm(false)
				if err != nil {
					return err
				}
				returned := channel.NotifyReturn(make(chan amqp.Return, 1))
				return store(t.Context(), channel, returned, name, amqp.Publishing{Body: []byte(data), DeliveryMode: amqp.Persistent})
			}))
		},
		session: func(_ string, policy retry.Policy, handle func(context.Context, string) error) func(context.Context, func()) error {
			return Rabbit{URL: url, Queue: name, Policy: policy, Handle: func(ctx context.Context, d amqp.Delivery) error {
				return handle(ctx, string(d.Body))
			}}.Session
		},
		letters: func() (found []letter, err error) {
			err = in(func(channel *amqp.Channel) error {
				for {
					d, ok, err := channel.Get(name+".dead", false)
					if err != nil || !ok {
						return err
					}
					found = append(found, letter{string(d.Body), fmt.Sprint(d.Headers[headerReason]), fmt.Sprint(d.Headers[headerError])})
				}
			})
			return found, err
		},
		left: func() (n int, err error) {
			err = in(func(channel *amqp.Channel) error {
				queues := []string{name}
				for i := range rungs {
					queues = append(queues, Rabbit{Queue: name}.waiting(i))
				}
				for _, queue := range queues {
					info, err := channel.QueueDeclarePassive(queue, true, false, false, false, nil)
					if err != nil {
						return err
					}
					n += info.Messages
				}
				return nil
			})
			return n, err
		},
		refuse: func(t *testing.T) {
			assert.NoError(t, in(func(channel *amqp.Channel) error {
				_, err := channel.QueueDelete(name+".dead", false, false, false)
				return err
			}))
		},
		accept: func(*testing.T) {}, // the next session makes the queue
		remove: func(t *testing.T) {
			assert.NoError(t, in(func(channel *amqp.Channel) error {
				_, err := channel.QueueDelete(name, false, false, false)
				return err
			}))
		},
		restart: func() error {
			err := rabbitmq.Stop("USR1")
			if err != nil {
				return err
			}
			return rabbitmq.Run()
		},
	}
}

func openRedis(t *testing.T) *broker {
	client := redis.NewClient(&redis.Options{Addr: redisServer.Start(t)})
	t.Cleanup(func() { _ = client.Close() })
	name := unique()
	ctx := context.WithoutCancel(t.Context())
	stream := Stream{Client: client, Name: name, Group: "group", MaxDeliveries: 3}
	return &broker{
		counts: true,
		publish: func(t *testing.T, _, data string) {
			require.NoError(t, client.XAdd(ctx, &redis.XAddArgs{Stream: name, Values: []any{"data", data}}).Err())
		},
		session: func(worker string, policy retry.Policy, handle func(context.Context, string) error) func(context.Context, func()) error {
			s := stream
			s.Consumer, s.Policy, s.Idle = worker, policy, 3*policy.AttemptTimeout
			s.Handle = func(ctx context.Context, m redis.XMessage) error {
				data, _ := m.Values["data"].(string)
				return handle(ctx, data)
			}
			return s.Session
		},
		letters: func() (found []letter, err error) {
			messages, err := client.XRange(ctx, stream.dead(), "-", "+").Result()
			for _, m := range messages {
				found = append(found, letter{fmt.Sprint(m.Values["data"]), fmt.Sprint(m.Values[fieldReason]), fmt.Sprint(m.Values[fieldError])})
			}
			return found, err
		},
		left: func() (int, error) {
			pipe := client.TxPipeline()
			entries, waiting := pipe.XLen(ctx, name), pipe.ZCard(ctx, stream.waiting())
			_, err := pipe.Exec(ctx)
			return int(entries.Val() + waiting.Val()), err
		},
		refuse: func(t *testing.T) { assert.NoError(t, client.Set(ctx, stream.dead(), "no stream", 0).Err()) },
		accept: func(t *testing.T) { assert.NoError(t, client.Del(ctx, stream.dead()).Err()) },
		restart: func() error {
			err := redisServer.Stop("KILL")
			if err != nil {
				return err
			}
			return redisServer.Run()
		},
	}
}

func openKafka(t *testing.T) *broker {
	const topic = "orders"
	data := t.TempDir() // what a broker has acknowledged is there
	begin := func(port int) (*kfake.Cluster, error) {
		return kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.DataDir(data), kfake.SyncWrites(), kfake.SeedTopics(3, topic), kfake.SeedTopics(1, topic+".dead"))
	}
	cluster, err := begin(0)
	require.NoError(t, err)
	t.Cleanup(func() { cluster.Close() })
	seeds := kgo.SeedBrokers(cluster.ListenAddrs()...)
	client, err := kgo.NewClient(seeds)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	ctx := context.WithoutCancel(t.Context())
	return &broker{
		ordered: true,
		publish: func(t *testing.T, key, data string) {
			require.NoError(t, client.ProduceSync(ctx, &kgo.Record{Topic: topic, Key: []byte(key), Value: []byte(data)}).FirstErr())
		},
		session: func(_ string, policy retry.Policy, handle func(context.Context, string) error) func(context.Context, func()) error {
			return Topics{
				Options: []kgo.Opt{seeds, kgo.ConsumerGroup("group"), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.UnknownTopicRetries(0)},
				Policy:  policy,
				Handle:  func(ctx context.Context, r *kgo.Record) error { return handle(ctx, string(r.Value)) },
			}.Session
		},
		letters: func() (found []letter, err error) {
			dead, err := kgo.NewClient(seeds, kgo.ConsumeTopics(topic+".dead"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
			if err != nil {
				return nil, err
			}
			defer dead.Close()
			ends, err := admin.ListEndOffsets(ctx, topic+".dead")
			if err != nil {
				return nil, err
			}
			ends.Each(func(o kadm.ListedOffset) {
				for int64(len(found)) < o.Offset {
					dead.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
						found = append(found, letter{string(r.Value), header(r, letterReason), header(r, letterError)})
					})
				}
			})
			return found, nil
		},
		left: func() (int, error) {
			ends, err := admin.ListEndOffsets(ctx, topic)
			if err != nil {
				return 0, err
			}
			committed, err := admin.FetchOffsets(ctx, "group")
			if err != nil {
				return 0, err
			}
			n := 0
			ends.Each(func(o kadm.ListedOffset) {
				done, _ := committed.Lookup(o.Topic, o.Partition)
				n += int(o.Offset - max(0, done.At))
			})
			return n, nil
		},
		refuse: func(t *testing.T) {
			_, err := admin.DeleteTopics(ctx, topic+".dead")
			assert.NoError(t, err)
		},
		accept: func(t *testing.T) {
			_, err := admin.CreateTopics(ctx, 1, 1, nil, topic+".dead")
			assert.NoError(t, err)
		},
		restart: func() error {
			_, port, err := net.SplitHostPort(cluster.ListenAddrs()[0])
			if err != nil {
				return err
			}
			number, err := strconv.Atoi(port)
			if err != nil {
				return err
			}
			cluster.Close()
			cluster, err = begin(number)
			return err
		},
	}
}

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

func openSQS(t *testing.T) *broker {
	options := sqs.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String("http://" + moto.Start(t)),
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
	}
	client := sqs.New(options)
	network := new(brokenNetwork)
	options.HTTPClient = &http.Client{Transport: network}
	workers := sqs.New(options)
	ctx := context.WithoutCancel(t.Context())
	create := func(t *testing.T, name string) string {
		out, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name})
		if !assert.NoError(t, err) {
			return ""
		}
		return *out.QueueUrl
	}
	name := unique()
	url, dead := create(t, name), create(t, name+"-dead")
	_, err := client.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &dead, Attributes: map[string]string{"VisibilityTimeout": "0"}})
	require.NoError(t, err)
	count := func() (int, error) {
		out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
		if err != nil {
			return 0, err
		}
		visible, _ := strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"])
		invisible, _ := strconv.Atoi(out.Attributes["ApproximateNumberOfMessagesNotVisible"])
		return visible + invisible, nil
	}
	return &broker{
		counts: true,
		left:   count,
		publish: func(t *testing.T, _, data string) {
			_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &data})
			require.NoError(t, err)
		},
		session: func(_ string, policy retry.Policy, handle func(context.Context, string) error) func(context.Context, func()) error {
			policy.MaxAttempts += 4 // deploys count
			return SQS{Client: workers, URL: url, Dead: dead, Visibility: 2 * policy.AttemptTimeout, MaxReceive: policy.MaxAttempts + 2, Policy: policy, Handle: func(ctx context.Context, m types.Message) error {
				return handle(ctx, *m.Body)
			}}.Session
		},
		letters: func() (found []letter, err error) {
			out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &dead, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"}})
			if err != nil {
				return nil, err
			}
			for _, m := range out.Messages {
				found = append(found, letter{*m.Body, aws.ToString(m.MessageAttributes[attributeReason].StringValue), aws.ToString(m.MessageAttributes[attributeError].StringValue)})
			}
			return found, nil
		},
		refuse: func(t *testing.T) {
			_, err := client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &dead})
			assert.NoError(t, err)
		},
		accept: func(t *testing.T) { create(t, name+"-dead") },
		restart: func() error { // moto would forget its messages
			network.broken.Store(true)
			time.Sleep(*outage / 4)
			network.broken.Store(false)
			return nil
		},
	}
}

// A brokenNetwork loses responses, and refuses new messages: with a lost response, there would be
// two dead letters.
type brokenNetwork struct{ broken atomic.Bool }

func (b *brokenNetwork) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.broken.Load() && req.Header.Get("X-Amz-Target") == "AmazonSQS.SendMessage" {
		return nil, syscall.ECONNREFUSED
	}
	response, err := http.DefaultTransport.RoundTrip(req)
	if err == nil && b.broken.Load() {
		_ = response.Body.Close()
		return nil, syscall.ECONNRESET
	}
	return response, err
}

// keep runs a session again and again until ctx ends.
func keep(ctx context.Context, session func(context.Context, func()) error) error {
	k := &retrykeep.Keeper{
		Policy: retry.Policy{Backoff: retry.Constant(50 * time.Millisecond), AttemptTimeout: 10 * time.Second},
		Useful: time.Nanosecond,
		Spread: -1,
	}
	return k.Run(ctx, session)
}
