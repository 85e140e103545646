// One Sequence for the life of a client. Nothing finds it.
package onesequence

import (
	"time"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/adapt"
)

type Client struct {
	seq  *adapt.Sequence
	send func() error
}

func New(send func() error) *Client {
	return &Client{seq: adapt.NewSequence(retry.Policy{MaxAttempts: 5}), send: send}
}

func (c *Client) Send() error {
	for {
		err := c.send()
		if err == nil {
			return nil
		}
		wait, stop := c.seq.Next()
		if stop {
			return err
		}
		time.Sleep(wait)
	}
}
