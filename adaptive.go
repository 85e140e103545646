package retry

import "context"

type AdaptiveLimiter struct{ Clock Clock }

func (l *AdaptiveLimiter) Wait(ctx context.Context) error { return nil }
func (l *AdaptiveLimiter) Observe(a Attempt)              {}

func adaptiveDefault() *AdaptiveLimiter      { return &AdaptiveLimiter{} }
func adaptiveBotocore() *AdaptiveLimiter     { return &AdaptiveLimiter{} }
func adaptiveGoV2() *AdaptiveLimiter         { return &AdaptiveLimiter{} }
func adaptiveJavaV1() *AdaptiveLimiter       { return &AdaptiveLimiter{} }
func adaptiveJavaScriptV3() *AdaptiveLimiter { return &AdaptiveLimiter{} }
