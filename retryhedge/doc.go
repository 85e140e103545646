// Package retryhedge sends a second copy of an operation that takes longer than most, and
// uses the result that comes first. A few slow responses then cost little, for a few
// percent more load (Dean and Barroso, "The Tail at Scale", 2013).
//
//	var users retryhedge.Hedge
//
//	user, err := retryhedge.Do(ctx, &users, "get", func(ctx context.Context) (*User, error) {
//		return client.GetUser(ctx, id)
//	})
//
// The operation may run twice at the same time, so it must be safe to repeat. For HTTP, set
// retryhttp.Transport.Hedge; for gRPC, set retrygrpc.Client.Hedge. Both send copies only of
// what may be repeated.
//
// A copy is not a retry. It starts while nothing has failed, and a failure starts none: that
// is what package retry is for. Put the hedge inside the operation of a [retry.Do], which
// then sees one attempt.
//
// docs/hedging.md in the repository shows when hedging helps and when it hurts.
package retryhedge
