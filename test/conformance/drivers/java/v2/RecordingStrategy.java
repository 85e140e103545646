package conformance;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.core.client.config.SdkClientConfiguration;
import software.amazon.awssdk.core.client.config.SdkClientOption;
import software.amazon.awssdk.retries.api.AcquireInitialTokenRequest;
import software.amazon.awssdk.retries.api.AcquireInitialTokenResponse;
import software.amazon.awssdk.retries.api.RecordSuccessRequest;
import software.amazon.awssdk.retries.api.RecordSuccessResponse;
import software.amazon.awssdk.retries.api.RefreshRetryTokenRequest;
import software.amazon.awssdk.retries.api.RefreshRetryTokenResponse;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.retries.api.TokenAcquisitionFailedException;

/**
 * Delegates to the client's own strategy, but records its delays and makes the client wait 0 ms. It cannot be given
 * to the client's builder: the client would then switch the 2026 behavior off.
 */
final class RecordingStrategy implements RetryStrategy {
    private final RetryStrategy strategy;
    private final List<Long> delays;

    private RecordingStrategy(RetryStrategy strategy, List<Long> delays) {
        this.strategy = strategy;
        this.delays = delays;
    }

    /** Installs a recording strategy in a client's configuration, and returns the client's own strategy. */
    static RetryStrategy install(Object client, List<Long> delays) throws ReflectiveOperationException {
        var configuration = (SdkClientConfiguration) Fields.get(client, "clientConfiguration");
        RetryStrategy strategy = configuration.option(SdkClientOption.RETRY_STRATEGY);
        Object value = ((Map<?, ?>) Fields.get(configuration, "attributes", "attributes"))
                .get(SdkClientOption.RETRY_STRATEGY);
        Fields.set(value, "value", new RecordingStrategy(strategy, delays));
        return strategy;
    }

    @Override
    public AcquireInitialTokenResponse acquireInitialToken(AcquireInitialTokenRequest request) {
        return strategy.acquireInitialToken(request);
    }

    @Override
    public RefreshRetryTokenResponse refreshRetryToken(RefreshRetryTokenRequest request) {
        try {
            RefreshRetryTokenResponse response = strategy.refreshRetryToken(request);
            delays.add(response.delay().toMillis());
            return RefreshRetryTokenResponse.create(response.token(), Duration.ZERO);
        } catch (TokenAcquisitionFailedException e) {
            e.delay().map(Duration::toMillis).filter(ms -> ms > 0).ifPresent(delays::add);
            throw new TokenAcquisitionFailedException(e.getMessage(), e.token(), e.getCause());
        }
    }

    @Override
    public RecordSuccessResponse recordSuccess(RecordSuccessRequest request) {
        return strategy.recordSuccess(request);
    }

    @Override
    public int maxAttempts() {
        return strategy.maxAttempts();
    }

    @Override
    public Builder<?, ?> toBuilder() {
        return strategy.toBuilder();
    }
}
