// Package websocket tests what close codes mean for a connection that is kept.
package websocket
