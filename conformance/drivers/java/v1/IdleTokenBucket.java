package com.amazonaws.internal;

/** The rate limiter of the adaptive mode, without its sleep, which is accessible only in this package. */
public final class IdleTokenBucket extends TokenBucket {
    @Override
    void sleep(double seconds) {
    }
}
