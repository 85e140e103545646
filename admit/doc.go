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
//     again plus Within, they probably wait for each other.
//   - While they do not, the limit only rises: to the number in progress at which they
//     would begin to, by Little's law. If requests are refused although none waits, it
//     doubles.
//   - After two slow batches in a row, or if requests come and none leaves for a while, the
//     limit falls to that number, but at least to a quarter of those in progress.
//   - If at most half as many requests then take about as long, they did not wait: a slow
//     dependency has become the handler's own time, and the limit returns. If twice as
//     many later take twice as long, they do wait, and that time is forgotten.
//   - Requests that stay much longer than others do not count: they may be streams, slow
//     uploads, or hang.
//
// docs/overload.md contains measurements, and cases in which a Gate does not help.
package admit
