package websocket

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	coder "github.com/coder/websocket"
	gorilla "github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry/retrykeep"
)

// TestCloseCodes: which close codes end a Keeper. Codes from 3000 are an application's: it
// marks those after which the client must not return.
func TestCloseCodes(t *testing.T) {
	for code, ends := range map[int]bool{
		1000: false, 1001: false, 1004: false, 1005: false, 1006: false, 1011: false, 1012: false, 1013: false, 1014: false, 1015: false,
		1002: true, 1003: true, 1007: true, 1008: true, 1009: true, 1010: true,
		3000: false, 3008: false, 3999: false, // registered with IANA
		4000: false, 4001: false, 4008: false, 4009: false, // Discord: reconnect
		4408: false, 4429: false, // graphql-ws: initialisation timeout, too many of them
		4500: false, // ThingsBoard: internal error
	} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			for library, closed := range map[string]error{
				"gorilla": &gorilla.CloseError{Code: code},
				"coder":   coder.CloseError{Code: coder.StatusCode(code)},
			} {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					var begun []time.Time
					err := new(retrykeep.Keeper).Run(ctx, func(_ context.Context, up func()) error {
						begun = append(begun, time.Now())
						up()
						return closed
					})
					if ends {
						assert.Equal(t, closed, err, library)
						assert.Len(t, begun, 1, library)
						return
					}
					assert.ErrorIs(t, err, context.DeadlineExceeded, library)
					assert.Greater(t, len(begun), 60, library)
					assert.Less(t, len(begun), 250, "%s: the waits grow", library)
				})
			}
		})
	}
}
