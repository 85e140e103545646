package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Random;

/** A case's random numbers: those in its list, and after them always random_then. */
public final class ScriptedRandom extends Random {
    private static final long serialVersionUID = 1L;

    private final double[] first;
    private final double then;
    private int next;

    ScriptedRandom(JsonNode testCase) {
        JsonNode list = testCase.path("random");
        first = new double[list.size()];
        for (int i = 0; i < first.length; i++) {
            first[i] = list.get(i).asDouble();
        }
        then = testCase.path("random_then").asDouble();
    }

    @Override
    public double nextDouble() {
        return next < first.length ? first[next++] : then;
    }

    @Override
    public int nextInt(int bound) {
        return (int) (nextDouble() * bound);
    }
}
