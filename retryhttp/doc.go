// Package retryhttp retries HTTP requests that are safe to repeat, with exponential
// backoff and jitter.
//
//	client := retryhttp.NewClient(retry.Policy{MaxAttempts: 4})
//	resp, err := client.Get("https://example.com/")
//
// A [Transport] sits between any [http.Client] and the transport that makes the
// connections, and is driven by a [retry.Policy]. The client follows redirects; each is a
// separate request.
//
// # What is retried
//
// A failure is an error, a response with a status of 400 or above, or a response in
// which the Transport's Check finds an error. The policy's Classifier, by default
// [retry.DefaultClassifier], decides whether it is temporary: 503 and a broken
// connection are, 404 is not. A temporary failure is retried if two more conditions
// hold.
//
// First, the request is safe to execute twice, or it was certainly not processed:
//
//	GET HEAD OPTIONS TRACE PUT DELETE QUERY    retried
//	with an Idempotency-Key header, the
//	caller's or the Transport's                retried
//	other requests, such as POST:
//	    421, 425, 429, and equivalents of 429  retried
//	    no connection (dial, DNS, proxy, TLS)  retried
//	    stream above the last that GOAWAY
//	    accepts (HTTP/2)                       retried, once at once: see DistrustGoAway
//	    stream reset (HTTP/2, HTTP/3)          not retried: see TrustRefusedStream
//	    503, 500 and all other responses       not retried
//	    connection lost, timeout               not retried
//
// Second, the request has no body, or the body can be sent again: it fits into
// MaxBuffer, or GetBody is set. [http.NewRequest] sets GetBody for a bytes.Buffer, a
// bytes.Reader and a strings.Reader. A body is never rewound, because the previous
// attempt may still be reading it. If a temporary failure may not be retried
// because of these conditions, the call ends with [retry.ErrUnrepeatable].
//
// Once the headers of a response have been returned, nothing is retried. With
// Transport.MaxRead, the body belongs to the attempt, so that a response that breaks off is
// retried, too, if the request may be repeated. [Read] does that for one request.
// Do not read bodies in the operation of a [retry.Do] around a client: it would repeat a
// POST that was executed.
//
// If a conditional write (PUT with If-Match or If-None-Match) succeeds but its response
// is lost, the retry gets 412 Precondition Failed; [Ambiguous] reports this.
//
// # What is returned
//
// The last response is returned unchanged, even if it is a failure, so code that checks
// StatusCode keeps working. Earlier responses are drained (up to 64 KiB and 0.1 s) and
// closed before the wait, so their connections can be reused and do not block other
// requests. Their cookies do not reach the client's jar.
//
// If the server asks for a wait that is too long for the policy's [retry.HintRule], or
// that would end after the request's deadline, the response is returned immediately.
// [RetryAfter] lists the headers.
//
// # How many requests
//
// A call sends at most one request more than it makes attempts. If a request certainly was not
// processed, it is sent again at once, within the attempt: that happens once in a call, so that nobody
// notices a server that closes its connections, and it takes no token of the Budget. If it happens
// again, or if the server refuses the first request of a connection with a GOAWAY that has an error
// code, the attempt has failed, and the Budget is asked for the retry.
//
// If a response refuses what Sign has added, the request is signed and sent again within the attempt,
// up to eight times in a call. These requests are not part of the "one request more", and take no
// token.
//
// Three more kinds of requests ask the Budget for a token. The first two are not part of the "one
// request more". [Info] counts all of them.
//
//   - The copies of a Hedge that has no Budget of its own.
//   - Resends through a Base that is not an http.Transport: up to 8 in a call, with waits between them.
//   - Resends by net/http, which over HTTP/1 repeats a request without a body that may be executed
//     twice, if a reused connection breaks. A Transport cannot prevent these. They take a token if there
//     is one.
//
// Over HTTP/2, net/http would repeat every request without a body, without telling the reason. To
// prevent that, a Transport removes GetBody, and sends some requests over connections of its own.
// docs/not-twice.md in the repository describes how an attempt ends.
//
// # Layers above and below
//
// What a request needs besides itself, such as a token, a session or a signature, is added by Sign:
// see [Lease] and [Pool]. A RoundTripper that should see every attempt, such as a tracer, goes
// below: install it with Wrap. There, [AttemptNumber] returns the number of the attempt, and
// each attempt has its own headers, which may be changed in place. A RoundTripper that
// should see the whole call goes above, and so does one that sends a body twice, as digest
// authentication does: below a Transport, requests have no GetBody.
//
// Retry at one layer only. If a Transport is below another one, or inside a [retry.Do]
// whose operation calls [CheckStatus], the outer layer does not retry after the inner
// one gave up, so 3 attempts around 3 attempts do not become 9. The attempts of clients
// that announce their own retries are sent once each: see Transport.OnOuterRetry. For other
// clients, docs/http.md says which of the two layers should retry.
//
// # What is left out
//
// A Transport does not turn responses into errors: [CheckStatus] does. It does not log: the
// policy's hooks can, and [InfoFrom] describes the request to them.
package retryhttp
