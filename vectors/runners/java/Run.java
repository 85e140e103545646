import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import software.amazon.awssdk.auth.credentials.*;
import software.amazon.awssdk.awscore.client.builder.*;
import software.amazon.awssdk.awscore.exception.*;
import software.amazon.awssdk.core.client.config.*;
import software.amazon.awssdk.core.exception.*;
import software.amazon.awssdk.core.util.VersionInfo;
import software.amazon.awssdk.http.*;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.*;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.utils.SdkAutoCloseable;

/** Answers the vectors with the AWS SDK for Java 2.x: java -cp 'SDK/*' Run.java FOLDER, where FOLDER contains the vectors. README.md describes the output. */
public final class Run implements RetryStrategy, SdkHttpClient {
    static final ObjectMapper JSON = new ObjectMapper();
    static final String SET = "aws-standard-2026", SOURCE = "java-v2-standard-2026";

    /** The SDK has no equivalent, or this runner does not replace it. */
    static final class Inexpressible extends RuntimeException { }

    RetryStrategy strategy; // the client's own
    AtomicInteger tokens; // its quota
    final List<Double> waits = new ArrayList<>();
    final Iterator<JsonNode> numbers;
    final double rest;
    Runnable call;
    String format = "json";
    JsonNode responses;
    int sent;

    /** A client whose random numbers are scripted and whose waits are recorded. */
    Run(JsonNode given) throws Exception {
        numbers = given.path("random").iterator();
        rest = given.path("random").isNumber() ? given.get("random").asDouble() : given.path("random_then").asDouble();
        SdkAutoCloseable client = client(given.get("service").asText(), given.path("operation").asText());
        var configuration = (SdkClientConfiguration) get(client, "clientConfiguration");
        strategy = configuration.option(SdkClientOption.RETRY_STRATEGY);
        set(((Map<?, ?>) get(get(configuration, "attributes"), "attributes")).get(SdkClientOption.RETRY_STRATEGY), "value", this);
        Random random = new Random() {
            @Override public double nextDouble() { return numbers.hasNext() ? numbers.next().asDouble() : rest; }
            @Override public int nextInt(int bound) { return (int) (nextDouble() * bound); }
        };
        Supplier<Random> supplier = () -> random;
        for (String backoff : List.of("backoffStrategy", "throttlingBackoffStrategy")) {
            set(get(strategy, backoff), "randomSupplier", supplier);
        }
        Object store = get(strategy, "tokenBucketStore");
        var bucket = store.getClass().getDeclaredMethod("tokenBucketForScope", String.class);
        bucket.setAccessible(true);
        tokens = (AtomicInteger) get(bucket.invoke(store, "GLOBAL"), "capacity");
    }

    SdkAutoCloseable client(String service, String operation) {
        switch (service) {
            case "sts": { StsClient c = build(StsClient.builder()); call = c::getCallerIdentity; format = "query"; return c; }
            case "dynamodb": { DynamoDbClient c = build(DynamoDbClient.builder()); call = c::listTables; return c; }
            case "dynamodbstreams": { DynamoDbStreamsClient c = build(DynamoDbStreamsClient.builder()); call = c::listStreams; return c; }
            case "sqs": {
                SqsClient c = build(SqsClient.builder());
                call = operation.equals("ReceiveMessage") ? () -> c.receiveMessage(r -> r.queueUrl("https://sqs.us-east-1.amazonaws.com/1/q")) : c::listQueues;
                return c;
            }
            default: throw new Inexpressible();
        }
    }

