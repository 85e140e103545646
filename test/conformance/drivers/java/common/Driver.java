package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Runs the cases from standard input with the clients of one SDK, as described in conformance/PROTOCOL.md. */
public final class Driver {
    public static final int READ_TIMEOUT_MS = 1000;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonNode input;
    private final Opener opener;

    private Driver(JsonNode input, Opener opener) {
        this.input = input;
        this.opener = opener;
    }

    /** Creates a case's client, which uses the given random numbers and adds every delay, in ms, to the given list. */
    public interface Opener {
        Client open(String mode, URI endpoint, JsonNode testCase, ScriptedRandom random, List<Long> delays)
                throws Exception;
    }

    /** An SDK's client for one case. */
    public interface Client extends AutoCloseable {
        /** Calls the operation once; it throws the exceptions of the SDK. */
        void call() throws Exception;

        /** Returns the balance of the retry quota. */
        int quota() throws Exception;

        @Override
        void close();
    }

    /** Runs all cases from standard input. */
    public static void run(String sdk, Opener opener) throws Exception {
        Driver driver = new Driver(JSON.readTree(System.in), opener);
        ObjectNode output = JSON.createObjectNode().put("sdk", sdk).put("unit", "ms");
        ArrayNode modules = output.putArray("modules");
        modules().forEach(modules::add);
        ArrayNode cases = output.putArray("cases");
        for (JsonNode testCase : driver.input.get("cases")) {
            cases.add(driver.play(testCase));
        }
        JSON.writeValue(System.out, output);
    }

    /** Returns the names and versions of the SDK's modules: the names of the files on the class path. */
    private static List<String> modules() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(path -> new File(path).getName().replace(".jar", ""))
                .filter(name -> name.matches("(aws-java-sdk-)?(core|retries|sdk-core|aws-core|sts|dynamodb|sqs|s3)-[0-9.]+"))
                .sorted()
                .collect(Collectors.toList());
    }

    private ObjectNode play(JsonNode testCase) throws Exception {
        ObjectNode result = JSON.createObjectNode().put("name", testCase.get("name").asText());
        ArrayNode calls = result.putArray("calls");
        List<Long> delays = new ArrayList<>();
        URI endpoint = URI.create((testCase.has("endpoint") ? testCase : input).get("endpoint").asText());
        ScriptedRandom random = new ScriptedRandom(testCase);
        try (Client client = opener.open(input.get("mode").asText(), endpoint, testCase, random, delays)) {
            for (JsonNode call : testCase.get("calls")) {
                calls.add(playCall(client, call, delays));
            }
        }
        return result;
    }

    private ObjectNode playCall(Client client, JsonNode call, List<Long> delays) throws Exception {
        delays.clear();
        script(HttpRequest.newBuilder().PUT(HttpRequest.BodyPublishers.ofString(call.toString())));
        String error = "";
        try {
            client.call();
        } catch (Exception e) {
            error = e.toString();
        }
        ObjectNode result = JSON.createObjectNode();
        result.put("attempts", JSON.readTree(script(HttpRequest.newBuilder().GET())).get("requests").asInt());
        ArrayNode list = result.putArray("delays");
        delays.forEach(list::add);
        return result.put("ok", error.isEmpty()).put("error", error).put("quota", client.quota());
    }

    private String script(HttpRequest.Builder request) throws Exception {
        URI uri = URI.create(input.get("endpoint").asText() + "/__script");
        HttpResponse<String> response = http.send(request.uri(uri).build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() / 100 != 2) {
            throw new IllegalStateException("the server refused the script: " + response.body());
        }
        return response.body();
    }
}
