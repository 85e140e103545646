package com.amazonaws.internal;

/** The rate limiter of the adaptive mode, without its sleep, which only this package can see. */
public final class IdleTokenBucket extends TokenBucket {
    @Override
    void sleep(double seconds) {
    }
}
