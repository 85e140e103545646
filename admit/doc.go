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
//   - The shortest median so far counts as the handler's own time. A batch is slow if its
//     median is above 1.5 times that, plus Within. Its requests probably wait for each other.
//   - As long as batches are not slow, the limit does not fall. It rises to the number of
//     requests in progress at which a batch would become slow, by Little's law. If requests
//     are refused although no batch is slow, the limit doubles.
//   - After two slow batches in a row, the limit falls to that number, but not below a quarter
//     of the requests in progress. It also falls if requests come and none leaves for a while.
//   - If the requests still take about as long when only half as many are in progress, they did
//     not wait for each other: a dependency has become slow. Its time becomes part of the
//     handler's own time, and the limit returns. If later twice as many requests take twice as
//     long, they do wait for each other, and that own time is forgotten.
//   - Requests that stay much longer than others do not count. They may be streams or slow
//     uploads, or they may hang.
//
// docs/overload.md in the repository lists cases in which a Gate does not help.
package admit
