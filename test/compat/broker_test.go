package compat

import (
	"testing"

	"github.com/Azure/go-amqp"
	"github.com/IBM/sarama"
	coder "github.com/coder/websocket"
	"github.com/eclipse/paho.golang/autopaho"
	"github.com/eclipse/paho.golang/paho"
	gorilla "github.com/gorilla/websocket"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nsqio/go-nsq"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func kafkaFaults(*testing.T) []fault {
	return []fault{
		{name: "5 LeaderNotAvailable", err: kafka.LeaderNotAvailable, class: transient},
		{name: "6 NotLeaderForPartition", err: kafka.NotLeaderForPartition, class: transient},
		{name: "7 RequestTimedOut", err: kafka.RequestTimedOut, class: timeout},
		{name: "27 RebalanceInProgress", err: kafka.RebalanceInProgress, class: transient},
		{name: "89 ThrottlingQuotaExceeded", err: kafka.ThrottlingQuotaExceeded, class: throttled},
		{name: "`WriteErrors` with 10", err: kafka.WriteErrors{nil, kafka.MessageSizeTooLarge}, class: permanent},
		{name: "`WriteErrors` with 5", err: kafka.WriteErrors{kafka.LeaderNotAvailable, nil}, class: transient},
		{name: "10 MessageSizeTooLarge", err: kafka.MessageSizeTooLarge, class: permanent},
		{name: "17 InvalidTopic", err: kafka.InvalidTopic, class: permanent},
		{name: "29 TopicAuthorizationFailed", err: kafka.TopicAuthorizationFailed, class: permanent},
		{name: "`MessageTooLargeError`", err: kafka.MessageTooLargeError{}, class: permanent},
	}
}

func saramaFaults(*testing.T) []fault {
	return []fault{
		{name: "6 ErrNotLeaderForPartition", err: sarama.ErrNotLeaderForPartition, class: transient},
		{name: "7 ErrRequestTimedOut", err: sarama.ErrRequestTimedOut, class: timeout},
		{name: "10 ErrMessageSizeTooLarge", err: sarama.ErrMessageSizeTooLarge, class: permanent},
		{name: "29 ErrTopicAuthorizationFailed", err: sarama.ErrTopicAuthorizationFailed, class: permanent},
		{name: "`ProducerError` with 31 ErrClusterAuthorizationFailed", err: &sarama.ProducerError{Err: sarama.ErrClusterAuthorizationFailed}, class: permanent},
		{name: "`ErrOutOfBrokers`", err: sarama.ErrOutOfBrokers, class: unknown},
		{name: "`ErrMessageTooLarge`", err: sarama.ErrMessageTooLarge, class: permanent},
		{name: "`ErrClosedClient`", err: sarama.ErrClosedClient, class: permanent},
	}
}

func franzFaults(*testing.T) []fault {
	return []fault{
		{name: "6 NOT_LEADER_FOR_PARTITION", err: kerr.NotLeaderForPartition, class: transient},
		{name: "89 THROTTLING_QUOTA_EXCEEDED", err: kerr.ThrottlingQuotaExceeded, class: throttled},
		{name: "10 MESSAGE_TOO_LARGE", err: kerr.MessageTooLarge, class: permanent},
		{name: "29 TOPIC_AUTHORIZATION_FAILED", err: kerr.TopicAuthorizationFailed, class: permanent},
		{name: "90 PRODUCER_FENCED", err: kerr.ProducerFenced, class: permanent},
		{name: "`kgo.ErrMaxBuffered`", err: kgo.ErrMaxBuffered, class: throttled},
	}
}

func amqp091Faults(*testing.T) []fault {
	return []fault{
		{name: "320 CONNECTION_FORCED", err: &amqp091.Error{Code: amqp091.ConnectionForced}, class: transient},
		{name: "405 RESOURCE_LOCKED", err: &amqp091.Error{Code: amqp091.ResourceLocked}, class: transient},
		{name: "541 INTERNAL_ERROR", err: &amqp091.Error{Code: amqp091.InternalError}, class: transient},
		{name: "`ErrClosed`", err: amqp091.ErrClosed, class: transient},
		{name: "506 RESOURCE_ERROR", err: &amqp091.Error{Code: amqp091.ResourceError}, class: throttled},
		{name: "403 ACCESS_REFUSED", err: &amqp091.Error{Code: amqp091.AccessRefused}, class: permanent},
		{name: "404 NOT_FOUND", err: &amqp091.Error{Code: amqp091.NotFound}, class: permanent},
		{name: "406 PRECONDITION_FAILED", err: &amqp091.Error{Code: amqp091.PreconditionFailed}, class: permanent},
		{name: "`ErrCredentials`", err: amqp091.ErrCredentials, class: permanent},
	}
}

