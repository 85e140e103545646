package retryaws_test

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// motoVariable names the path of moto_server, from the Python package moto. If it is not set,
// PATH is searched.
const motoVariable = "MOTO_SERVER"

var moto program

func TestMain(m *testing.M) {
	code := m.Run()
	moto.stop()
	os.Exit(code)
}

func onEveryBackend(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("stand-in", func(t *testing.T) {
		t.Log("the server is a fake")
		server := httptest.NewServer(newStandIn())
		defer server.Close()
		test(t, server.URL)
	})
	onMoto(t, test)
}

func onMoto(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("moto_server", func(t *testing.T) {
		path, err := exec.LookPath(cmp.Or(os.Getenv(motoVariable), "moto_server"))
		if err != nil && os.Getenv(motoVariable) == "" {
			t.Skipf("only the fake server was used: %v; set %s", err, motoVariable)
		}
		require.NoError(t, err)
		url, err := moto.start(path)
		require.NoError(t, err)
		t.Logf("the server is %s at %s", path, url)
		test(t, url)
	})
}

type program struct {
	once sync.Once
	cmd  *exec.Cmd
	life io.Closer // closing it ends the program
	url  string
	err  error
}

// untilClosed runs a program until its standard input is closed. The system closes it when
// the test process ends.
const untilClosed = `exec 3<&0; "$0" "$@" </dev/null 3<&- & server=$!
	{ cat <&3; kill $server; } >/dev/null 2>&1 &
	wait $server`

func (p *program) start(path string) (string, error) {
	p.once.Do(func() {
		p.cmd = exec.Command("sh", "-c", untilClosed, path, "-H", "127.0.0.1", "-p", "0")
		stderr, err := p.cmd.StderrPipe()
		if err == nil {
			p.life, err = p.cmd.StdinPipe()
		}
		if err == nil {
			err = p.cmd.Start()
		}
		if p.err = err; err == nil {
			p.url, p.err = p.ready(stderr)
		}
	})
	return p.url, p.err
}

var runningOn = regexp.MustCompile(`Running on (http://127\.0\.0\.1:\d+)`)

func (p *program) ready(stderr io.Reader) (string, error) {
	tooLate := time.AfterFunc(time.Minute, p.kill)
	defer tooLate.Stop()
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if found := runningOn.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // the server logs every request
			return found[1], nil
		}
		fmt.Fprintln(&said, lines.Text())
	}
	return "", fmt.Errorf("the server did not start listening: %s", said.String())
}

func (p *program) kill() { _ = p.life.Close() }

func (p *program) stop() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	p.kill()
	_ = p.cmd.Wait()
}
