package retryhttp

// A phase is what is known about an exchange before its end.
type phase uint8

const (
	quiet     phase = iota // nothing: Base may not report what it does
	asking                 // a connection was requested
	connected              // a connection was obtained, and nothing written to it or to earlier ones
	written                // the headers were written to it
	rewriting              // another connection was obtained, for a resend
	responded              // a response arrived; Base may now send another request
	held                   // stopped before the request was written
	stopped                // stopped before the request was written again
	over                   // Base has returned
)

// An event is what a trace reports.
type event uint8

const (
	asked    event = iota // GetConn
	obtained              // GotConn
	wrote                 // WroteHeaders
	heard                 // GotFirstResponseByte
	events
)

// transitions lists the phase after each event. An exchange also leaves a phase when it
// is stopped or over; nothing follows those.
var transitions = [...][events]phase{
	quiet:     {asked: asking, obtained: connected, wrote: written, heard: responded},
	asking:    {asked: asking, obtained: connected, wrote: written, heard: responded},
	connected: {asked: connected, obtained: connected, wrote: written, heard: responded},
	written:   {asked: written, obtained: rewriting, wrote: rewriting, heard: responded},
	rewriting: {asked: rewriting, obtained: rewriting, wrote: rewriting, heard: responded},
	responded: {asked: responded, obtained: responded, wrote: responded, heard: responded},
	held:      {held, held, held, held},
	stopped:   {stopped, stopped, stopped, stopped},
	over:      {over, over, over, over},
}
