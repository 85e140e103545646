package queues

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// The fields that Stream adds to a message that has failed.
const (
	fieldID     = "retry-id"           // the first entry of the message
	fieldFailed = "retry-failed"       // the number of failures
	fieldReason = "dead-letter-reason" // see retry.Error.ReasonLabel
	fieldError  = "dead-letter-error"
)

// Stream consumes a stream of Redis by a consumer group. A message that waits for its next attempt
// is in the sorted set NAME:retry, by the time when it is due, and one that was given up is in the
// stream NAME:dead. A message that was handled is removed, so no other group may read the stream.
// In a cluster, the name needs a hash tag, such as {orders}. To handle several messages at a time,
// run several Keepers.
type Stream struct {
	Client        redis.UniversalClient
	Name          string
	Group         string
	Consumer      string        // the name of this worker, which no other one has
	Idle          time.Duration // after which the message of a killed worker is taken over; longer than AttemptTimeout
	MaxDeliveries int64         // a message that kills this many workers becomes a dead letter; at least 1
	Policy        retry.Policy  // with an AttemptTimeout
	Handle        func(context.Context, redis.XMessage) error
}

// Each script makes one step, which a crash cannot divide. It does nothing if the message is not
// pending: then it has been settled already, by another worker or by a request whose response was
// lost. A script that fails in the middle is not undone, so the message is removed last.
var (
	retryLater = redis.NewScript(`
if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1) == 0 then return 0 end
local t = redis.call('TIME')
local m = {}
for i = 4, #ARGV do m[#m + 1] = ARGV[i] end
redis.call('ZADD', KEYS[2], t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[3], ARGV[2] .. ' ' .. cmsgpack.pack(m))
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
return redis.call('XDEL', KEYS[1], ARGV[2])`)

	// Returns the milliseconds until the next message is due, or -1.
	moveDue = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
for _, m in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)) do
	redis.call('XADD', KEYS[1], '*', unpack(cmsgpack.unpack(string.sub(m, string.find(m, ' ', 1, true) + 1))))
	redis.call('ZREM', KEYS[2], m)
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if #first == 0 then return -1 end
return math.max(0, first[2] - now)`)

	toDeadLetters = redis.NewScript(`
