package http_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry/retryhttp"
)

var manyRequests = flag.Int("many.requests", 20, "requests that TestMany sends with each server, kind of request and Base")

func haproxyDrops(protocol string) func(*testing.T) (string, func() int) {
	return func(t *testing.T) (string, func() int) {
		backend := newExecutions(t, true)
		return haproxy(t, protocol, backend.address()), backend.twice
	}
}

func nginxDrops(t *testing.T) (string, func() int) {
	backend := newExecutions(t, true)
	return nginx(t, "HTTP/2", "keepalive_requests 7; location / { proxy_pass "+backend.URL+"; }"), backend.twice
}

// hypercornApp executes each request, and closes the connection for one in seven.
const hypercornApp = `
n = 0
async def app(scope, receive, send):
    global n
    if scope['type'] != 'http':
        return
    while (await receive()).get('more_body'):
        pass
    with open('executed', 'a') as f:
        f.write(scope['method'] + scope['path'] + '\n')
    n += 1
    if n % 7 == 3:
        raise RuntimeError('no response')
    await send({'type': 'http.response.start', 'status': 200, 'headers': [(b'content-length', b'4')]})
    await send({'type': 'http.response.body', 'body': b'done'})
`

func hypercorn(t *testing.T) (string, func() int) {
	path, dir, address := program(t, "hypercorn"), t.TempDir(), freeAddress(t)
	executed := filepath.Join(dir, "executed")
	require.NoError(t, os.WriteFile(executed, nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.py"), []byte(hypercornApp), 0o600))
	settings := filepath.Join(dir, "hypercorn.toml")
	require.NoError(t, os.WriteFile(settings, []byte("keep_alive_max_requests = 20\nloglevel = \"CRITICAL\"\n"), 0o600))
	serve(t, address, "sh", "-c", `cd "$1" && exec "$0" -c hypercorn.toml -b "$2" app:app`, path, dir, address)
	return address, func() int { return twiceIn(t, executed) }
}

var faultyServers = []worn{
	{"nginx, keepalive_requests 7", "HTTP/2", nginxWorn(7)},
	{"nginx, backend drops", "HTTP/2", nginxDrops},
	{"HAProxy, backend drops", "HTTP/1.1", haproxyDrops("HTTP/1.1")},
	{"HAProxy, backend drops", "HTTP/2", haproxyDrops("HTTP/2")},
	{"node, faults", "HTTP/2", func(t *testing.T) (string, func() int) {
		address, executed := node(t)
		return address, func() int { return twiceIn(t, executed) }
	}},
	{"hypercorn, faults", "HTTP/2", hypercorn},
	{"hypercorn, faults", "HTTP/1.1", hypercorn},
}

// quicFaults is what a faulty HTTP/3 server does, over and over.
var quicFaults = [...]quicFault{3: rejects, 7: aborts, 11: rejects, 19: closes}

// TestMany: over servers with faults, nothing is executed twice that must not be, and each
// request that leaves is an attempt or counted as a resend. HAProxy refuses a stream even if its
// backend executed the request and then closed the connection.
func TestMany(t *testing.T) {
	for _, k := range []kind{post, postEmpty, get, put} {
		for _, server := range faultyServers {
			t.Run(server.name+"/"+server.protocol+"/"+k.name, func(t *testing.T) {
				for _, c := range clients {
					if !c.resends {
						continue
					}
					address, twice := server.start(t)
					counted, o := newCounter(t, server.protocol, address), tally{}
					o.send(t, c.make(counted.transport(t), o.policy(3)), counted.url, k, *manyRequests)
					o.check(t, c.name, k, twice(), counted.headers.Load())
				}
			})
		}
		t.Run("quic-go, faults/HTTP/3/"+k.name, func(t *testing.T) {
			var o tally
			s := newQUICServer(t, func(n int64) quicFault { return quicFaults[n%int64(len(quicFaults))] })
			rt := &retryhttp.Transport{Base: s.base, Policy: o.policy(3)}
			o.send(t, rt, s.url, k, *manyRequests)
			o.check(t, "Transport", k, s.twice(), s.requests.Load())
		})
	}
}

// TestManyPage: the number of POSTs on the page is that of the command beside it.
func TestManyPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/not-twice.md")
	require.NoError(t, err)
	said := regexp.MustCompile(`Of ([0-9,]+) POSTs, with and without a body, .*-run TestMany ./http -many.requests ([0-9]+)`).FindStringSubmatch(string(page))
	require.NotNil(t, said)
	runs := 1 // that over HTTP/3
	for _, c := range clients {
		if c.resends {
			runs += len(faultyServers)
		}
	}
	each, err := strconv.Atoi(said[2])
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(said[1], ",", ""), strconv.Itoa(2*runs*each))
}
