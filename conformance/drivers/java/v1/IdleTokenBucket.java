package com.amazonaws.internal;

/** The adaptive mode's rate limiter without its sleep, which is accessible only in this package. */
public final class IdleTokenBucket extends TokenBucket {
    @Override
    void sleep(double seconds) {
    }
}
