// Package admit protects a server from overload: it admits only requests that the server
// can answer in time, refuses the rest before they begin, and sends each refused client a
// different Retry-After.
//
//	var gate admit.Gate
//	http.ListenAndServe(":8080", gate.Handler(mux))
//
// There is no queue and no limit to configure. A [Gate] limits the number of requests in
// progress, and learns the limit from batches of up to 32 requests. A batch is judged when
// more than half of it has left, by the median time that its requests took:
//
//   - The shortest median so far is the handler's own time. If requests take half as long
//     again plus Within, they wait for each other.
//   - While they do not, the limit only rises: to the number in progress at which they
//     would begin to, by Little's law. If requests are refused although none waits, it
//     doubles.
//   - After two slow batches in a row, or a second in which requests come and none leaves,
//     the limit falls to that number, but at least to a quarter of those in progress.
//   - If at most half as many requests take as long as before, they were not waiting for
//     each other: a slow dependency has become the handler's own time, and the limit
//     rises again. Five seconds later, the Gate tests this again if it still refuses
//     requests.
//   - If none is admitted for five seconds, a request is admitted beyond the limit: those
//     in progress may hang.
//
// docs/overload.md contains measurements, and cases in which a Gate does not help.
package admit
