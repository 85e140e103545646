package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsSyncClientBuilder;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.client.config.SdkClientConfiguration;
import software.amazon.awssdk.core.client.config.SdkClientOption;
import software.amazon.awssdk.core.util.VersionInfo;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.AdaptiveRetryStrategy;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.utils.SdkAutoCloseable;

/** Runs the cases with clients of the AWS SDK for Java v2, built with default settings. */
public final class Main {
    /** Of the present case: code of docs/reference/aws.md, or "". */
    private static String setting = "";

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        Waits.install();
        Driver.run("aws-sdk-java-v2 " + VersionInfo.SDK_VERSION, Main::open);
    }

    private static Driver.Client open(String mode, URI endpoint, JsonNode testCase, ScriptedRandom random,
            List<Long> delays) throws Exception {
        configure(mode, testCase);
        Operation operation = operation(testCase, endpoint);
        var configuration = (SdkClientConfiguration) Fields.get(operation.client, "clientConfiguration");
        RetryStrategy strategy = configuration.option(SdkClientOption.RETRY_STRATEGY);
        Waits.recordIn(delays);
        for (String backoff : List.of("backoffStrategy", "throttlingBackoffStrategy")) {
            Supplier<ScriptedRandom> supplier = () -> random;
            Fields.set(Fields.get(strategy, backoff), "randomSupplier", supplier);
        }
        if (strategy instanceof AdaptiveRetryStrategy) {
            JumpingClock.install(strategy);
        }
        AtomicInteger capacity = capacity(strategy);
        if (testCase.hasNonNull("quota")) {
            capacity.set(testCase.get("quota").asInt());
        }
        return new Driver.Client() {
            @Override
            public void call() {
                operation.call.run();
            }

            @Override
            public int quota() {
                return capacity.get();
            }

            @Override
            public void close() {
                operation.client.close();
            }
        };
    }

    /** Sets the properties that the next client's builder reads. The mode is "aws-java-v2-standard-2.1", for example. */
    private static void configure(String mode, JsonNode testCase) {
        System.setProperty("aws.retryMode", mode.split("-")[3]);
        setting = testCase.path("setting").asText();
        System.clearProperty("aws.maxAttempts");
        if (testCase.hasNonNull("max_attempts")) {
            System.setProperty("aws.maxAttempts", testCase.get("max_attempts").asText());
        }
    }

    private record Operation(SdkAutoCloseable client, Runnable call) {
    }

    private static Operation operation(JsonNode testCase, URI endpoint) {
        String name = testCase.get("service").asText() + " " + testCase.get("operation").asText();
        switch (name) {
            case "sts GetCallerIdentity": {
                StsClient client = build(StsClient.builder(), endpoint);
                return new Operation(client, client::getCallerIdentity);
            }
            case "dynamodb ListTables": {
                DynamoDbClient client = build(DynamoDbClient.builder(), endpoint);
                return new Operation(client, client::listTables);
            }
            case "dynamodbstreams ListStreams": {
                DynamoDbStreamsClient client = build(DynamoDbStreamsClient.builder(), endpoint);
                return new Operation(client, client::listStreams);
            }
            case "s3 GetObject": {
                S3Client client = build(S3Client.builder().forcePathStyle(true), endpoint);
                return new Operation(client, () -> client.getObject(r -> r.bucket("bucket").key("key")).abort());
            }
            case "sqs ListQueues": {
                SqsClient client = build(SqsClient.builder(), endpoint);
                return new Operation(client, client::listQueues);
            }
            case "sqs ReceiveMessage": {
                SqsClient client = build(SqsClient.builder(), endpoint);
                return new Operation(client, () -> client.receiveMessage(r -> r.queueUrl(endpoint + "/1/q")));
            }
            default:
                throw new IllegalArgumentException("no such operation: " + name);
        }
    }

    /** Applies a setting of docs/reference/aws.md. */
    private static void set(ClientOverrideConfiguration.Builder builder, String setting) {
        switch (setting) {
            case "":
                break;
            case "retryStrategy(b -> b.maxAttempts(4))":
                builder.retryStrategy(b -> b.maxAttempts(4));
                break;
            case "apiCallAttemptTimeout(Duration.ofMillis(2000))":
                builder.apiCallAttemptTimeout(Duration.ofMillis(2000));
                break;
            case "apiCallTimeout(Duration.ofMillis(3000))":
                builder.apiCallTimeout(Duration.ofMillis(3000));
                break;
            default:
                throw new IllegalArgumentException("the driver does not know the setting " + setting);
        }
    }

    private static <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> C build(B builder,
            URI endpoint) {
        if (!setting.isEmpty()) {
            return builder
                    .overrideConfiguration(b -> set(b, setting))
                    .endpointOverride(endpoint)
                    .region(Region.US_EAST_1)
                    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")))
                    .build();
        }
        return builder
                .httpClientBuilder(Apache5HttpClient.builder().socketTimeout(Duration.ofMillis(Driver.READ_TIMEOUT_MS)))
                .endpointOverride(endpoint)
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")))
                .build();
    }

    private static AtomicInteger capacity(RetryStrategy strategy) throws ReflectiveOperationException {
        Object store = Fields.get(strategy, "tokenBucketStore");
        var method = store.getClass().getDeclaredMethod("tokenBucketForScope", String.class);
        method.setAccessible(true);
        return (AtomicInteger) Fields.get(method.invoke(store, "GLOBAL"), "capacity");
    }
}
