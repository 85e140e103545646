package known

// Message brokers and queues.

var brokerTexts = []textRow{
	// stan.go 0.10.4, the comments of its errors; the client does not connect again. A message
	// that was not acknowledged may have been stored.
	{permanent, "stan", `
		connection closed
		invalid subscription
		cannot manually ack in auto-ack mode`},
	{unrepeatable, "stan", "publish ack timeout"},

	// cloud.google.com/go/pubsub 1.52.0 and 2.8.1, the comments of its errors.
	{permanent, "pubsub", `
		Stop has been called for this topic
		Stop has been called for this publisher
		Receive already in progress for this subscription`},
	{throttled, "pubsub", `
		MaxOutstandingMessages flow controller limit exceeded
		MaxOutstandingBytes flow control limit exceeded`},

	// zmq4 0.17.0, protocol.go and socket.go.
	{permanent, "zmq4", "invalid address*"},

	// nats.go 1.55.0: nats.go, kv.go, object.go and the package jetstream.
	{permanent, "nats", `
		key was deleted
		no objects found
		an object already exists with that name
		cannot update meta for a deleted object
		not allowed to link to *
		history limited to a max of 64
		bucket not valid key-value store
		object-store meta information invalid
		invalid queue name
		invalid subscription type
		message is not bound to subscription/connection
		message was already acknowledged
		context requires a deadline
		secure connection *
		user callback *
		illegal call on an async subscription
		connection draining
		argument needs to be a channel type
		bucket name already in use
		cannot acknowledge a message for a consumer with AckNone policy
		cannot pull subscribe to push based consumer
		cannot run concurrent processing using ordered consumer
		cannot set user info callback and user/pass
		connection is not tls
		consumer deleted
		consumer is already consuming
		consumer name already in use
		consumer is not a *
		context and timeout can not both be set
		end of data reached
		invalid stream name
		jetstream context closed
		key revision mismatch
		maximum messages delivered
		must use pull subscribe to bind to pull based consumer
		no stream matches subject
		object-store requires at least server version *
		ordered consumer initialized as *
		subject does not match consumer
		subscription closed
		timeout invalid
		token and token handler both set
		websocket connection headers already set`},
	{throttled, "nats", `
		maximum account active connections exceeded
		server maximum *
		outbound buffer limit exceeded`},
	{timeout, "nats", "timeout"},
	{unrepeatable, "nats", "timeout waiting for ack"}, // of a message that was published

	// sarama 1.61.1, errors.go.
	{permanent, "kafka", `
		tried to use a consumer group that was closed
		no specific topics to update metadata
		broker connection already initiated`},

	// franz-go 1.22.2, pkg/kgo/errors.go: ErrMaxBuffered.
	{throttled, "", "the maximum amount of records are buffered, cannot buffer more"},

	// rabbitmq-stream-go-client 1.8.3; paho.golang 0.23.0: the message may have been stored, was
	// sent, or will be after the client connects again.
	{unrepeatable, "", `
		Confirmation Timeout Error
		error after packet added to state
		connection lost after request transmitted`},

	// asynq 0.26.0; gocron 2; river 0.51.1.
	{permanent, "asynq", "Server closed"},
	{permanent, "gocron", "With*"},
	{permanent, "river", `
		client not found in context, *
		resumable *`},
}

