package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

const chunkSize = 64 << 10

// input is the standard input of all attempts. A regular file is reread from its initial
// position; a device is passed on. In mode auto, so is a pipe or socket; but there is no retry
// after an attempt that has read from it, because data would be missing. In mode replay,
// input reads from a pipe only as much as the attempts need, and keeps the data; so a command
// may read part of an endless input.
type input struct {
	file   *os.File
	seek   bool       // file is regular
	offset int64      // initial position
	replay bool       // file is a pipe or socket
	watch  *pipeWatch // of a pipe that is not replayed, or nil
	blind  bool       // watch is nil because reads from the pipe cannot be seen

	mu      sync.Mutex
	changed sync.Cond
	buffer  []byte // used by the reading goroutine
	reading bool   // a goroutine is reading
	kept    spool
	rest    []byte // read, but not kept
	ended   bool
	lost    error // why input was not kept
}

func newInput(file *os.File, mode string, attempts int) (*input, error) {
	in := &input{file: file}
	in.changed.L = &in.mu
	if mode == "none" {
		null, err := os.Open(os.DevNull)
		in.file = null
		return in, err
	}
	info, err := file.Stat()
	if mode == "pass" || attempts == 1 || err != nil {
		return in, nil
	}
	switch {
	case info.Mode().IsRegular():
		offset, err := file.Seek(0, io.SeekCurrent)
		in.seek, in.offset = err == nil, offset
	case info.Mode()&os.ModeDevice != 0:
	case mode == "replay":
		in.replay = true
	default:
		in.watch = watchReads()
		in.blind = in.watch == nil
	}
	return in, nil
}

// open returns the standard input of an attempt, and the feed to close after the
// attempt. The feed may be nil.
func (in *input) open() (*os.File, *feed, error) {
	if in.seek {
		if _, err := in.file.Seek(in.offset, io.SeekStart); err != nil {
			return nil, nil, err
		}
	}
	if !in.replay {
		return in.file, nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	f := &feed{in: in, pipe: w}
	go f.run()
	return r, f, nil
}

func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.kept.Close()
}

// unrepeatable returns why the input cannot be replayed, or "".
func (in *input) unrepeatable() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.watch.happened() {
		return "it has read piped input; see --stdin replay"
	}
	if in.lost == nil {
		return ""
	}
	return fmt.Sprintf("standard input cannot be replayed: %v", in.lost)
}

// A feed writes the input to an attempt's pipe.
type feed struct {
	in     *input
	pipe   *os.File
	at     int64
	closed bool // guarded by in.mu
}

func (f *feed) run() {
	defer f.pipe.Close()
	buf := make([]byte, chunkSize)
	for {
		n := f.next(buf)
		if n == 0 {
			return
		}
		if _, err := f.pipe.Write(buf[:n]); err != nil {
			return // the command has stopped reading
		}
	}
}

// started closes the command's end of the pipe.
func (f *feed) started(stdin *os.File) {
	if f != nil {
		stdin.Close()
	}
}

func (f *feed) close() {
	if f == nil {
		return
	}
	f.in.mu.Lock()
	f.closed = true
	f.in.changed.Broadcast()
	f.in.mu.Unlock()
	f.pipe.Close()
}

// next reads input into buf and returns the number of bytes, or 0 at the end of the input.
func (f *feed) next(buf []byte) int {
	in := f.in
	in.mu.Lock()
	defer in.mu.Unlock()
	for !f.closed {
		if f.at < in.kept.size {
			n, err := in.kept.ReadAt(buf, f.at)
			f.at += int64(n)
			if err != nil && n == 0 {
				in.lost = err
			}
			return n
		}
		if len(in.rest) > 0 {
			n := copy(buf, in.rest)
			in.rest = in.rest[n:]
			return n
		}
		if in.ended {
			return 0
		}
		if !in.reading {
			in.reading = true
			go in.read()
		}
		in.changed.Wait()
	}
	return 0
}

// read reads once from the file. It may still block after the attempt has ended.
func (in *input) read() {
	if in.buffer == nil {
		in.buffer = make([]byte, chunkSize)
	}
	n, err := in.file.Read(in.buffer)
	in.mu.Lock()
	defer in.mu.Unlock()
	data := in.buffer[:n]
	if n > 0 && in.lost == nil {
		if _, in.lost = in.kept.Write(data); in.lost == nil {
			data = nil
		}
	}
	in.rest = data
	if err != nil {
		in.ended = true
		if !errors.Is(err, io.EOF) && in.lost == nil {
			in.lost = err
		}
	}
	in.reading = false
	in.changed.Broadcast()
}
