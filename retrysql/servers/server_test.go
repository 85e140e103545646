//go:build unix

package servers_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program is a server in a separate process that listens on a free port of 127.0.0.1
// and has its data in a temporary directory. All tests of a run share it.
type program struct {
	name   string
	signal string // stops it
	// setUp initializes dir and returns the command that starts the server.
	setUp func(dir string, port int) (command []string, err error)
	ready func(ctx context.Context, addr string) error
	asUID string // name of the user to run as if the tests run as root; empty means root

	once    sync.Once
	err     error
	missing bool // not installed
	addr    string
	dir     string
	command []string
	life    io.WriteCloser
	exited  chan error
}

var programs = []*program{postgres, mariadb, redisServer}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, p := range programs {
		if p.life != nil {
			_ = p.stop(p.signal)
		}
		if p.dir != "" {
			_ = os.RemoveAll(p.dir)
		}
	}
	os.Exit(code)
}

// start starts the program unless it is running, and returns its address. It skips the
// test if the program is not installed.
func (p *program) start(t *testing.T) string {
	t.Helper()
	p.once.Do(func() { p.err = p.prepare() })
	if p.missing {
		t.Skipf("%s is not installed: %v", p.name, p.err)
	}
	require.NoError(t, p.err)
	return p.addr
}

func (p *program) prepare() (err error) {
	if p.dir, err = os.MkdirTemp("", "retrysql"); err != nil { // a short path: it contains a socket
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.addr = listener.Addr().String()
	_ = listener.Close()
	if id := p.credential(); id != nil {
		if err := os.Chown(p.dir, int(id.Uid), int(id.Gid)); err != nil {
			return err
		}
	}
	p.command, err = p.setUp(p.dir, listener.Addr().(*net.TCPAddr).Port)
	if err != nil {
		p.missing = errors.Is(err, exec.ErrNotFound)
		return err
	}
	return p.run()
}

// credential returns the user that the program runs as, or nil for that of the tests.
func (p *program) credential() *syscall.Credential {
	if os.Getuid() != 0 || p.asUID == "" {
		return nil
	}
	u, err := user.Lookup(p.asUID)
	if err != nil {
		return nil // the program itself will report the problem
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// as returns a command that runs as the user of the program, in its directory.
func (p *program) as(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential()}
	return cmd
}

// untilSignal runs a program until its standard input has a line with the name of a
// signal, or ends. The system closes the standard input however the test ends.
const untilSignal = `exec 3<&0; "$0" "$@" </dev/null 3<&- & server=$!
	{ read signal <&3; kill -${signal:-TERM} $server; } >/dev/null 2>&1 &
	wait $server`

// run starts the process and waits until it is ready.
func (p *program) run() error {
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := p.as("/bin/sh", append([]string{"-c", untilSignal}, p.command...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if p.life, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan error, 1)
	p.exited = exited
	go func() { exited <- cmd.Wait() }()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-exited:
			output, _ := os.ReadFile(log.Name())
			return fmt.Errorf("%s: %w\n%s", p.name, err, output)
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err = p.ready(ctx, p.addr)
		cancel()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s is not ready: %w", p.name, err)
}

// stop ends the process with a signal and waits until it has exited.
func (p *program) stop(signal string) error {
	_, _ = io.WriteString(p.life, signal+"\n")
	_ = p.life.Close()
	select {
	case <-p.exited: // with an error, because of the signal
		return nil
	case <-time.After(30 * time.Second):
		return fmt.Errorf("%s does not exit", p.name)
	}
}

// find returns the path of a program in PATH or else in one of the places, which may be
// patterns. If several directories match a place, the last one is used.
func find(name string, places ...string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, place := range places {
		found, _ := filepath.Glob(filepath.Join(place, name))
		if len(found) > 0 {
			return slices.Max(found), nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

// quietly runs a command. If it fails, the error includes its output.
func quietly(cmd *exec.Cmd) error {
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmp.Or(cmd.Path, cmd.String()), err, output)
	}
	return nil
}