    <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> C build(B builder) {
        return builder.httpClient(this).region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("k", "s"))).build();
    }

    @Override public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
        return new ExecutableHttpRequest() {
            @Override public HttpExecuteResponse call() throws IOException { return respond(responses.get(Math.min(sent++, responses.size() - 1))); }
            @Override public void abort() { }
        };
    }

    HttpExecuteResponse respond(JsonNode r) throws IOException {
        switch (r.path("fault").asText(r.path("failure").asText())) {
            case "": break;
            case "reset": case "close": case "closed": case "garbage": case "not-http": throw new SocketException("Connection reset");
            case "hang": case "read-timeout": throw new SocketTimeoutException("Read timed out");
            case "refused": throw new ConnectException("Connection refused");
            default: throw new Inexpressible();
        }
        boolean xml = format.equals("query");
        String body = r.get("status").asInt() < 300
                ? xml ? "<GetCallerIdentityResponse><GetCallerIdentityResult/></GetCallerIdentityResponse>" : "{}"
                : !r.has("code") ? ""
                : String.format(xml ? "<ErrorResponse><Error><Code>%s</Code><Message>scripted response %d</Message></Error></ErrorResponse>"
                        : "{\"__type\":\"com.amazonaws.service#%s\",\"message\":\"scripted response %d\"}", r.get("code").asText(), sent);
        var head = SdkHttpResponse.builder().statusCode(r.get("status").asInt()).putHeader("Content-Type", xml ? "text/xml" : "application/x-amz-json-1.0");
        r.path("headers").fields().forEachRemaining(h -> head.putHeader(h.getKey(), h.getValue().asText()));
        return HttpExecuteResponse.builder().response(head.build())
                .responseBody(AbortableInputStream.create(new ByteArrayInputStream(body.getBytes()))).build();
    }

    @Override public RefreshRetryTokenResponse refreshRetryToken(RefreshRetryTokenRequest request) {
        try {
            RefreshRetryTokenResponse response = strategy.refreshRetryToken(request);
            waits.add((double) response.delay().toMillis());
            return RefreshRetryTokenResponse.create(response.token(), Duration.ZERO);
        } catch (TokenAcquisitionFailedException e) {
            e.delay().filter(d -> !d.isZero()).ifPresent(d -> waits.add((double) d.toMillis()));
            throw new TokenAcquisitionFailedException(e.getMessage(), e.token(), e.getCause());
        }
    }

    @Override public AcquireInitialTokenResponse acquireInitialToken(AcquireInitialTokenRequest request) { return strategy.acquireInitialToken(request); }
    @Override public RecordSuccessResponse recordSuccess(RecordSuccessRequest request) { return strategy.recordSuccess(request); }
    @Override public int maxAttempts() { return strategy.maxAttempts(); }
    @Override public RetryStrategy.Builder<?, ?> toBuilder() { return strategy.toBuilder(); }
    @Override public void close() { }

    ObjectNode observe(JsonNode script) {
        responses = script;
        sent = 0;
        waits.clear();
        String error = null;
        try {
            call.run();
        } catch (Inexpressible e) {
            throw e;
        } catch (RuntimeException e) {
            error = e.toString();
        }
        ObjectNode seen = JSON.createObjectNode().put("attempts", sent);
        waits.forEach(seen.putArray("waits_ms")::add);
        seen.put("ok", error == null);
        var reported = java.util.regex.Pattern.compile("scripted response (\\d+)").matcher(String.valueOf(error));
        if (reported.find()) {
            seen.put("reported", Integer.parseInt(reported.group(1)));
        }
        return seen.put("tokens", tokens.get());
    }

    /** Calls until the given attempt has failed, and returns the wait after it. */
    static ObjectNode waitAfter(JsonNode given, JsonNode response) throws Exception {
        Run run = new Run(given);
        run.tokens.set(1_000_000);
        set(run.strategy, "maxAttempts", given.get("attempt").asInt() + 1);
        run.observe(JSON.createArrayNode().add(response));
        if (run.waits.isEmpty()) {
            throw new Inexpressible(); // the SDK fails instead of waiting
        }
        return JSON.createObjectNode().put("wait_ms", run.waits.get(given.get("attempt").asInt() - 1));
    }

    static ObjectNode error(String kind) {
        return kind.equals("throttled") ? JSON.createObjectNode().put("status", 400).put("code", "Throttling") : JSON.createObjectNode().put("status", 500);
    }

    static ObjectNode answer(String kind, JsonNode given) throws Exception {
        switch (kind) {
            case "delay": if (given.has("rule")) throw new Inexpressible(); return waitAfter(given, error(given.get("class").asText()));
            case "hint": return waitAfter(given, given);
            case "classify": {
                if (given.has("modeled") || given.has("wrapped") || given.has("message") || given.path("status").asInt(500) < 300) throw new Inexpressible();
                ObjectNode seen = new Run(given).observe(JSON.createArrayNode().add(given));
                return JSON.createObjectNode().put("class", seen.get("attempts").asInt() == 1 ? "permanent" : (500 - seen.get("tokens").asInt()) % 14 == 0 ? "transient" : "throttled");
            }
            case "quota": return quota(given);
            case "trace": {
                if (given.has("tls")) throw new Inexpressible();
                System.clearProperty("aws.maxAttempts");
                if (given.has("max_attempts")) System.setProperty("aws.maxAttempts", given.get("max_attempts").asText());
                Run run = new Run(given);
                System.clearProperty("aws.maxAttempts");
                if (given.has("quota")) run.tokens.set(given.get("quota").asInt());
                ObjectNode result = JSON.createObjectNode();
                ArrayNode calls = result.putArray("calls");
                for (JsonNode c : given.get("calls")) calls.add(run.observe(c.get("responses")));
                return result;
            }
            default: throw new Inexpressible();
        }
    }

    static ObjectNode quota(JsonNode given) throws Exception {
        if (given.get("capacity").asInt() != 500) throw new Inexpressible();
        Run run = new Run(JSON.createObjectNode().put("service", "sts").put("random", 0));
        set(run.strategy, "maxAttempts", 1000);
        run.tokens.set(given.get("tokens").asInt());
        ObjectNode result = JSON.createObjectNode();
        ArrayNode after = result.putArray("after");
        RetryToken token = run.acquireInitialToken(AcquireInitialTokenRequest.create("GLOBAL")).token();
        for (JsonNode event : given.get("events")) {
            ObjectNode step = after.addObject();
            if (event.has("retry")) {
                boolean throttled = event.get("retry").asText().equals("throttled");
                var failure = AwsServiceException.builder().statusCode(throttled ? 429 : 500)
                        .awsErrorDetails(AwsErrorDetails.builder().errorCode(throttled ? "Throttling" : "InternalError").build()).build();
                try {
                    token = run.refreshRetryToken(RefreshRetryTokenRequest.builder().token(token).failure(failure).suggestedDelay(Duration.ZERO).build()).token();
                    step.put("granted", true);
                } catch (TokenAcquisitionFailedException e) {
                    step.put("granted", false);
                }
            } else {
                if (event.get("end").asText().equals("success")) run.recordSuccess(RecordSuccessRequest.create(token));
                token = run.acquireInitialToken(AcquireInitialTokenRequest.create("GLOBAL")).token();
            }
            step.put("tokens", run.tokens.get());
        }
        return result;
    }

    static Object get(Object o, String name) throws Exception { return field(o, name).get(o); }
    static void set(Object o, String name, Object value) throws Exception { field(o, name).set(o, value); }

    static Field field(Object o, String name) {
        for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                f.setAccessible(true);
                if (f.getName().equals(name)) return f;
            }
        }
        throw new IllegalArgumentException(name);
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("aws.newRetries2026", "true");
        System.setProperty("aws.retryMode", "standard");
        System.out.println(JSON.createObjectNode().put("implementation", "aws-sdk-java-v2 " + VersionInfo.SDK_VERSION));
        for (String kind : List.of("classify", "delay", "hint", "quota", "trace")) {
            JsonNode vectors = JSON.readTree(Path.of(args[0], kind, SET + ".json").toFile());
            for (JsonNode c : vectors.get("cases")) {
                try {
                    ObjectNode line = JSON.createObjectNode().put("set", kind + "/" + SET).put("source", SOURCE).put("id", c.get("id").asText());
                    System.out.println(line.set("answer", answer(kind, c.get("given"))).toString());
                } catch (Inexpressible e) {
                    // no line
                }
            }
        }
    }
}
