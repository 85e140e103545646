package http_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryhttp"
)

// nodeScript is an HTTP/2 server. Depending on the number of requests so far, it
// resets the stream before or after "executing" the request, destroys the session,
// responds, or responds and closes the session gracefully.
const nodeScript = `
const http2 = require('http2');
const server = http2.createServer();
let n = 0;
server.on('session', s => s.on('error', () => {}));
server.on('stream', (stream, headers) => {
	stream.on('error', () => {});
	stream.resume();
	const i = n++ % 23, c = http2.constants;
	const execute = () => process.stdout.write(headers[':method'] + headers[':path'] + '\n');
	if (i === 3) return stream.close(c.NGHTTP2_REFUSED_STREAM);
	if (i === 7) { execute(); return stream.close(c.NGHTTP2_INTERNAL_ERROR); }
	if (i === 11) { execute(); return stream.close(c.NGHTTP2_PROTOCOL_ERROR); }
	if (i === 15) { execute(); return stream.close(c.NGHTTP2_CANCEL); }
	if (i === 19) { execute(); return stream.session.destroy(); }
	execute();
	stream.respond({':status': i === 21 ? 503 : 200});
	stream.end('done');
	if (i === 22) stream.session.close();
});
server.listen(PORT, '127.0.0.1');
`

// node runs nodeScript and returns its address and the file that lists the executed
// requests.
func node(t *testing.T) (address, executed string) { return nodeWith(t, nodeScript) }

func nodeWith(t *testing.T, source string) (address, executed string) {
	path, address := program(t, "node"), freeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	dir := t.TempDir()
	script, executed := filepath.Join(dir, "server.js"), filepath.Join(dir, "executed")
	require.NoError(t, os.WriteFile(script, []byte(strings.Replace(source, "PORT", port, 1)), 0o600))
	serve(t, address, "sh", "-c", `exec "$0" "$1" > "$2"`, path, script, executed)
	return address, executed
}

// TestCaddy: in front of a server that drops connections, Caddy responds with 502 where
// HAProxy refuses the stream.
func TestCaddy(t *testing.T) {
	path := program(t, "caddy")
	for _, k := range []kind{get, put, post, postEmpty} {
		t.Run(k.name, func(t *testing.T) {
			backend := newExecutions(t, true)
			address := freeAddress(t)
			name := filepath.Join(t.TempDir(), "Caddyfile")
			require.NoError(t, os.WriteFile(name, fmt.Appendf(nil, `{
	admin off
	auto_https off
	servers {
		protocols h1 h2c
	}
}
http://%s {
	reverse_proxy %s
}
`, address, backend.address()), 0o600))
			serve(t, address, path, "run", "--config", name, "--adapter", "caddyfile")
			c := newCounter(t, "HTTP/2", address)
			policy, sends := counted()
			policy.MaxAttempts = 12
			failed := sendMany(t, &retryhttp.Transport{Base: c.transport(t), Policy: policy}, c.url, k, 200)
			t.Logf("%d failed, %d twice, %d sends, %d requests", len(failed), backend.twice(), sends.Load(), c.headers.Load())
			assert.EqualValues(t, sends.Load(), c.headers.Load())
			if k.repeatable() {
				assert.Empty(t, failed)
			} else {
				assert.Zero(t, backend.twice())
				assert.NotEmpty(t, failed)
			}
		})
	}
}

// TestGunicorn: over HTTP/1.1, each worker exits after 50 requests, which ends its
// connections.
func TestGunicorn(t *testing.T) {
	path, dir, address := program(t, "gunicorn"), t.TempDir(), freeAddress(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.py"), []byte(`
def app(environ, start_response):
    environ['wsgi.input'].read()
    start_response('200 OK', [('Content-Length', '4')])
    return [b'done']
`), 0o600))
	serve(t, address, path, "--chdir", dir, "-k", "gthread", "--threads", "4", "-w", "2", "--max-requests", "50", "-b", address, "--log-level", "error", "app:app")
	c := newCounter(t, "HTTP/1.1", address)
	for _, k := range []kind{get, put} {
		t.Run(k.name, func(t *testing.T) {
			before := c.headers.Load()
			policy, sends := counted()
			policy.MaxAttempts = 6
			policy.Backoff = retry.FullJitter{Base: 20 * time.Millisecond}
			policy.AttemptTimeout = 3 * time.Second // an exiting worker may leave a connection open without a response
			failed := sendMany(t, &retryhttp.Transport{Base: c.transport(t), Policy: policy}, c.url, k, 150)
			t.Logf("%d failed, %d sends, %d requests", len(failed), sends.Load(), c.headers.Load()-before)
			assert.LessOrEqual(t, c.headers.Load()-before, int64(sends.Load()))
			assert.Empty(t, failed)
			for _, err := range failed {
				assert.NotErrorIs(t, err, context.Canceled)
			}
		})
	}
}

// nodeGoAway announces with every tenth response that it has not executed what follows, and
// executes it nevertheless.
const nodeGoAway = `
const http2 = require('http2');
const server = http2.createServer();
let n = 0;
server.on('session', s => s.on('error', () => {}));
server.on('stream', (stream, headers) => {
	stream.on('error', () => {});
	stream.resume();
	stream.on('end', () => {
		process.stdout.write(headers[':method'] + headers[':path'] + '\n');
		if (n++ % 10 === 9) stream.session.goaway(0);
		stream.respond({':status': 200});
		stream.end('done');
	});
});
server.listen(PORT, '127.0.0.1');
`

// TestNodeGoAway: with DistrustGoAway, no POST is executed twice by a server that breaks the
// promise of its GOAWAY. Without it, as with net/http, some are.
func TestNodeGoAway(t *testing.T) {
	for _, distrust := range []bool{false, true} {
		for _, k := range []kind{post, postEmpty} {
			address, executed := nodeWith(t, nodeGoAway)
			counted, o := newCounter(t, "HTTP/2", address), tally{}
			transport := &retryhttp.Transport{Base: counted.transport(t), Policy: o.policy(3), DistrustGoAway: distrust}
			o.send(t, transport, counted.url, k, 320)
			transport.CloseIdleConnections()
			twice := twiceIn(t, executed)
			t.Logf("%s, distrust %v: %d failed, %d twice", k.name, distrust, len(o.failed), twice)
			if distrust {
				assert.Zero(t, twice, k.name)
			}
		}
	}
}
