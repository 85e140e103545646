// Package retryhttp repeats HTTP requests that fail, where a repetition can do
// no harm.
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
// A failure is an answer with a status of 400 or above, or an error in the
// place of an answer. [retry.DefaultClassifier], or the Classifier of the policy,
// says whether it may pass by itself, as 503 and a broken connection may and 404
// may not. Then two more things have to hold.
//
// The request may be executed twice, or it is certain that it was not processed:
//
//	GET HEAD OPTIONS TRACE PUT DELETE QUERY    repeated
//	with a header Idempotency-Key              repeated
//	other requests, such as POST:
//	    421, 425, 429                          repeated
//	    no connection (dial, DNS, proxy, TLS)  repeated
//	    with a body: HTTP/2 stream refused, or
//	    above the last that GOAWAY accepts     repeated
//	    503, 500 and all other answers         not repeated
//	    connection lost, timeout               not repeated
//
// And its body can be sent again: there is none, or GetBody is set, as
// [http.NewRequest] does for a bytes.Buffer, a bytes.Reader and a
// strings.Reader, or it fits into MaxBuffer. A body is never rewound in place.
// A failure that speaks for a retry which these rules forbid ends the call with
// [retry.ErrUnrepeatable].
//
// Once the headers of an answer have arrived nothing is repeated: what goes wrong
// while its body is read is the reader's to deal with. If the whole body belongs
// to the attempt, read it in the operation of a [retry.Do] around a client that
// does not retry.
//
// # What comes back
//
// The last answer, untouched, also if it is a failure; so code that looks at
// StatusCode goes on working. An answer that is followed by a retry is read to
// its end, if that is near (64 KiB, 0.1 s), and closed before the wait, so that
// its connection serves the retry and nobody has to wait for a slot meanwhile.
// Its cookies do not reach the client's jar.
//
// If the server asks for a wait that is too long for the policy's
// [retry.HintRule], or that would outlast the deadline of the request, its answer
// is returned at once. See [RetryAfter] for the headers that are understood.
//
// # What net/http repeats by itself
//
// Package net/http also repeats requests, without telling anybody. A Transport
// hands it requests without GetBody, so that it cannot send a body twice: every
// attempt that carries a body is one request, and is counted. Of requests without
// a body it sends some again:
//
//   - Over HTTP/1, when a connection that was used before is closed or reset
//     before an answer: requests with the methods GET, HEAD, OPTIONS and TRACE or
//     with an Idempotency-Key. Set DisableKeepAlives to count them all.
//   - Over HTTP/1, when a connection turns out to be closed before a byte was
//     written: all requests. No server has seen them before. (With a body, a POST
//     ends in an error then, because net/http does not say that nothing was
//     written.)
//   - Over HTTP/2, when a stream is refused with REFUSED_STREAM or GOAWAY: all
//     requests that may be executed twice, up to seven times, with waits that come
//     to a minute; after PROTOCOL_ERROR without any such bound. The AttemptTimeout
//     of the policy is one.
//
// From sending a request over HTTP/2 again that must not be executed twice, such
// as a POST without a body, it is kept: the attempt ends in an error, because
// net/http does not say whether the stream was refused or reset.
//
// The example of httptrace shows such attempts.
//
// # What sits above and below
//
// What should see every attempt, such as a tracer or a signer of requests,
// goes below, as Base; [AttemptNumber] tells it which attempt it has. What
// should see the call as a whole goes above. A RoundTripper below that sends a
// body a second time, as digest authentication does, finds no GetBody and has to
// keep the body itself; or it goes above.
//
// Retry at one layer only. Where there are two all the same, one Transport on top
// of another or one inside a [retry.Do] whose operation calls [CheckStatus], what
// the inner one has given up on is permanent to the outer one, so that 3
// attempts around 3 attempts do not become 9.
//
// # What is left out
//
// There is no hedging, and no rewriting of answers into errors: a client that wants
// 404 as an error has the status to make one of. There is no logging: use the
// hooks of the policy.
package retryhttp
