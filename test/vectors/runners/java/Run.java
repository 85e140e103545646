import com.fasterxml.jackson.databind.*;
import java.io.*;
import java.lang.reflect.*;
import java.net.*;
import java.nio.file.Path;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.regex.*;
import software.amazon.awssdk.auth.credentials.*;
import software.amazon.awssdk.awscore.client.builder.*;
import software.amazon.awssdk.awscore.exception.*;
import software.amazon.awssdk.core.client.config.*;
import software.amazon.awssdk.core.util.VersionInfo;
import software.amazon.awssdk.http.*;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.*;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;

/** Answers the vectors with the AWS SDK for Java 2.x: java -cp 'SDK/*' Run.java FOLDER, where FOLDER contains the vectors. README.md describes the output. */
public final class Run implements SdkHttpClient {
    static final ObjectMapper JSON = new ObjectMapper();
    static final List<String> ERROR = List.of("{\"__type\":\"com.amazonaws.service#%s\",\"message\":\"scripted response %d\"}",
            "<ErrorResponse><Error><Code>%s</Code><Message>scripted response %d</Message></Error></ErrorResponse>");
    static final List<String> SUCCESS = List.of("{}", "<GetCallerIdentityResponse><GetCallerIdentityResult/></GetCallerIdentityResponse>");

    /** The SDK has no equivalent, or this runner does not replace it. */
    static final class Inexpressible extends RuntimeException { }

    final JsonNode given;
    final Iterator<JsonNode> numbers;
    final List<Long> waits = new ArrayList<>();
    final Runnable operation;
    RetryStrategy strategy; // the client's own
    AtomicInteger tokens; // its quota
    JsonNode responses;
    int sent;

    Run(JsonNode given) throws Exception {
        this.given = given;
        numbers = given.path("random").iterator();
        operation = switch (given.get("service").asText()) {
            case "sts" -> scripted(StsClient.builder())::getCallerIdentity;
            case "dynamodb" -> scripted(DynamoDbClient.builder())::listTables;
            case "dynamodbstreams" -> scripted(DynamoDbStreamsClient.builder())::listStreams;
            case "sqs" -> {
                SqsClient sqs = scripted(SqsClient.builder());
                boolean receives = given.path("operation").asText().equals("ReceiveMessage");
                yield receives ? () -> sqs.receiveMessage(r -> r.queueUrl("https://sqs.us-east-1.amazonaws.com/1/q")) : sqs::listQueues;
            }
            default -> throw new Inexpressible();
        };
    }

    double random() { return numbers.hasNext() ? numbers.next().asDouble() : given.path("random").asDouble(given.path("random_then").asDouble()); }

