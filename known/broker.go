package known

// Message brokers and queues.

var brokerTexts = []textRow{
	// go-nsq 1.1.0, errors.go: a stopped Producer or Consumer does not start again.
	{permanent, "over configure max-inflight"},

	// paho.mqtt.golang 1.5.1, packets.ConnErrors and topic.go: CONNACK codes of MQTT 3.1.1,
	// section 3.2.2.3, where only a server that is unavailable may become available.
	{permanent, `unacceptable protocol version
		identifier rejected
		protocol Violation
		invalid Topic; *
		no servers defined to connect to`},

	// stan.go 0.10.4, the comments of its errors. The client does not connect again.
	{permanent, `stan: connection closed
		stan: invalid subscription
		stan: cannot manually ack in auto-ack mode`},

	// go-beanstalk 0.2.0, err.go and name.go; beanstalkd's protocol.txt.
	{permanent, `expected CR LF
		name has bad char`},

	// rabbitmq-stream-go-client 1.8.3, lookErrorCode.
	{permanent, `Stream Does Not Exist
		Stream Already Exists
		Subscription Id Does Not Exist
		Authentication Failure
		Authentication Failure Loopback Error
		Virtual Host Access Failure
		Resources Access Refused
		Filtering is not supported by the broker *
		Single Active Consumer is not supported by the broker *
		Message Route not found for the message key`},

	// cloud.google.com/go/pubsub 1.52.0, the comments of its errors.
	{permanent, `pubsub: Stop has been called for this topic
		pubsub: Receive already in progress for this subscription
		Topic.EnableMessageOrdering=false, but an OrderingKey was set in Message. *`},
	{throttled, `pubsub: MaxOutstandingMessages flow controller limit exceeded
		pubsub: MaxOutstandingBytes flow control limit exceeded`},

	// azservicebus 1.11.0 and azeventhubs 0.5.0.
	{permanent, "the EventData could not be added because it is too large for the batch"},

	// zmq4 0.17.0, protocol.go and socket.go.
	{permanent, "zmq4: invalid address*"},

	// nats.go 1.55.0, nats.go, kv.go, object.go and jserrors.go.
	{permanent, `nats: key was deleted
		nats: no objects found
		nats: an object already exists with that name
		nats: cannot update meta for a deleted object
		nats: not allowed to link to *
		nats: history limited to a max of 64
		nats: bucket not valid key-value store
		nats: object-store meta information invalid
		nats: invalid queue name
		nats: invalid subscription type
		nats: message is not bound to subscription/connection
		nats: message was already acknowledged
		nats: context requires a deadline
		nats: secure connection *
		nats: user callback *
		nats: illegal call on an async subscription
		nats: connection draining`},
	{throttled, `nats: maximum account active connections exceeded
		nats: server maximum *
		nats: outbound buffer limit exceeded`},
	{timeout, "nats: timeout"},
	{permanent, `nats: argument needs to be a channel type
		nats: bucket name already in use
		nats: cannot acknowledge a message for a consumer with AckNone policy
		nats: cannot pull subscribe to push based consumer
		nats: cannot run concurrent processing using ordered consumer
		nats: cannot set user info callback and user/pass
		nats: connection is not tls
		nats: consumer deleted
		nats: consumer is already consuming
		nats: consumer name already in use
		nats: consumer is not a *
		nats: context and timeout can not both be set
		nats: end of data reached
		nats: invalid stream name
		nats: jetstream context closed
		nats: key revision mismatch
		nats: maximum messages delivered
		nats: must use pull subscribe to bind to pull based consumer
		nats: no stream matches subject
		nats: object-store requires at least server version *
		nats: ordered consumer initialized as *
		nats: subject does not match consumer
		nats: subscription closed
		nats: timeout invalid
		nats: token and token handler both set
		nats: websocket connection headers already set`},
	{unrepeatable, "nats: timeout waiting for ack"}, // of a message that was published

	// franz-go 1.22.2, pkg/kgo/errors.go.
	{permanent, `client is aborting buffered records
		topic purged while buffered
		cannot produce record with no topic and no default topic
		cannot produce record transactionally if not in a transaction
		broker is too old; *`},
	{timeout, "records have timed out before they were able to be produced"},
	{throttled, "the maximum amount of records are buffered, cannot buffer more"},

	// kafka-go 0.4.51, writer.go, reader.go and consumergroup.go.
	{permanent, `writes must NOT set * on kafka.Message
		unavailable when GroupID is *set
		consumer group is closed
		the compression code is invalid or its codec has not been imported`},

	// sarama 1.61.1, errors.go and transaction_manager.go.
	{permanent, `kafka: tried to use a consumer group that was closed
		kafka: no specific topics to update metadata
		kafka: broker connection already initiated
		transaction manager: you need to add TransactionalID to producer`},
	{throttled, "retry buffer full: message discarded to prevent buffer overflow"},

	// amqp091-go 1.16.0, uri.go.
	{permanent, `AMQP scheme must be *`},

	// asynq 0.26.0, the comments of its errors.
	{permanent, `asynq: Server closed
		queue is not empty
		skip retry for the task
		revoke task
		handler not found for task`},

	// stan.go 0.10.4 and the stream client of RabbitMQ 1.8.3: the message may have been
	// stored.
	{unrepeatable, `stan: publish ack timeout
		Confirmation Timeout Error`},
	{permanent, `Unknown Frame
		Already Closed
		SuperStreamProducerOptions not defined. *
		Producer not found in the SuperStream Producer`},

	// paho.golang 0.23.0: the packet was sent, or will be after the client connects again.
	{unrepeatable, `error after packet added to state
		connection lost after request transmitted`},
	{throttled, "all packet identifiers in use"},
	{permanent, `manual acknowledgments disabled
		the requested ID was not found in the store
		release called when quota at initial value`},

	// watermill 1.5.1; Temporal's sdk 1.50.0, converter; gocron 2; go-quartz 0; pubsub 1.52.0;
	// zeebe 8; go-nsq 1.1.0.
	{permanent, `
		unable to set value
		type is not *byte
		cannot cancel an UpdateWorkflow operation
		gocron: With*
		parse cron expression
		OAuth credentials cache folder is not a directory, *
		already connected`},

	// river 0.51.1, its drivers and rivermigrate; asynq 0.26.0, periodic tasks.
	{permanent, `river: client not found in context, *
		river: resumable *
		MetadataSet must be called within *
		missing database driver *
		a nil job was returned, nothing to insert
		no jobs to insert`},

	// kafka-go 0.4.51; sarama 1.61.1; franz-go 1.22.2.
	{permanent, `record set contains no records
		record sequence does not support reset
		transaction manager: cannot transition with a nil error
		decompressed data would exceed MaxDecompressBatchBytes`},

	// rocketmq-client-go 2.1.3, errors.go.
	{permanent, `offset < 0
		numbers < 0
		empty topic
		empty namesrv
		empty expression
		consumer group has been created
		producer group has been created
		subscribe type is not matched
		IP addr error`},
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