var brokerTypes = []typeRow{
	{permanent, "github.com/nsqio/go-nsq.ErrIdentify"},
	{permanent, "github.com/beanstalkd/go-beanstalk.NameError"},
	{permanent, "github.com/go-zeromq/zmq4.UnknownTransportError"},

	// franz-go 1.22.2, sarama 1.61.1, asynq 0.26.0, river 0.51.1, watermill 1.5.1.
	{permanent, "github.com/twmb/franz-go/pkg/kgo.ErrDecompressTooLarge"},
	{permanent, "github.com/IBM/sarama.ConfigurationError"},
	{permanent, "github.com/IBM/sarama.PacketEncodingError"},
	{permanent, "github.com/Shopify/sarama.ConfigurationError"},
	{permanent, "github.com/hibiken/asynq/internal/errors.QueueNotEmptyError"},
	{permanent, "github.com/hibiken/asynq/internal/errors.TaskAlreadyArchivedError"},
	{permanent, "github.com/riverqueue/river.QueueAlreadyAddedError"},
	{permanent, "github.com/ThreeDotsLabs/watermill/message.DuplicateHandlerNameError"},
	{permanent, "github.com/ThreeDotsLabs/watermill/components/cqrs.DuplicateCommandHandlerError"},
	{permanent, "github.com/ThreeDotsLabs/watermill/components/cqrs.NoProtoMessageError"},
	{permanent, "github.com/ThreeDotsLabs/watermill/components/cqrs.NonPointerError"},

	// Temporal's sdk 1.50.0, internal/error.go: how a workflow ended.
	{permanent, "go.temporal.io/sdk/internal.WorkflowExecutionError"},
	{permanent, "go.temporal.io/sdk/internal.TerminatedError"},
	{permanent, "go.temporal.io/sdk/internal.ChildWorkflowExecutionAlreadyStartedError"},
	{permanent, "go.temporal.io/sdk/internal.ActivityNotRegisteredError"},
	{permanent, "go.temporal.io/sdk/internal.QueryRejectedError"},
	{permanent, "go.temporal.io/api/serviceerror.ActivityExecutionAlreadyStarted"},
	{permanent, "go.temporal.io/api/serviceerror.NexusOperationExecutionAlreadyStarted"},
	{permanent, "go.temporal.io/api/serviceerror.WorkflowExecutionAlreadyStarted"},
	{permanent, "go.temporal.io/api/serviceerror.CancellationAlreadyRequested"},
	{permanent, "go.temporal.io/api/serviceerror.NewerBuildExists"},
	{permanent, "go.temporal.io/api/serviceerror.QueryFailed"},
	{permanent, "go.temporal.io/sdk/internal.ContinueAsNewError"},
	{permanent, "go.temporal.io/sdk/internal.UnknownExternalWorkflowExecutionError"},
	{permanent, "go.temporal.io/sdk/internal.InvalidVersioningOverrideError"},
	{permanent, "go.temporal.io/sdk/internal.childWorkflowExistsWithId"},
	{permanent, "go.temporal.io/sdk/internal.payloadSizeError"},
	{permanent, "go.temporal.io/sdk/internal/common/serializer.*"},

	// river 0.51.1; gue 5.8.0; watermill 1.5.1; pulsar-client-go 0.19.0; pubsub 1.52.0, whose
	// caller resumes the publishing.
	{permanent, "github.com/riverqueue/river/rivertype.JobCancelError"},
	{permanent, "github.com/riverqueue/river/rivertype.UnknownJobKindError"},
	{transient, "github.com/riverqueue/river/rivertype.JobSnoozeError"},
	{permanent, "github.com/vgarvardt/gue.errJobDiscard"},
	{transient, "github.com/vgarvardt/gue.errJobRescheduleIn"},
	{transient, "github.com/vgarvardt/gue.errJobRescheduleAt"},
	{permanent, "github.com/ThreeDotsLabs/watermill/components/requestreply.ReplyUnmarshalError"},
	{permanent, "github.com/apache/pulsar-client-go/pulsar/internal.UnsupportedServiceNameError"},
	{permanent, "cloud.google.com/go/pubsub.ErrPublishingPaused"},
}

