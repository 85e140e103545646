// Package retrygrpc retries calls on google.golang.org/grpc connections according to
// the policies of package [retry]:
//
//	options := retrygrpc.DialOptions(retry.Policy{AttemptTimeout: 5 * time.Second, Budget: &retry.SharedBudget{}})
//	options = append(options, grpc.WithDefaultCallOptions(grpc.WaitForReady(true))) // calls wait while the server restarts
//	options = append(options, grpc.WithTransportCredentials(creds))
//	conn, err := grpc.NewClient(target, options...)
//
// By default, only the methods with an idempotency_level are retried after the server may have
// executed them, and retries that a service config of grpc-go asks for are off. Most .proto files
// have no idempotency_level: list their methods in [Client].Repeatable.
//
// Without WaitForReady, no call outlasts the restart of a server: after a refused connection, grpc-go
// connects again a second later, and until then each attempt fails at once.
//
// The policy applies to all calls on the connection, unless [WithPolicy] overrides it.
//
// # What is retried
//
// The policy's Classifier, by default [Classifier], decides whether a failure is
// temporary. A temporary failure is retried only if the call
//
//   - was not sent, because there was no connection, the credentials failed, or the server allowed
//     no further stream in time;
//   - or may be executed twice: its method has an idempotency_level in its .proto file
//     (NO_SIDE_EFFECTS or IDEMPOTENT), and the generated code is linked into the
//     program; or Client.Repeatable names the method or its service, as the .proto file
//     has it: another name is an error;
//   - or was refused with a pushback and without headers, if Client.TrustPushback is set.
//
// Otherwise the call ends with [retry.ErrUnrepeatable], and the error names the option
// that would allow a retry. No code proves that a call was not executed: a server's
// handler may return any of them, and a connection that is lost while the handler runs
// gives UNAVAILABLE. docs/reference/grpc.md in the repository explains every code.
//
//	client := retrygrpc.Client{Policy: policy, Repeatable: []string{"shop.Catalog", "shop.Orders/Get"}}
//	options := append(client.DialOptions(), grpc.WithTransportCredentials(creds))
//
// Interceptors in later options should pass the context and the call options on. Without
// the options, pushbacks go unnoticed. What an interceptor sends on another connection does
// not count as sent.
//
// # Information from and for the server
//
//   - The trailer grpc-retry-pushback-ms is the hint for the next wait (gRPC proposal A6).
//     A negative or malformed value ends the call. A value of 0 asks for a retry at once. That
//     happens twice in a row at most: then the call waits as the policy says.
//   - Without a pushback, a google.rpc.RetryInfo in the first 32 details of the status is the hint.
//     grpc-go itself ignores it. Neither hint makes a permanent code retryable.
//   - The metadata grpc-previous-rpc-attempts tells the server the number of earlier
//     attempts, as in gRPC's own retries.
//
// # Budget
//
// If the policy's Budget is a [retry.SharedBudget], each method has a Part of it, so a method
// that only fails does not use up the retries of the others. Make one for each server, and
// use it in the policies of all connections to that server. Without a Budget, nothing bounds
// the retries of all calls together.
//
// # Errors
//
// status.Code and status.FromError work with the error of a call: its code is that of the
// last failure, or CANCELED or DEADLINE_EXCEEDED if the caller's context is done. If the
// policy gave up, the error also matches *[retry.Error] and its Reason.
//
// # Streams
//
// A stream is retried until its first message or its headers have been returned to the caller,
// or it ends without an error; it then counts as successful. Until then, its requests are kept.
// Do not change the request of a server stream after sending it. The messages of a stream of
// requests are copied, up to Client.MaxBuffer bytes, and only if the method may be repeated or
// TrustPushback is set; after a message that is not kept, or that is not a proto.Message, the
// stream is not retried.
//
// While a stream is retried, SendMsg may return nil for messages that the next attempt
// sends. If a server stream cannot be opened, the first RecvMsg returns the error.
//
// # Time limits and WaitForReady
//
// AttemptTimeout becomes the deadline of each attempt of a unary call, which is sent to
// the server. It bounds the wait for the first message of a server stream, and the time
// to open a stream of requests and to send again what was kept. With
// grpc.WaitForReady(true), an attempt without a connection waits for one until its deadline:
// without an AttemptTimeout, the first attempt may take all the time of the call.
//
// # One loop only
//
// grpc-go has its own retries, enabled by its service config. If each of a policy's four
// attempts made four of its own, the server would see 16. So [DialOptions] includes
// grpc.WithDisableRetry, which leaves only transparent retries, of requests that were not
// sent or that the server reports as not processed: see [Resends]. Do not combine this
// package with another retrying interceptor. [ServiceConfig] converts a policy to a
// service config.
//
// With Client.Hedge, a unary call that takes too long is sent a second time, if its method may
// be executed more than once. Streams are not hedged.
package retrygrpc
