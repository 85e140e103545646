// Package retrygrpc gives the connections of google.golang.org/grpc the policies of
// package [retry]:
//
//	options := append(retrygrpc.DialOptions(policy), grpc.WithTransportCredentials(creds))
//	conn, err := grpc.NewClient(target, options...)
//
// The policy is used for all methods of the connection. Give calls that must not run
// twice a policy of their own, because UNAVAILABLE and DEADLINE_EXCEEDED do not say
// whether the server has acted:
//
//	client.Pay(ctx, req, retrygrpc.WithPolicy(retry.Policy{MaxAttempts: 1}))
//
// # What the server says
//
//   - Status codes decide whether a call is retried: see [Classifier], which a nil
//     Policy.Classifier means here.
//   - The trailer grpc-retry-pushback-ms is the hint for the next wait (gRPC proposal A6).
//     A negative or malformed value ends the call.
//   - A google.rpc.RetryInfo in the details of the status is the hint if there is no
//     pushback. grpc-go itself ignores it. Neither makes a permanent code retryable.
//   - Servers find the number of earlier attempts in the metadata
//     grpc-previous-rpc-attempts, as in gRPC's own retries.
//
// # Errors
//
// status.Code and status.FromError understand the error of a call: its code is that of the
// last failure, or CANCELED or DEADLINE_EXCEEDED if the caller's context has ended.
// If the policy gave up, the error also matches *[retry.Error] and its Reason.
//
// # Streams
//
// A stream with one request (a server stream) is retried until its first message; with
// it, or the end of the stream, the call counts as a success. The request is kept
// until then and must not be changed. AttemptTimeout bounds the wait for that message, and
// Header before the first message ends the retries. A failure to open the stream is
// returned by the first RecvMsg. If the client streams, only opening is retried.
//
// # Time limits and WaitForReady
//
// AttemptTimeout becomes the deadline of each attempt, which the server sees. With
// grpc.WaitForReady(true) an attempt does not fail because there is no connection, but
// waits for one until its deadline: set an AttemptTimeout, or the first attempt takes all
// the time.
//
// # One loop only
//
// grpc-go retries by itself if its service config says so; around it, four attempts would
// make 16. So [DialOptions] contains grpc.WithDisableRetry, which leaves what grpc-go
// calls transparent retries: of requests that no server has seen. Not to be combined with
// another retrying interceptor. [ServiceConfig] goes the other way and writes a policy as
// a service config.
//
// There is no hedging: a second request before the first has failed is another matter
// than a retry.
package retrygrpc
