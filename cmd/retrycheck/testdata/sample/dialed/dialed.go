// Connection dialed outside.
package dialed

import (
	"context"
	"net"

	"github.com/gobackoff/retry"
)

func Send(ctx context.Context, addr string, msg []byte) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	return retry.Do(ctx, retry.Policy{}, func(context.Context) error {
		_, err := conn.Write(msg) // mistake
		return err
	})
}