var brokerFields = []fieldRow{
	// go-nsq 1.1.0, errors.go; errors that end with FAILED are retried by nsqd's clients.
	{permanent, "github.com/nsqio/go-nsq.ErrProtocol", "Reason", "E_INVALID*|E_BAD_*|E_UNAUTHORIZED*|E_AUTH_DISABLED*"},
	{transient, "github.com/nsqio/go-nsq.ErrProtocol", "Reason", ""},

	// confluent-kafka-go 2.11.1, the flags of kafka.Error and the negative numbers of
	// librdkafka (rdkafka.h): its own errors. A purged message may have been sent.
	{permanent, "github.com/confluentinc/confluent-kafka-go/kafka.Error", "fatal", "true"},
	{transient, "github.com/confluentinc/confluent-kafka-go/kafka.Error", "retriable", "true"},
	{permanent, "github.com/confluentinc/confluent-kafka-go/kafka.Error", "code",
		"-199|-198|-197|-190|-189|-188|-186|-176|-172|-171|-170|-169|-165|-162|-161|-160|-159|-157|-156|-154|-152|-150|-149|-148|-145|-144|-140"},
	{unrepeatable, "github.com/confluentinc/confluent-kafka-go/kafka.Error", "code", "-151"},
	{timeout, "github.com/confluentinc/confluent-kafka-go/kafka.Error", "code", "-192|-185|-166"},
	{throttled, "github.com/confluentinc/confluent-kafka-go/kafka.Error", "code", "-184"},

	// pulsar-client-go 0.19.0, the comments of Result. As in the Java client's
	// PulsarClientException.isRetriableError, what the caller did wrong is not retried.
	{permanent, "github.com/apache/pulsar-client-go/pulsar.Error", "result",
		"2|7|8|9|12|15|16|20|21|23|27|28|29|30|31|32|33|34|35|38|39|41|43"},
	{unrepeatable, "github.com/apache/pulsar-client-go/pulsar.Error", "msg", "message send timeout*"},
	{timeout, "github.com/apache/pulsar-client-go/pulsar.Error", "result", "3"},
	{throttled, "github.com/apache/pulsar-client-go/pulsar.Error", "result", "19|24|25|26|42|44"},

	// azservicebus 1.11.0 and azeventhubs 0.5.0, the comments of Code.
	{permanent, "github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/internal/exported.Error", "Code", "locklost|closed"},
	{permanent, "github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/internal/exported.Error", "Code", "ownershiplost|closed"},

	// cloudevents/sdk-go 2.16.2, protocol/http.Result.
	{byStatus, "github.com/cloudevents/sdk-go/protocol/http.Result", "StatusCode", ""},

	// nats.go 1.55.0: the server sends status 500 with these codes about a consumer's filters.
	{permanent, "github.com/nats-io/nats.go.APIError", "ErrorCode", natsFilters},
	{permanent, "github.com/nats-io/nats.go/jetstream.APIError", "ErrorCode", natsFilters},

	// Reason codes of MQTT 5, sections 2.4 and 3.2.2.2: autopaho of paho.golang 0.23.0 and
	// mochi-mqtt 2.
	{throttled, "github.com/eclipse/paho.golang/autopaho.ConnackError", "ReasonCode", mqttLimits},
	{permanent, "github.com/eclipse/paho.golang/autopaho.ConnackError", "ReasonCode", mqttRefusals},
	{throttled, "github.com/mochi-mqtt/server/packets.Code", "Code", mqttLimits},
	{permanent, "github.com/mochi-mqtt/server/packets.Code", "Code", mqttRefusals},

	// centrifuge 0.40.1, errors.go.
	{transient, "github.com/centrifugal/centrifuge.Error", "Temporary", "true"},
	{permanent, "github.com/centrifugal/centrifuge.Error", "Code", "101|102|103|104|105|106|107|108|109|110|112"},

	// rocketmq-client-go 2.1.3, internal/constants.go: after a timeout of the disk or of the
	// replica the message is stored.
	{unrepeatable, "github.com/apache/rocketmq-client-go/primitive.MQBrokerErr", "ResponseCode", "10|12"},
	{throttled, "github.com/apache/rocketmq-client-go/primitive.MQBrokerErr", "ResponseCode", "2|215"},
	{permanent, "github.com/apache/rocketmq-client-go/primitive.MQBrokerErr", "ResponseCode", "3|13|15|16"},
}

const (
	natsFilters  = "10136|10137|10138|10139"
	mqttLimits   = "137|151|159"
	mqttRefusals = "129|130|132|133|134|135|138|140|143|144|148|149|153|154|155|157|158|161|162"
)
