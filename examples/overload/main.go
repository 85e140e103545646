//go:build !js

// Overload starts a process with two servers, one of them behind an admission gate, and
// calls both for 30 seconds. Both stall for two seconds. Each second, it prints the share
// of the calls that succeed.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

const length = 30 * time.Second

func main() {
	run := clients
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		run = servers
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "overload:", err)
		os.Exit(1)
	}
}

// servers prints the addresses of two servers. It serves until its input ends.
func servers() error {
	var addresses []string
	for _, gated := range []bool{false, true} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		addresses = append(addresses, listener.Addr().String())
		go http.Serve(listener, newHandler(gated))
	}
	fmt.Println(strings.Join(addresses, " "))
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// clients starts the servers in a process of their own and calls them.
func clients() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	server := exec.Command(program, "serve")
	server.Stderr = os.Stderr
	input, err := server.StdinPipe() // the server ends when this process does
	if err != nil {
		return err
	}
	output, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the server does not start: %w", err)
	}
	addresses := strings.Fields(line)
	dial := new(net.Dialer).DialContext
	watch(context.Background(), os.Stdout, [2]*crowd{newCrowd(dial, addresses[0]), newCrowd(dial, addresses[1])})
	if err := input.Close(); err != nil {
		return err
	}
	return server.Wait()
}
