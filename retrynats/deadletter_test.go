package retrynats_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrynats"
)

func deadLetters() (*server, retrynats.Worker) {
	s := &server{stream: "DEAD", window: time.Hour}
	return s, retrynats.Worker{Policy: doubling, DeadLetter: "dead.orders", JetStream: s}
}

func TestDeadLetter(t *testing.T) {
	s, w := deadLetters()
	msg := delivered(4)
	msg.header = nats.Header{"Trace": {"a", "b"}, "Nats-Msg-Id": {"mine"}, "nats-rollup": {"all"}, "Nats-Expected-Stream": {"ORDERS"}}
	sent := handle(t, w, msg, returning(errors.New("a\nb")))
	assert.Equal(t, []string{"term gave up after 4 attempts (all attempts used): a; b"}, sent)
	require.Len(t, s.letters, 1)
	letter := s.letters[0]
	assert.Equal(t, "dead.orders", letter.Subject)
	assert.Equal(t, "data", string(letter.Data))
	assert.Equal(t, nats.Header{
		"Trace": {"a", "b"}, "Original-Nats-Msg-Id": {"mine"}, "Original-nats-rollup": {"all"}, "Original-Nats-Expected-Stream": {"ORDERS"},
		"Nats-Msg-Id":            {"ORDERS/worker/17/" + strconv.FormatInt(msg.meta.Timestamp.UnixNano(), 10)},
		retrynats.HeaderReason:   {"attempts"},
		retrynats.HeaderError:    {"a b"},
		retrynats.HeaderAttempts: {"4"},
		retrynats.HeaderSubject:  {"orders.new"},
		retrynats.HeaderStream:   {"ORDERS"},
		retrynats.HeaderConsumer: {"worker"},
		retrynats.HeaderSequence: {"17"},
		retrynats.HeaderTime:     {msg.meta.Timestamp.UTC().Format(time.RFC3339Nano)},
	}, letter.Header)
}

func TestDeadLetterOfLongError(t *testing.T) {
	s, w := deadLetters()
	handle(t, w, delivered(1), returning(retry.Permanent(errors.New(strings.Repeat("ä", 10_000)))))
	text := s.letters[0].Header.Get(retrynats.HeaderError)
	assert.Equal(t, strings.Repeat("ä", 512)+" ...", text)
	assert.Equal(t, "permanent", s.letters[0].Header.Get(retrynats.HeaderReason))
}

// TestDeadLetterNotStored: a message whose dead letter cannot be stored is redelivered.
func TestDeadLetterNotStored(t *testing.T) {
	for name, tt := range map[string]struct {
		backoff retry.Backoff
		want    string
	}{
		"the policy's delay": {retry.Constant(20 * time.Second), "nak 20s"},
		"at least a second":  {retry.NoDelay{}, "nak 1s"},
		"at most AckWait":    {retry.Constant(time.Hour), "nak 30s"}, // for the duplicate window
	} {
		t.Run(name, func(t *testing.T) {
			s, w := deadLetters()
			s.err = errors.New("no space")
			var reported error
			w.OnError = func(_ jetstream.Msg, err error) { reported = err }
			retried := 0
			w.Policy = retry.Policy{Backoff: tt.backoff}.With(retry.Hooks{
				OnRetry:  func(_ context.Context, _ retry.Attempt, _ time.Duration) { retried++ },
				OnGiveUp: func(context.Context, *retry.Error) { t.Error("gave up") },
			})
			assert.Equal(t, []string{tt.want}, handle(t, w, delivered(3), returning(errOp)))
			assert.EqualError(t, reported, "dead letter of message 17 of stream ORDERS: no space")
			assert.ErrorIs(t, reported, s.err)
			assert.Equal(t, 1, retried)
		})
	}
}

func TestMaxDeliveries(t *testing.T) {
	for name, attempts := range map[string]int{"of four attempts": 4, "of unlimited attempts": retry.Unlimited} {
		t.Run(name, func(t *testing.T) {
			s, w := deadLetters()
			w.Policy.MaxAttempts, w.MaxDeliveries = attempts, 8
			assert.Equal(t, []string{"ack"}, handle(t, w, delivered(8), returning(nil)))
			sent := handle(t, w, delivered(9), uncalled(t))
			assert.Equal(t, []string{"term gave up after 9 attempts (all attempts used): operation did not return"}, sent)
			assert.Equal(t, "attempts", s.letters[0].Header.Get(retrynats.HeaderReason))
		})
	}
}

// TestLargeLetters: a letter goes without what does not fit, and says so.
func TestLargeLetters(t *testing.T) {
	for name, tooLarge := range map[string]error{
		"client": nats.ErrMaxPayload, "stream": &jetstream.APIError{ErrorCode: 10054, Description: "message size exceeds maximum allowed"},
	} {
		for omitted, tt := range map[string]struct {
			data, header int
		}{
			"":                 {100, 100},
			"data":             {2000, 100},
			"data and headers": {100, 2000},
		} {
			t.Run(name+", without "+omitted, func(t *testing.T) {
				s, w := deadLetters()
				s.most, s.tooLarge = 1500, tooLarge
				msg := delivered(4)
				msg.data = make([]byte, tt.data)
				msg.header = nats.Header{"Trace": {strings.Repeat("x", tt.header)}}
				sent := handle(t, w, msg, returning(retry.Permanent(errOp)))
				assert.Equal(t, []string{"term gave up after 4 attempts (permanent failure): boom"}, sent, "it is not redelivered")
				require.Len(t, s.letters, 1)
				letter := s.letters[0]
				assert.Equal(t, omitted, letter.Header.Get(retrynats.HeaderOmitted))
				assert.Equal(t, omitted == "", len(letter.Data) > 0)
				assert.Equal(t, omitted != "data and headers", letter.Header.Get("Trace") != "")
				assert.Equal(t, "permanent", letter.Header.Get(retrynats.HeaderReason))
				assert.NotEmpty(t, letter.Header.Get(jetstream.MsgIDHeader))
			})
		}
	}
}

// TestLetterOfLetter: the headers of an earlier dead letter, in any case, do not stand beside
// those of this one.
func TestLetterOfLetter(t *testing.T) {
	s, w := deadLetters()
	msg := delivered(4)
	msg.header = nats.Header{"dead-letter-reason": {"forged"}, "Dead-Letter-Error": {"earlier"}}
	handle(t, w, msg, returning(retry.Permanent(errors.New("a\x1b[31m\r\x00b\u2028c"))))
	require.Len(t, s.letters, 1)
	header := s.letters[0].Header
	assert.Equal(t, "permanent", header.Get(retrynats.HeaderReason))
	assert.Equal(t, "a [31m  b c", header.Get(retrynats.HeaderError))
	assert.Empty(t, header["dead-letter-reason"])
	assert.Equal(t, []string{"forged"}, header["Original-dead-letter-reason"])
}