if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1) == 0 then return 0 end
local m = {}
for i = 3, #ARGV do m[#m + 1] = ARGV[i] end
redis.call('XADD', KEYS[2], '*', unpack(m))
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
return redis.call('XDEL', KEYS[1], ARGV[2])`)
)

// Session is for a [retrykeep.Keeper]. When ctx ends, the current message is settled first.
func (s Stream) Session(ctx context.Context, up func()) error {
	err := s.check()
	if err != nil {
		return err
	}
	err = s.Client.XGroupCreateMkStream(ctx, s.Name, s.Group, "0").Err()
	if err != nil && !redis.HasErrorPrefix(err, "BUSYGROUP") { // otherwise it exists
		return err
	}
	up()
	cursor := "0-0"
	for ctx.Err() == nil {
		next, err := moveDue.Run(ctx, s.Client, []string{s.Name, s.waiting()}).Int64()
		if err != nil {
			return err
		}
		abandoned, following, err := s.Client.XAutoClaim(ctx, &redis.XAutoClaimArgs{
			Stream: s.Name, Group: s.Group, Consumer: s.Consumer, MinIdle: s.Idle, Start: cursor, Count: 1,
		}).Result()
		if err != nil {
			return err
		}
		cursor = following
		for _, m := range abandoned {
			err = s.takeOver(ctx, m)
			if err != nil {
				return err
			}
		}
		if len(abandoned) > 0 {
			continue
		}
		fresh, err := s.read(ctx, next)
		if err != nil {
			return err
		}
		for _, m := range fresh {
			err = s.settle(ctx, m, s.attempt)
			if err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (s Stream) check() error {
	err := check(s.Policy)
	if err != nil {
		return err
	}
	if s.Idle <= s.Policy.AttemptTimeout || s.MaxDeliveries < 1 {
		return retry.Permanent(fmt.Errorf("%w: Idle has to be longer than AttemptTimeout, and MaxDeliveries at least 1", retry.ErrInvalid))
	}
	return nil
}

func (s Stream) waiting() string { return s.Name + ":retry" }

func (s Stream) dead() string { return s.Name + ":dead" }

// read returns a new message, or none if there is none until a message is due, and for a second at
// most.
func (s Stream) read(ctx context.Context, next int64) ([]redis.XMessage, error) {
	block := time.Second
	if next >= 0 {
		block = min(block, time.Duration(max(1, next))*time.Millisecond) // 0 would be for ever
	}
	streams, err := s.Client.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: s.Group, Consumer: s.Consumer, Streams: []string{s.Name, ">"}, Count: 1, Block: block,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return streams[0].Messages, nil
}

// takeOver settles a message whose worker has not settled it in time. It counts the deliveries,
// because a worker that was killed has not counted a failure.
func (s Stream) takeOver(ctx context.Context, m redis.XMessage) error {
	pending, err := s.Client.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: s.Name, Group: s.Group, Start: m.ID, End: m.ID, Count: 1}).Result()
	if err != nil {
		return err
	}
	if len(pending) == 0 || pending[0].RetryCount <= s.MaxDeliveries {
		return s.settle(ctx, m, s.attempt)
	}
	return s.settle(ctx, m, func(_ context.Context, _ redis.XMessage, _ string, number int) adapt.Outcome {
		killer := &retry.Error{Err: retry.ErrNoReturn, Reason: retry.ErrMaxAttempts, Attempts: number}
		return adapt.Outcome{Action: adapt.DeadLetter, Err: killer}
	})
}

func (s Stream) attempt(ctx context.Context, m redis.XMessage, id string, number int) adapt.Outcome {
	return attempt(ctx, s.Policy, id, number, func(ctx context.Context) error { return s.Handle(ctx, m) })
}

// settle decides about a message and tells the server. The error is the server's.
func (s Stream) settle(ctx context.Context, m redis.XMessage, decide func(context.Context, redis.XMessage, string, int) adapt.Outcome) error {
	fields := maps.Clone(m.Values)
	id, failed := m.ID, 0
	if first, ok := fields[fieldID].(string); ok {
		id = first
		count, _ := fields[fieldFailed].(string)
		failed, _ = strconv.Atoi(count) // 0 if it is no number
	}
	delete(fields, fieldID)
	delete(fields, fieldFailed)
	o := decide(ctx, redis.XMessage{ID: m.ID, Values: fields}, id, failed+1)
	ctx, cancel := settling(ctx)
	defer cancel()
	switch o.Action {
	case adapt.Redeliver:
		return s.later(ctx, m.ID, o.Wait, with(fields, fieldID, id, fieldFailed, strconv.Itoa(failed+1)))
	case adapt.GiveBack:
		return s.later(ctx, m.ID, 0, with(fields, fieldID, id, fieldFailed, strconv.Itoa(failed)))
	case adapt.DeadLetter:
		reason, text := reasonOf(o.Err)
		letter := with(fields, fieldID, id, fieldFailed, strconv.Itoa(failed), fieldReason, reason, fieldError, text)
		err := toDeadLetters.Run(ctx, s.Client, []string{s.Name, s.dead()}, append([]any{s.Group, m.ID}, letter...)...).Err()
		if err != nil {
			return notStored(s.dead(), err)
		}
		return nil
	}
	pipe := s.Client.TxPipeline()
	pipe.XAck(ctx, s.Name, s.Group, m.ID)
	pipe.XDel(ctx, s.Name, m.ID)
	_, err := pipe.Exec(ctx)
	return err
}

func (s Stream) later(ctx context.Context, entry string, wait time.Duration, fields []any) error {
	ms := wait.Milliseconds()
	if wait > 0 {
		ms++ // rounded up
	}
	return retryLater.Run(ctx, s.Client, []string{s.Name, s.waiting()}, append([]any{s.Group, entry, ms}, fields...)...).Err()
}

// with returns the fields of a message and more, as names and values.
func with(fields map[string]any, more ...string) []any {
	var all []any
	for name, value := range fields {
		all = append(all, name, value)
	}
	for _, text := range more {
		all = append(all, text)
	}
	return all
}
