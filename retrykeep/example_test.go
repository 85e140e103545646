package retrykeep_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrykeep"
)

// A client that reads lines until the server says goodbye, over as many connections as that
// takes.
func Example() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer listener.Close()
	go func() {
		for _, line := range []string{"hello", "how are you", "goodbye"} {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(conn, line)
			conn.Close()
		}
	}()

	errGoodbye := errors.New("goodbye")
	keeper := &retrykeep.Keeper{Policy: retry.Policy{Backoff: retry.NoDelay{}}} // without it, the waits begin with up to 1 s
	err = keeper.Run(context.Background(), func(ctx context.Context, up func()) error {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", listener.Addr().String())
		if err != nil {
			return err
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })() // ends the read below
		up()
		lines := bufio.NewScanner(conn)
		for lines.Scan() {
			fmt.Println(lines.Text())
			if lines.Text() == "goodbye" {
				return retry.Permanent(errGoodbye)
			}
		}
		return lines.Err()
	})
	fmt.Println(errors.Is(err, errGoodbye))
	// Output:
	// hello
	// how are you
	// goodbye
	// true
}
