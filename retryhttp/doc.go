// Package retryhttp retries HTTP requests that are safe to repeat, with
// exponential backoff and jitter.
//
//	client := retryhttp.NewClient(retry.Policy{MaxAttempts: 4})
//	resp, err := client.Get("https://example.com/")
//
// A [Transport] is an [http.RoundTripper] for any [http.Client], driven by a
// [retry.Policy]. It sits above the transport that makes the connections and
// below the client, which follows redirects, each as a request of its own.
//
// # What is repeated
//
// A failure is a response with a status of 400 or above, one in which the
// Transport's Check finds an error, or an error in the
// place of a response. [retry.DefaultClassifier], or the Classifier of the policy,
// decides whether it is temporary, as 503 and a broken connection are and 404
// is not. Then two more conditions must hold.
//
// The request may be executed twice, or it is certain that it was not processed:
//
//	GET HEAD OPTIONS TRACE PUT DELETE QUERY    repeated
//	with a header Idempotency-Key              repeated
//	other requests, such as POST:
//	    421, 425, 429, and what means 429      repeated
//	    no connection (dial, DNS, proxy, TLS)  repeated
//	    HTTP/2 stream above the last that
//	    GOAWAY accepts                         repeated
//	    HTTP/2 stream reset                    not repeated: see TrustRefusedStream
//	    503, 500 and all other responses       not repeated
//	    connection lost, timeout               not repeated
//
// And its body can be sent again: there is none, or GetBody is set, as
// [http.NewRequest] does for a bytes.Buffer, a bytes.Reader and a
// strings.Reader, or it fits into MaxBuffer. A body is never rewound in place.
// If a failure is temporary but these rules forbid a retry, the call ends with
// [retry.ErrUnrepeatable].
//
// Nothing is repeated once the headers of a response have been returned: errors
// while reading its body are the reader's to handle. If the whole body belongs
// to the attempt, read it in the operation of a [retry.Do] around a client that
// does not retry.
//
// A conditional write (PUT with If-Match or If-None-Match) whose response was lost
// gets 412 Precondition Failed from its own success when it is repeated:
// [Ambiguous] reports that.
//
// # What comes back
//
// The last response, unchanged, also if it is a failure; so code that looks at
// StatusCode goes on working. A response that is followed by a retry is read to
// its end, if that is near (64 KiB, 0.1 s), and closed before the wait, so that
// its connection serves the retry and nobody has to wait for a slot meanwhile.
// Its cookies do not reach the client's jar.
//
// If the server asks for a wait that is too long for the policy's
// [retry.HintRule], or that would outlast the deadline of the request, its response
// is returned at once. See [RetryAfter] for the headers that are understood.
//
// # What net/http repeats by itself
//
// Package net/http also repeats requests, without telling anybody. A Transport
// bounds that, so that the policy decides what leaves:
//
//   - A request with a body is sent once in an attempt: the Transport hands it
//     on without GetBody.
//   - A request without a body that may be executed twice is sent once in an
//     attempt over HTTP/1. Over HTTP/2 net/http may send it a second time, over
//     another connection, so that a graceful GOAWAY costs no attempt; then
//     the attempt ends.
//   - A request without a body that must not be executed twice is sent again only
//     if it is certain that it has not been processed. To learn that over HTTP/2, the
//     Transport gives it an empty body, if Base is an [http.Transport].
//
// An attempt that is stopped for these reasons fails with an error that is
// temporary for [retry.DefaultClassifier]. docs/http.md in the repository has the
// measurements.
//
// # What sits above and below
//
// What should see every attempt, such as a tracer or a signer of requests,
// goes below, as Base; [AttemptNumber] tells it which attempt it has, and each
// attempt has headers of its own, which it may change in place. What
// should see the call as a whole goes above. A RoundTripper below that sends a
// body a second time, as digest authentication does, finds no GetBody and has to
// keep the body itself; or it goes above, like a signer that calls GetBody.
//
// Retry at one layer only. If one Transport is on top
// of another, or one is inside a [retry.Do] whose operation calls [CheckStatus], what
// the inner one has given up on is permanent to the outer one, so that 3
// attempts around 3 attempts do not become 9. Requests of the AWS SDKs that
// announce further attempts, and those of SDKs made by Stainless that are retries,
// are sent once. Other clients that retry do not say so: docs/http.md has the
// switch of each.
//
// # What is left out
//
// There is no hedging, and no rewriting of responses into errors: a client that wants
// 404 as an error has the status to make one of. There is no logging: use the
// hooks of the policy, which find the request with [InfoFrom].
package retryhttp
