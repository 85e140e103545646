package retrygrpc

import (
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// requests are the messages that the caller has sent on a stream, for the next attempt.
type requests struct {
	many    bool // false: exactly one, which the caller does not change, so it need not be copied
	limit   int  // bytes, if many
	size    int
	kept    []any
	closed  bool // CloseSend was called
	dropped bool // the stream cannot be sent again
}

// keep reports whether the message was kept.
func (r *requests) keep(m any) bool {
	if r.dropped {
		return false
	}
	if !r.many {
		r.kept = append(r.kept, m)
		return true
	}
	message, ok := m.(proto.Message)
	if !ok || r.limit <= 0 {
		return false
	}
	size := proto.Size(message)
	if size > r.limit-r.size {
		return false
	}
	r.size += size
	r.kept = append(r.kept, proto.Clone(message)) // callers may reuse a message
	return true
}

// forget releases the messages: the stream is not sent again.
func (r *requests) forget() { r.kept, r.dropped = nil, true }

// sendTo sends what was kept. If the stream has ended, its RecvMsg returns the reason.
func (r *requests) sendTo(stream grpc.ClientStream) error {
	for _, m := range r.kept {
		if err := stream.SendMsg(m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	if r.closed {
		return stream.CloseSend()
	}
	return nil
}