func goAMQPFaults(*testing.T) []fault {
	link := func(condition amqp.ErrCond) error {
		return &amqp.LinkError{RemoteErr: &amqp.Error{Condition: condition}}
	}
	return []fault{
		{name: "amqp:link:detach-forced", err: &amqp.Error{Condition: amqp.ErrCondDetachForced}, class: unknown},
		{name: "amqp:connection:forced", err: &amqp.Error{Condition: amqp.ErrCondConnectionForced}, class: unknown},
		{name: "amqp:resource-limit-exceeded", err: &amqp.Error{Condition: amqp.ErrCondResourceLimitExceeded}, class: throttled},
		{name: "com.microsoft:server-busy", err: &amqp.Error{Condition: "com.microsoft:server-busy"}, class: throttled},
		{name: "com.microsoft:timeout", err: &amqp.Error{Condition: "com.microsoft:timeout"}, class: timeout},
		{name: "amqp:not-found", err: link(amqp.ErrCondNotFound), class: permanent},
		{name: "amqp:unauthorized-access", err: link(amqp.ErrCondUnauthorizedAccess), class: permanent},
		{name: "amqp:link:message-size-exceeded", err: link(amqp.ErrCondMessageSizeExceeded), class: permanent},
	}
}

func natsFaults(*testing.T) []fault {
	return []fault{
		{name: "`ErrTimeout`", err: nats.ErrTimeout, class: timeout, unknown: true},
		{name: "`ErrNoResponders`", err: nats.ErrNoResponders, class: unknown},
		{name: "`ErrNoServers`", err: nats.ErrNoServers, class: unknown},
		{name: "`ErrAuthorization`", err: nats.ErrAuthorization, class: permanent},
		{name: "`ErrPermissionViolation`", err: nats.ErrPermissionViolation, class: permanent},
		{name: "`ErrMaxPayload`", err: nats.ErrMaxPayload, class: permanent},
		{name: "`ErrBadSubject`", err: nats.ErrBadSubject, class: permanent},
		{name: "`jetstream.ErrKeyNotFound`", err: jetstream.ErrKeyNotFound, class: permanent},
		{name: "jetstream, 404 stream not found", err: jetstream.ErrStreamNotFound, class: permanent},
		{name: "jetstream, 503 no leader", err: &jetstream.APIError{Code: 503, ErrorCode: 10008}, class: transient},
		{name: "jetstream, 400 wrong last sequence", err: &jetstream.APIError{Code: 400, ErrorCode: 10071}, class: permanent},
	}
}

func webSocketFaults(closed func(code int) error) func(*testing.T) []fault {
	return func(*testing.T) []fault {
		return []fault{
			{name: "1001 going away", err: closed(1001), class: transient},
			{name: "1006 abnormal closure", err: closed(1006), class: transient},
			{name: "1011 internal error", err: closed(1011), class: transient},
			{name: "1012 service restart", err: closed(1012), class: transient},
			{name: "1013 try again later", err: closed(1013), class: throttled},
			{name: "1002 protocol error", err: closed(1002), class: permanent},
			{name: "1008 policy violation", err: closed(1008), class: permanent},
			{name: "1009 message too big", err: closed(1009), class: permanent},
			{name: "4000, of an application", err: closed(4000), class: unknown},
		}
	}
}

func gorillaClosed(code int) error { return &gorilla.CloseError{Code: code} }

func coderClosed(code int) error { return coder.CloseError{Code: coder.StatusCode(code)} }

func nsqFaults(*testing.T) []fault {
	return []fault{
		{name: "E_BAD_TOPIC", err: nsq.ErrProtocol{Reason: "E_BAD_TOPIC PUB topic name \"x y\" is not valid"}, class: permanent, unknown: true},
		{name: "E_UNAUTHORIZED", err: nsq.ErrProtocol{Reason: "E_UNAUTHORIZED AUTH failed for PUB"}, class: permanent, unknown: true},
		{name: "E_PUB_FAILED", err: nsq.ErrProtocol{Reason: "E_PUB_FAILED PUB failed exiting"}, class: transient, unknown: true},
		{name: "`ErrIdentify`", err: nsq.ErrIdentify{Reason: "E_BAD_BODY"}, class: permanent, unknown: true},
		{name: "`ErrNotConnected`", err: nsq.ErrNotConnected, class: unknown},
	}
}

func mqttFaults(*testing.T) []fault {
	connack := func(code byte) error { return &autopaho.ConnackError{ReasonCode: code} }
	return []fault{
		{name: "CONNACK 135, not authorized", err: connack(135), class: permanent},
		{name: "CONNACK 136, unavailable", err: connack(136), class: unknown},
		{name: "CONNACK 151, quota exceeded", err: connack(151), class: throttled},
		{name: "`ErrNetworkErrorAfterStored`", err: paho.ErrNetworkErrorAfterStored, class: transient, unrepeatable: true, unknown: true},
	}
}
