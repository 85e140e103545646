package queues

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

// The headers that Topics adds to a dead letter, which also has those of the record.
const (
	letterReason = "dead-letter-reason" // see retry.Error.ReasonLabel
	letterError  = "dead-letter-error"
	letterOrigin = "dead-letter-origin" // topic/partition/offset of the record
)

// roundTime limits the time in which records are handled before a partition may move to another
// worker. With an AttemptTimeout more, it has to be below the group's rebalance timeout, 60 s.
const roundTime = 10 * time.Second

// Topics consumes topics of Kafka in order. A record that fails is tried again in its place: the
// next record of its partition waits until it has succeeded or is stored in the topic NAME.dead,
// which has to exist. The other partitions go on. The number of failures is in memory, so it
// begins again when the partition moves to another worker.
type Topics struct {
	Options []kgo.Opt    // the brokers, the group and its topics
	Policy  retry.Policy // with an AttemptTimeout
	Handle  func(context.Context, *kgo.Record) error
}

// Session is for a [retrykeep.Keeper]. When ctx ends, the current record is settled first.
func (t Topics) Session(ctx context.Context, up func()) error {
	err := check(t.Policy)
	if err != nil {
		return err
	}
	s := &session{Topics: t, held: map[place]*held{}}
	s.client, err = kgo.NewClient(append(slices.Clone(t.Options),
		kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.OnPartitionsRevoked(s.drop), kgo.OnPartitionsLost(s.drop))...)
	if err != nil {
		return retry.Permanent(err)
	}
	defer s.client.CloseAllowingRebalance() // Close would hang after a poll
	err = s.client.Ping(ctx)
	if err != nil {
		return err
	}
	up()
	for {
		err = s.round(ctx)
		if err != nil {
			return err
		}
		s.client.AllowRebalance()
	}
}

type session struct {
	Topics
	client *kgo.Client

	mu   sync.Mutex
	held map[place]*held
}

type place struct {
	topic     string
	partition int32
}

// held are the records of a partition that were fetched and not settled.
type held struct {
	records []*kgo.Record
	failed  int       // failures of the first record
	due     time.Time // when the first record is tried again
}

func (p place) set() map[string][]int32 { return map[string][]int32{p.topic: {p.partition}} }

// drop forgets the records of partitions that another worker gets. It begins with the first of
// them.
func (s *session) drop(_ context.Context, client *kgo.Client, lost map[string][]int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for topic, partitions := range lost {
		for _, p := range partitions {
			delete(s.held, place{topic, p})
		}
	}
	client.ResumeFetchPartitions(lost)
}

// round fetches records and handles those that are due. No partition moves meanwhile.
func (s *session) round(ctx context.Context) error {
	poll, cancel := context.WithTimeout(ctx, s.idle())
	fetches := s.client.PollRecords(poll, 100)
	over := poll.Err()
	cancel()
	if ctx.Err() != nil {
		return ctx.Err() // the next owner of the partitions begins with these records
	}
	for _, e := range fetches.Errors() {
		if over == nil || !errors.Is(e.Err, over) {
			return fmt.Errorf("topic %s: %w", e.Topic, e.Err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) > 0 {
			h := s.at(place{p.Topic, p.Partition})
			h.records = append(h.records, p.Records...)
		}
	})
	end := time.Now().Add(roundTime)
	for p, h := range s.held {
		err := s.work(ctx, h, end)
		if err != nil {
			return err
		}
		if len(h.records) > 0 {
			s.client.PauseFetchPartitions(p.set())
			continue
		}
		delete(s.held, p)
		s.client.ResumeFetchPartitions(p.set())
	}
	return nil
}

func (s *session) at(p place) *held {
	h, ok := s.held[p]
	if !ok {
		h = &held{}
		s.held[p] = h
	}
	return h
}

// idle returns how long to wait for records: until one is due, and for a second at most.
func (s *session) idle() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := time.Second
	for _, h := range s.held {
		wait = min(wait, max(time.Millisecond, time.Until(h.due)))
	}
	return wait
}

// work handles the records of a partition until one of them has to wait, or the round ends. Those
// that are settled are committed together.
func (s *session) work(ctx context.Context, h *held, end time.Time) error {
	var last *kgo.Record
	var err error
	for len(h.records) > 0 && err == nil {
		now := time.Now()
		if now.Before(h.due) || now.After(end) {
			break
		}
		var settled bool
		settled, err = s.settle(ctx, h)
		if settled {
			last = h.records[0]
			*h = held{records: h.records[1:]}
		}
	}
	if last == nil {
		return err
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	return errors.Join(err, s.client.CommitRecords(ctx, last))
}

// settle handles the first record of a partition, and reports whether the next one may follow.
func (s *session) settle(ctx context.Context, h *held) (settled bool, err error) {
	r := h.records[0]
	origin := fmt.Sprintf("%s/%d/%d", r.Topic, r.Partition, r.Offset)
	o := attempt(ctx, s.Policy, origin, h.failed+1, func(ctx context.Context) error { return s.Handle(ctx, r) })
	switch o.Action {
	case adapt.GiveBack:
		return false, ctx.Err() // the next owner of the partition begins with this record
	case adapt.Redeliver:
		h.failed++
		h.due = time.Now().Add(o.Wait)
		return false, nil
	case adapt.DeadLetter:
		reason, text := reasonOf(o.Err)
		letter := &kgo.Record{Topic: r.Topic + ".dead", Key: r.Key, Value: r.Value, Headers: append(slices.Clone(r.Headers),
			kgo.RecordHeader{Key: letterReason, Value: []byte(reason)},
			kgo.RecordHeader{Key: letterError, Value: []byte(text)},
			kgo.RecordHeader{Key: letterOrigin, Value: []byte(origin)},
		)}
		ctx, cancel := settling(ctx)
		defer cancel()
		err := s.client.ProduceSync(ctx, letter).FirstErr()
		if err != nil {
			return false, notStored(letter.Topic, err)
		}
	}
	return true, nil
}
