//go:build unix

// Package testserver starts installed servers for tests.
package testserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Program is a server process on a free port of 127.0.0.1, with its data in a
// temporary folder. All tests of a run share the process.
type Program struct {
	Name   string
	Signal string // stops the program
	// SetUp creates the server's data in dir and returns the command that starts the
	// server.
	SetUp func(p *Program, dir string, port int) (command []string, err error)
	Ready func(ctx context.Context, addr string) error
	AsUID string // the server's user when the tests run as root; "" means root

	// Optional: CI does not install the program.
	Optional bool

	once    sync.Once
	err     error
	missing bool // not installed
	addr    string
	dir     string
	command []string
	life    io.WriteCloser
	exited  chan error
}

// Postgres returns a Program for PostgreSQL, which refuses to run as root.
func Postgres(ready func(ctx context.Context, addr string) error) *Program {
	return &Program{
		Name:   "PostgreSQL",
		Signal: "INT", // fast shutdown
		AsUID:  "postgres",
		Ready:  ready,
		SetUp: func(p *Program, dir string, port int) ([]string, error) {
			const debian = "/usr/lib/postgresql/*/bin"
			initdb, err := Find("initdb", debian)
			if err != nil {
				return nil, err
			}
			server, err := Find("postgres", filepath.Dir(initdb), debian)
			if err != nil {
				return nil, err
			}
			data := filepath.Join(dir, "data")
			if err := Quietly(p.As(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")); err != nil {
				return nil, err
			}
			return []string{server, "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1",
				"-c", "fsync=off", "-c", "deadlock_timeout=20ms", "-c", "max_prepared_transactions=4"}, nil
		},
	}
}

// PostgresURL returns the URL of a database for clients of Postgres.
func PostgresURL(addr string) string {
	return "postgres://postgres@" + addr + "/postgres?sslmode=disable"
}

// Redis returns a Program for Redis, or for Valkey if Redis is not installed. The options are those
// of its command line.
func Redis(ready func(ctx context.Context, addr string) error, options ...string) *Program {
	return &Program{
		Name:   "Redis",
		Signal: "TERM",
		Ready:  ready,
		SetUp: func(_ *Program, dir string, port int) ([]string, error) {
			server, err := Find("redis-server")
			if err != nil {
				server, err = Find("valkey-server")
			}
			command := []string{server, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir, "--save", ""}
			return append(command, options...), err
		},
	}
}

// RabbitMQ returns a Program for RabbitMQ. The signal USR1 kills it.
func RabbitMQ(ready func(ctx context.Context, addr string) error) *Program {
	return &Program{
		Name:   "RabbitMQ",
		Signal: "TERM",
		Ready:  ready,
		SetUp: func(_ *Program, dir string, port int) ([]string, error) {
			server, err := Find("rabbitmq-server", "/usr/lib/rabbitmq/bin", "/usr/sbin")
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(server, "/usr/sbin") { // Debian's wrapper changes the user
				server = "/usr/lib/rabbitmq/bin/rabbitmq-server"
			}
			mapper, err := Find("epmd")
			if err != nil {
				return nil, err
			}
			advanced := filepath.Join(dir, "advanced.config")
			err = os.WriteFile(advanced, []byte(promptDeadLetters), 0o644)
			if err != nil {
				return nil, err
			}
			return []string{
				"/usr/bin/env", "HOME=" + dir, "RABBITMQ_NODENAME=retry" + strconv.Itoa(port) + "@localhost",
				"RABBITMQ_MNESIA_BASE=" + filepath.Join(dir, "data"), "RABBITMQ_LOG_BASE=" + dir, "RABBITMQ_LOGS=-",
				"RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(dir, "plugins"), "RABBITMQ_CONF_ENV_FILE=/dev/null",
				"RABBITMQ_ADVANCED_CONFIG_FILE=" + advanced,
				"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", "RABBITMQ_NODE_PORT=" + strconv.Itoa(port),
				"RABBITMQ_DIST_PORT=" + strconv.Itoa(port+1), "ERL_EPMD_PORT=" + strconv.Itoa(port+2), "ERL_EPMD_ADDRESS=127.0.0.1",
				"/bin/sh", "-c", withPortMapper, mapper, server,
			}, nil
		},
	}
}

// withPortMapper starts RabbitMQ with a port mapper of its own, which ends with it.
const withPortMapper = `"$0" -address 127.0.0.1 -port "$ERL_EPMD_PORT" & mapper=$!
	setsid "$1" & server=$!
	trap "kill -TERM $server" TERM
	trap "kill -KILL -$server" USR1
	wait $server; wait $server
	kill $mapper`

// promptDeadLetters makes RabbitMQ send an expired message again after five seconds instead of
// three minutes if the queue that it goes to has not confirmed it, because it was starting.
const promptDeadLetters = "[{rabbit, [{dead_letter_worker_publisher_confirm_timeout, 5000}]}].\n"

// Start starts the program if necessary and returns its address. If the program is not
// installed, Start skips the test. With CI=true, it fails the test unless the program is Optional.
func (p *Program) Start(t testing.TB) string {
	t.Helper()
	p.once.Do(func() { p.err = p.prepare() })
	if p.missing && (p.Optional || os.Getenv("CI") != "true") {
		t.Skipf("%s is not installed: %v", p.Name, p.err)
	}
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.addr
}

func (p *Program) prepare() (err error) {
	if p.dir, err = os.MkdirTemp("", "retry"); err != nil { // a short name, because the length of a socket's path is limited
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	p.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if id := p.credential(); id != nil {
		if err := os.Chown(p.dir, int(id.Uid), int(id.Gid)); err != nil {
			return err
		}
	}
	p.command, err = p.SetUp(p, p.dir, port)
	if err != nil {
		p.missing = errors.Is(err, exec.ErrNotFound)
		return err
	}
	return p.Run()
}

// freePort returns a port that the system does not give to clients, which could take it
// before the server starts, or while it restarts.
func freePort() (port int, err error) {
	for range 100 {
		port = 10_000 + rand.IntN(22_000)
		listener, listenErr := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err = listenErr; err == nil {
			return port, listener.Close()
		}
	}
	return 0, err
}

// credential returns the server's user; nil means the user of the tests.
func (p *Program) credential() *syscall.Credential {
	if os.Getuid() != 0 || p.AsUID == "" {
		return nil
	}
	u, err := user.Lookup(p.AsUID)
	if err != nil {
		return nil // the program itself will report what is missing
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// As returns a command that runs as the program's user, in the program's folder.
func (p *Program) As(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential()}
	return cmd
}

// untilSignal is a shell script that runs a program until the script's standard input names
// a signal or ends. The input ends even if the test is killed.
const untilSignal = `exec 3<&0; "$0" "$@" </dev/null 3<&- & server=$!
	{ read signal <&3; kill -${signal:-TERM} $server; } >/dev/null 2>&1 &
	wait $server`

// Run starts the process and waits until it is ready.
func (p *Program) Run() error {
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := p.As("/bin/sh", append([]string{"-c", untilSignal}, p.command...)...)
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
			return fmt.Errorf("%s: %w\n%s", p.Name, err, output)
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err = p.Ready(ctx, p.addr)
		cancel()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s is not ready: %w", p.Name, err)
}

// Stop ends the process with a signal.
func (p *Program) Stop(signal string) error {
	_, _ = io.WriteString(p.life, signal+"\n")
	_ = p.life.Close()
	select {
	case <-p.exited: // the error only reports the signal
		return nil
	case <-time.After(30 * time.Second):
		return fmt.Errorf("%s does not exit", p.Name)
	}
}

// Clean ends the process, if it was started, and removes its data.
func (p *Program) Clean() {
	if p.life != nil {
		_ = p.Stop(p.Signal)
	}
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

// Find returns the path of a program. It searches PATH and then each of the places, which
// are glob patterns for folders. If the first place with matches has several, Find returns
// the one that sorts last.
func Find(name string, places ...string) (string, error) {
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

// Quietly runs a command. If the command fails, the error includes its output.
func Quietly(cmd *exec.Cmd) error {
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd.Path, err, output)
	}
	return nil
}

// Answers returns a function for Ready: the server answers a GET of a path over HTTP, with any status.
func Answers(path string) func(ctx context.Context, addr string) error {
	return func(ctx context.Context, addr string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
}
