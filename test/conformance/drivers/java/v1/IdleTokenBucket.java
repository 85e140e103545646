package com.amazonaws.internal;

/** The adaptive mode's rate limiter, but without the sleep. Only this package can override its sleep method. */
public final class IdleTokenBucket extends TokenBucket {
    @Override
    void sleep(double seconds) {
    }
}
