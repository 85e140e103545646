// MaxElapsed around a stream that lives longer. Nothing finds it.
package longstream

import (
	"bufio"
	"context"
	"net"
	"time"

	"github.com/gobackoff/retry"
)

func Listen(ctx context.Context, addr string, handle func(string)) error {
	return retry.Do(ctx, retry.Policy{MaxElapsed: time.Minute}, func(ctx context.Context) error {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer conn.Close()
		lines := bufio.NewScanner(conn)
		for lines.Scan() {
			handle(lines.Text())
		}
		return lines.Err()
	})
}
