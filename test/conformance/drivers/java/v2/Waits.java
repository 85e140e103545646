package conformance;

import static net.bytebuddy.matcher.ElementMatchers.named;

import java.time.Duration;
import java.util.List;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import software.amazon.awssdk.retries.api.RefreshRetryTokenResponse;
import software.amazon.awssdk.retries.api.TokenAcquisitionFailedException;

/**
 * Records the delays of the SDK's own strategies, and makes the client wait 0 ms. The client must have the strategy that
 * it has built itself, because it reads other headers for any other strategy. Therefore the method that returns the
 * delays is changed, before its class is loaded.
 */
public final class Waits {
    private static List<Long> delays;

    private Waits() {
    }

    /** Changes the SDK's strategies. Call it before anything else of the SDK. */
    static void install() {
        new AgentBuilder.Default()
                .disableClassFormatChanges()
                .type(named("software.amazon.awssdk.retries.internal.BaseRetryStrategy")
                        .or(named("software.amazon.awssdk.retries.internal.DefaultAdaptiveRetryStrategy")))
                .transform((builder, type, loader, module, domain) ->
                        builder.visit(Advice.to(Skip.class).on(named("refreshRetryToken"))))
                .installOn(ByteBuddyAgent.install());
    }

    /** Makes the list receive all further delays. */
    static void recordIn(List<Long> list) {
        delays = list;
    }

    /** Is copied to the end of the SDK's method. */
    static final class Skip {
        private Skip() {
        }

        @Advice.OnMethodExit(onThrowable = TokenAcquisitionFailedException.class)
        static void exit(@Advice.Return(readOnly = false) RefreshRetryTokenResponse response,
                @Advice.Thrown(readOnly = false) Throwable failure) {
            if (failure == null) {
                response = Waits.skip(response);
            } else {
                failure = Waits.skip(failure);
            }
        }
    }

    /** Records a delay before a retry. It is called by the SDK's method. */
    public static RefreshRetryTokenResponse skip(RefreshRetryTokenResponse response) {
        delays.add(response.delay().toMillis());
        return RefreshRetryTokenResponse.create(response.token(), Duration.ZERO);
    }

    /** Records the delay of a long poll that ends without a retry. It is called by the SDK's method. */
    public static Throwable skip(Throwable failure) {
        if (!(failure instanceof TokenAcquisitionFailedException)) {
            return failure;
        }
        TokenAcquisitionFailedException e = (TokenAcquisitionFailedException) failure;
        e.delay().map(Duration::toMillis).filter(ms -> ms > 0).ifPresent(delays::add);
        return new TokenAcquisitionFailedException(e.getMessage(), e.token(), e.getCause());
    }
}
