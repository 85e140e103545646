// Package retrygrpc retries calls on google.golang.org/grpc connections according to
// the policies of package [retry]:
//
//	options := append(retrygrpc.DialOptions(policy), grpc.WithTransportCredentials(creds))
//	conn, err := grpc.NewClient(target, options...)
//
// The policy applies to all calls on the connection. Calls that must not run twice need
// their own policy: after UNAVAILABLE and DEADLINE_EXCEEDED, the server may or may not have
// executed the call.
//
//	client.Pay(ctx, req, retrygrpc.WithPolicy(retry.Policy{MaxAttempts: 1}))
//
// # Information from and for the server
//
//   - Status codes decide whether a call is retried: see [Classifier], which is used if
//     Policy.Classifier is nil.
//   - The trailer grpc-retry-pushback-ms is the hint for the next wait (gRPC proposal A6).
//     A negative or malformed value ends the call.
//   - Without a pushback, a google.rpc.RetryInfo in the details of the status is the hint.
//     grpc-go itself ignores it. Neither hint makes a permanent code retryable.
//   - The metadata grpc-previous-rpc-attempts tells the server the number of earlier
//     attempts, as in gRPC's own retries.
//
// # Errors
//
// status.Code and status.FromError work with the error of a call: its code is that of the
// last failure, or CANCELED or DEADLINE_EXCEEDED if the caller's context is done. If the
// policy gave up, the error also matches *[retry.Error] and its Reason.
//
// # Streams
//
// A stream with one request (a server stream) is retried until its first message arrives
// or it ends without an error; it then counts as successful. Until then, the request is
// kept and must not be changed. AttemptTimeout bounds the wait for the first message.
// Calling Header ends the retries. If the stream cannot be opened, the first RecvMsg
// returns the error. If the client sends a stream, only opening it is retried.
//
// # Time limits and WaitForReady
//
// AttemptTimeout becomes the deadline of each attempt, which is sent to the server. With
// grpc.WaitForReady(true), an attempt without a connection waits for one until its deadline:
// without an AttemptTimeout, the first attempt may take all the time of the call.
//
// # One loop only
//
// grpc-go has its own retries, enabled by its service config. If each of a policy's four
// attempts made four of its own, the server would see 16. So [DialOptions] includes
// grpc.WithDisableRetry, which leaves only transparent retries (of requests that no server
// has received). Do not combine this package with another retrying interceptor.
// [ServiceConfig] converts a policy to a service config.
//
// Hedging is not supported: sending a second request before the first has failed is not a
// retry.
package retrygrpc
