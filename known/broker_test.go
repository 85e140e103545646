package known

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

func TestBroker(t *testing.T) {
	check(t, []errorCase{
		{"stan, closed", errors.New("stan: connection closed"), retry.ClassPermanent},
		{"Pub/Sub, stopped", errors.New("pubsub: Stop has been called for this topic"), retry.ClassPermanent},
		{"Pub/Sub, limit", errors.New("pubsub: MaxOutstandingBytes flow control limit exceeded"), retry.ClassThrottled},
	})
	checkForeign(t, []foreignCase{
		{"github.com/nsqio/go-nsq.ErrProtocol", reason{Reason: "E_BAD_TOPIC x"}, permanent},
		{"github.com/nsqio/go-nsq.ErrProtocol", reason{Reason: "E_PUB_FAILED"}, transient},
		{"github.com/confluentinc/confluent-kafka-go/kafka.Error", kafkaError{code: -188}, permanent},
		{"github.com/confluentinc/confluent-kafka-go/kafka.Error", kafkaError{code: -187}, none},
		{"github.com/confluentinc/confluent-kafka-go/kafka.Error", kafkaError{code: -185}, timeout},
		{"github.com/confluentinc/confluent-kafka-go/kafka.Error", kafkaError{code: -184}, throttled},
		{"github.com/confluentinc/confluent-kafka-go/kafka.Error", kafkaError{code: -151}, unrepeatable},
		{"github.com/confluentinc/confluent-kafka-go/kafka.Error", kafkaError{code: 6}, none},
		{"github.com/confluentinc/confluent-kafka-go/kafka.Error", kafkaError{code: 48, retriable: true}, transient},
		{"github.com/confluentinc/confluent-kafka-go/kafka.Error", kafkaError{code: 6, fatal: true}, permanent},
		{"github.com/apache/pulsar-client-go/pulsar.Error", pulsarError{result: 28}, permanent},
		{"github.com/apache/pulsar-client-go/pulsar.Error", pulsarError{result: 3}, timeout},
		{"github.com/apache/pulsar-client-go/pulsar.Error", pulsarError{result: 5}, none},
		{"github.com/apache/pulsar-client-go/pulsar.Error", pulsarError{result: 3, msg: "message send timeout: TimeoutError"}, unrepeatable},
		{"github.com/eclipse/paho.golang/autopaho.ConnackError", connack{ReasonCode: 135}, permanent},
		{"github.com/eclipse/paho.golang/autopaho.ConnackError", connack{ReasonCode: 136}, none},
		{"github.com/eclipse/paho.golang/autopaho.ConnackError", connack{ReasonCode: 151}, throttled},
		{"github.com/apache/rocketmq-client-go/primitive.MQBrokerErr", broker{ResponseCode: 10}, unrepeatable},
		{"github.com/apache/rocketmq-client-go/primitive.MQBrokerErr", broker{ResponseCode: 16}, permanent},
		{"github.com/apache/rocketmq-client-go/primitive.MQBrokerErr", broker{ResponseCode: 1}, none},
		{"github.com/centrifugal/centrifuge.Error", centrifugeError{Code: 100, Temporary: true}, transient},
		{"github.com/centrifugal/centrifuge.Error", centrifugeError{Code: 103}, permanent},
		{"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/internal/exported.Error", busError{Code: "locklost"}, permanent},
		{"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/internal/exported.Error", busError{Code: "connlost"}, none},
	})
}

type (
	reason struct {
		Reason string
		error
	}
	kafkaError struct {
		code             int
		fatal, retriable bool
		error
	}
	pulsarError struct {
		result int
		msg    string
		error
	}
	connack struct {
		ReasonCode byte
		error
	}
	broker struct {
		ResponseCode int16
		error
	}
	centrifugeError struct {
		Code      uint32
		Temporary bool
		error
	}
	busError struct {
		Code string
		error
	}
)

// TestStored: the broker may have stored a message that it has not acknowledged in time.
func TestStored(t *testing.T) {
	for _, text := range []string{"nats: timeout waiting for ack", "stan: publish ack timeout", "Confirmation Timeout Error", "error after packet added to state"} {
		want := retry.Verdict{Class: retry.ClassTransient, Unrepeatable: true}
		assert.Equal(t, want, Classifier{}.Classify(fmt.Errorf("publish: %w", errors.New(text))), text)
	}
}
