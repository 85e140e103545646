package conformance;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.retries.internal.ratelimiter.RateLimiterClock;
import software.amazon.awssdk.retries.internal.ratelimiter.RateLimiterTokenBucketStore;

/** A clock and scheduler that jumps ahead instead of waiting, for the adaptive mode's rate limiter. */
final class JumpingClock extends ScheduledThreadPoolExecutor implements RateLimiterClock {
    private final AtomicLong jumped = new AtomicLong();

    private JumpingClock() {
        super(1, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Installs a rate limiter with this clock in an adaptive strategy. */
    static void install(RetryStrategy strategy) throws ReflectiveOperationException {
        JumpingClock clock = new JumpingClock();
        Fields.set(strategy, "rateLimiterTokenBucketStore",
                RateLimiterTokenBucketStore.builder().clock(clock).scheduler(clock).build());
    }

    @Override
    public double time() {
        return (System.nanoTime() + jumped.get()) / 1e9;
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        jumped.addAndGet(unit.toNanos(delay));
        return super.schedule(task, 0, unit);
    }
}
