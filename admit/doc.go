// Package admit protects a server from overload: it admits only requests that the server
// can answer in time, refuses the rest before they begin, and tells each refused client a
// different time to come back.
//
//	var gate admit.Gate
//	http.ListenAndServe(":8080", gate.Handler(mux))
//
// A refused request gets 429 with a Retry-After, which clients with a retry policy honor:
// most of them succeed a few seconds later. [Gate.Enter] and [Gate.Leave] do the same for
// anything that is not HTTP.
//
// # How it works
//
// There is no queue and no limit to configure. A [Gate] limits the number of requests in
// progress, and learns the limit from batches of 32 requests. A batch is judged when more
// than half of it has left, by the median time that its requests took.
//
//   - The shortest median so far is the handler's own time. A request may take half as
//     long again, plus Within; more means that requests wait for each other.
//   - While they do not, the limit only rises: to the number in progress at which they
//     would just begin to, by Little's law. If requests are refused although nobody
//     waits, it doubles.
//   - After two slow batches in a row, or a second in which hardly any request of a batch
//     leaves, the limit falls to that number, but at least to
//     a quarter of those in progress. The next batch begins once the number in progress has fallen to it.
//   - If at most half as many requests in progress take as long as before, they were not waiting
//     for each other: a slow dependency has become the handler's own time, and the limit
//     rises again. Five seconds later, the Gate doubts this if it still refuses requests.
//
// # When not to use it
//
//   - If callers wait less than twice Within plus the handler's own time, lower Within, or
//     make them announce their timeouts (see [Caller]).
//   - A Gate for requests that need different resources refuses all of them when one
//     resource is overloaded. Use a Gate for each, and none for requests that need none.
//     Likewise, a Gate does not see a queue that fewer than half of its requests wait in.
//   - The slower a server, the longer a Gate takes to learn: with 14 requests a second,
//     one at a time, 20 seconds after a stall. Some of those requests are lost.
//   - If clients do not retry, a Gate turns slow failures into fast ones, and refuses some
//     requests for a few seconds whenever a dependency becomes much slower.
package admit