    /** Returns a client whose random numbers are scripted and whose waits are recorded. */
    <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> C scripted(B builder) throws Exception {
        C client = builder.httpClient(this).region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("k", "s"))).build();
        var configuration = (SdkClientConfiguration) get(client, "clientConfiguration");
        strategy = configuration.option(SdkClientOption.RETRY_STRATEGY);
        Supplier<Random> random = () -> new Random() {
            @Override public double nextDouble() { return random(); }
            @Override public int nextInt(int bound) { return (int) (random() * bound); }
        };
        for (String backoff : List.of("backoffStrategy", "throttlingBackoffStrategy")) set(get(strategy, backoff), "randomSupplier", random);
        Object buckets = get(strategy, "tokenBucketStore");
        Method bucket = buckets.getClass().getDeclaredMethod("tokenBucketForScope", String.class);
        bucket.setAccessible(true);
        tokens = (AtomicInteger) get(bucket.invoke(buckets, "GLOBAL"), "capacity");
        Object recording = java.lang.reflect.Proxy.newProxyInstance(Run.class.getClassLoader(), new Class<?>[] {RetryStrategy.class},
                (proxy, method, args) -> method.getName().equals("refreshRetryToken") ? refresh((RefreshRetryTokenRequest) args[0]) : method.invoke(strategy, args));
        set(((Map<?, ?>) get(get(configuration, "attributes"), "attributes")).get(SdkClientOption.RETRY_STRATEGY), "value", recording);
        return client;
    }

    RefreshRetryTokenResponse refresh(RefreshRetryTokenRequest request) {
        try {
            RefreshRetryTokenResponse response = strategy.refreshRetryToken(request);
            waits.add(response.delay().toMillis());
            return RefreshRetryTokenResponse.create(response.token(), Duration.ZERO);
        } catch (TokenAcquisitionFailedException e) {
            e.delay().filter(d -> !d.isZero()).ifPresent(d -> waits.add(d.toMillis()));
            throw new TokenAcquisitionFailedException(e.getMessage(), e.token(), e.getCause());
        }
    }

    @Override public void close() { }
    @Override public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
        return new ExecutableHttpRequest() {
            @Override public void abort() { }
            @Override public HttpExecuteResponse call() throws IOException { return respond(responses.get(Math.min(sent++, responses.size() - 1))); }
        };
    }

    HttpExecuteResponse respond(JsonNode r) throws IOException {
        switch (r.path("fault").asText(r.path("failure").asText())) {
            case "" -> { }
            case "reset", "close", "closed", "garbage" -> throw new SocketException("Connection reset");
            case "hang", "read-timeout" -> throw new SocketTimeoutException("Read timed out");
            case "refused" -> throw new ConnectException("Connection refused");
            default -> throw new Inexpressible();
        }
        int status = r.get("status").asInt(), format = given.get("service").asText().equals("sts") ? 1 : 0;
        String body = status < 300 ? SUCCESS.get(format) : r.has("code") ? ERROR.get(format).formatted(r.get("code").asText(), sent) : "";
        var head = SdkHttpResponse.builder().statusCode(status).putHeader("Content-Type", format == 1 ? "text/xml" : "application/x-amz-json-1.0");
        r.path("headers").fields().forEachRemaining(h -> head.putHeader(h.getKey(), h.getValue().asText()));
        return HttpExecuteResponse.builder().response(head.build()).responseBody(AbortableInputStream.create(new ByteArrayInputStream(body.getBytes()))).build();
    }

    Map<String, Object> call(JsonNode script) {
        responses = script;
        sent = 0;
        waits.clear();
        String error = "";
        try {
            operation.run();
        } catch (Inexpressible e) {
            throw e;
        } catch (RuntimeException e) {
            error = e.toString();
        }
        Map<String, Object> seen = new HashMap<>(Map.of("attempts", sent, "waits_ms", List.copyOf(waits), "ok", error.isEmpty(), "tokens", tokens.get()));
        Matcher reported = Pattern.compile("scripted response (\\d+)").matcher(error);
        if (reported.find()) seen.put("reported", Integer.parseInt(reported.group(1)));
        return seen;
    }

    static Object delay(JsonNode given) throws Exception {
        return given.get("class").asText().equals("throttled") ? waitAfter(given, "{\"status\":400,\"code\":\"Throttling\"}") : waitAfter(given, "{\"status\":500}");
    }

    /** Returns the wait after the attempt with the given number. */
    static Object waitAfter(JsonNode given, String response) throws Exception {
        Run run = new Run(given);
        int attempt = given.get("attempt").asInt();
        run.tokens.set(1_000_000);
        set(run.strategy, "maxAttempts", attempt + 1);
        run.call(JSON.readTree("[" + response + "]"));
        if (run.waits.size() < attempt) throw new Inexpressible(); // the SDK fails instead of waiting
        return Map.of("wait_ms", run.waits.get(attempt - 1));
    }

    static Object classify(JsonNode given) throws Exception {
        if (given.has("modeled") || given.has("wrapped") || given.has("message") || given.path("status").asInt(500) < 300) throw new Inexpressible();
        var seen = new Run(given).call(JSON.createArrayNode().add(given));
        boolean transients = (500 - (int) seen.get("tokens")) % 14 == 0;
        return Map.of("class", (int) seen.get("attempts") == 1 ? "permanent" : transients ? "transient" : "throttled");
    }

    static Object quota(JsonNode given) throws Exception {
        if (given.get("capacity").asInt() != 500) throw new Inexpressible();
        Run run = new Run(JSON.readTree("{\"service\":\"sts\"}"));
        set(run.strategy, "maxAttempts", 1000);
        run.tokens.set(given.get("tokens").asInt());
        var after = new ArrayList<Map<String, Object>>();
        var begin = AcquireInitialTokenRequest.create("GLOBAL");
        RetryToken token = run.strategy.acquireInitialToken(begin).token();
        for (JsonNode event : given.get("events")) {
            Map<String, Object> step = new HashMap<>();
            after.add(step);
            if (event.has("retry")) {
                boolean throttled = event.get("retry").asText().equals("throttled");
                var details = AwsErrorDetails.builder().errorCode(throttled ? "Throttling" : "InternalError").build();
                var failure = AwsServiceException.builder().statusCode(throttled ? 429 : 500).awsErrorDetails(details).build();
                try {
                    token = run.refresh(RefreshRetryTokenRequest.builder().token(token).failure(failure).suggestedDelay(Duration.ZERO).build()).token();
                    step.put("granted", true);
                } catch (TokenAcquisitionFailedException e) {
                    step.put("granted", false);
                }
            } else {
                if (event.get("end").asText().equals("success")) run.strategy.recordSuccess(RecordSuccessRequest.create(token));
                token = run.strategy.acquireInitialToken(begin).token();
            }
            step.put("tokens", run.tokens.get());
        }
        return Map.of("after", after);
    }

    static Object trace(JsonNode given) throws Exception {
        if (given.has("tls")) throw new Inexpressible();
        if (given.has("max_attempts")) System.setProperty("aws.maxAttempts", given.get("max_attempts").asText());
        Run run = new Run(given);
        System.clearProperty("aws.maxAttempts");
        run.tokens.set(given.path("quota").asInt(run.tokens.get()));
        var calls = new ArrayList<Object>();
        for (JsonNode c : given.get("calls")) calls.add(run.call(c.get("responses")));
        return Map.of("calls", calls);
    }

    static Object get(Object o, String name) throws Exception { return field(o.getClass(), name).get(o); }
    static void set(Object o, String name, Object value) throws Exception { field(o.getClass(), name).set(o, value); }
    static Field field(Class<?> c, String name) throws Exception {
        for (Field f : c.getDeclaredFields()) {
            f.setAccessible(true);
            if (f.getName().equals(name)) return f;
        }
        return field(c.getSuperclass(), name);
    }

    interface Rule { Object answer(JsonNode given) throws Exception; }

    public static void main(String[] args) throws Exception {
        System.setProperty("aws.newRetries2026", "true");
        System.setProperty("aws.retryMode", "standard");
        System.out.println(JSON.writeValueAsString(Map.of("implementation", "aws-sdk-java-v2 " + VersionInfo.SDK_VERSION)));
        Map<String, Rule> kinds = Map.of("delay", Run::delay, "hint", g -> waitAfter(g, g.toString()), "classify", Run::classify, "quota", Run::quota, "trace", Run::trace);
        for (String kind : kinds.keySet()) {
            for (JsonNode c : JSON.readTree(Path.of(args[0], kind, "aws-standard-2026.json").toFile()).get("cases")) {
                try {
                    Object answer = kinds.get(kind).answer(c.get("given"));
                    System.out.println(JSON.writeValueAsString(Map.of("set", kind + "/aws-standard-2026", "source", "java-v2-standard-2026", "id", c.get("id"), "answer", answer)));
                } catch (Inexpressible e) {
                    // no line
                }
            }
        }
    }
}
