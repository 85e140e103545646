package conformance;

import com.amazonaws.AmazonWebServiceClient;
import com.amazonaws.ClientConfiguration;
import com.amazonaws.ClientConfigurationFactory;
import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder;
import com.amazonaws.internal.IdleTokenBucket;
import com.amazonaws.retry.PredefinedBackoffStrategies.SDKDefaultBackoffStrategy;
import com.amazonaws.retry.RetryPolicy.BackoffStrategy;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClientBuilder;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBStreams;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBStreamsClientBuilder;
import com.amazonaws.services.dynamodbv2.model.ListStreamsRequest;
import com.amazonaws.services.s3.AmazonS3;
import com.amazonaws.services.s3.AmazonS3ClientBuilder;
import com.amazonaws.services.securitytoken.AWSSecurityTokenService;
import com.amazonaws.services.securitytoken.AWSSecurityTokenServiceClientBuilder;
import com.amazonaws.services.securitytoken.model.GetCallerIdentityRequest;
import com.amazonaws.services.sqs.AmazonSQS;
import com.amazonaws.services.sqs.AmazonSQSClientBuilder;
import com.amazonaws.util.VersionInfoUtils;
import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.util.List;

/** Runs the cases with clients of the AWS SDK for Java v1, built with default settings. */
public final class Main {
    /** Of the present case: code of docs/reference/aws.md, or "". */
    private static String setting = "";

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        Driver.run("aws-sdk-java " + VersionInfoUtils.getVersion(), Main::open);
    }

    private static Driver.Client open(String mode, URI endpoint, JsonNode testCase, ScriptedRandom random,
            List<Long> delays) throws Exception {
        configure(testCase);
        Operation operation = operation(testCase, endpoint);
        Object http = Fields.get(operation.client, "client");
        record(Fields.get(http, "retryPolicy"), random, delays);
        Fields.set(http, "tokenBucket", new IdleTokenBucket());
        Object capacity = Fields.get(http, "retryCapacity");
        if (testCase.hasNonNull("quota")) {
            Fields.set(capacity, "availableCapacity", testCase.get("quota").asInt());
        }
        return new Driver.Client() {
            @Override
            public void call() {
                operation.call.run();
            }

            @Override
            public int quota() throws ReflectiveOperationException {
                return (Integer) Fields.get(capacity, "availableCapacity");
            }

            @Override
            public void close() {
                operation.client.shutdown();
            }
        };
    }

    /** Sets the properties that the next client's builder reads. */
    private static void configure(JsonNode testCase) {
        setting = testCase.path("setting").asText();
        System.clearProperty("com.amazonaws.sdk.maxAttempts");
        System.clearProperty("com.amazonaws.sdk.retryMode");
        if (setting.equals("standard")) {
            System.setProperty("com.amazonaws.sdk.retryMode", setting);
        }
        if (testCase.hasNonNull("max_attempts")) {
            System.setProperty("com.amazonaws.sdk.maxAttempts", testCase.get("max_attempts").asText());
        }
    }

    /** Scripts the policy's random numbers, records its delays, and makes it wait 0 ms. */
    private static void record(Object policy, ScriptedRandom random, List<Long> delays)
            throws ReflectiveOperationException {
        var backoff = (BackoffStrategy) Fields.get(policy, "backoffStrategy");
        List<Object> jittered = List.of(backoff);
        if (backoff instanceof SDKDefaultBackoffStrategy) {
            jittered = List.of(Fields.get(backoff, "fullJitterBackoffStrategy"),
                    Fields.get(backoff, "equalJitterBackoffStrategy"));
        }
        for (Object strategy : jittered) {
            Fields.set(strategy, "random", random);
        }
        BackoffStrategy recording = (request, exception, retries) -> {
            delays.add(backoff.delayBeforeNextRetry(request, exception, retries));
            return 0;
        };
        Fields.set(policy, "backoffStrategy", recording);
    }

    private record Operation(AmazonWebServiceClient client, Runnable call) {
        Operation(Object client, Runnable call) {
            this((AmazonWebServiceClient) client, call);
        }
    }

    private static Operation operation(JsonNode testCase, URI endpoint) throws ReflectiveOperationException {
        String name = testCase.get("service").asText() + " " + testCase.get("operation").asText();
        switch (name) {
            case "sts GetCallerIdentity": {
                AWSSecurityTokenService client = build(AWSSecurityTokenServiceClientBuilder.standard(), endpoint);
                return new Operation(client, () -> client.getCallerIdentity(new GetCallerIdentityRequest()));
            }
            case "dynamodb ListTables": {
                AmazonDynamoDB client = build(AmazonDynamoDBClientBuilder.standard(), endpoint);
                return new Operation(client, client::listTables);
            }
            case "dynamodbstreams ListStreams": {
                AmazonDynamoDBStreams client = build(AmazonDynamoDBStreamsClientBuilder.standard(), endpoint);
                return new Operation(client, () -> client.listStreams(new ListStreamsRequest()));
            }
            case "s3 GetObject": {
                AmazonS3 client = build(AmazonS3ClientBuilder.standard().enablePathStyleAccess(), endpoint);
                return new Operation(client, () -> client.getObject("bucket", "key").getObjectContent().abort());
            }
            case "sqs ListQueues": {
                AmazonSQS client = build(AmazonSQSClientBuilder.standard(), endpoint);
                return new Operation(client, client::listQueues);
            }
            case "sqs ReceiveMessage": {
                AmazonSQS client = build(AmazonSQSClientBuilder.standard(), endpoint);
                return new Operation(client, () -> client.receiveMessage(endpoint + "/1/q"));
            }
            default:
                throw new IllegalArgumentException("no such operation: " + name);
        }
    }

    /** Applies a setting of docs/reference/aws.md. The mode standard is a system property. */
    private static void set(ClientConfiguration configuration) {
        switch (setting) {
            case "":
            case "standard":
                configuration.withSocketTimeout(Driver.READ_TIMEOUT_MS);
                break;
            case "withMaxErrorRetry(3)":
                configuration.withMaxErrorRetry(3);
                break;
            case "withRequestTimeout(2000)":
                configuration.withRequestTimeout(2000);
                break;
            case "withSocketTimeout(500)":
                configuration.withSocketTimeout(500);
                break;
            case "withClientExecutionTimeout(3000)":
                configuration.withClientExecutionTimeout(3000);
                break;
            default:
                throw new IllegalArgumentException("the driver does not know the setting " + setting);
        }
    }

    private static <B extends AwsClientBuilder<B, C>, C> C build(B builder, URI endpoint)
            throws ReflectiveOperationException {
        var service = (ClientConfigurationFactory) Fields.get(builder, "clientConfigFactory");
        ClientConfiguration configuration = service.getConfig();
        set(configuration);
        return builder
                .withClientConfiguration(configuration)
                .withEndpointConfiguration(
                        new AwsClientBuilder.EndpointConfiguration(endpoint.toString(), "us-east-1"))
                .withCredentials(new AWSStaticCredentialsProvider(new BasicAWSCredentials("key", "secret")))
                .build();
    }
}
