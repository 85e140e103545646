package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"time"
)

// written notices that an attempt writes to standard output, if that is a file or a pipe: its
// reader gets the output of each attempt, one after the other.
type written struct {
	file  *os.File // regular; nil: not
	at    int64    // size of file at the last look
	watch *pipeWatch
}

func newWritten(stdout *os.File) *written {
	w := &written{}
	info, err := stdout.Stat()
	switch {
	case err != nil:
	case info.Mode().IsRegular():
		w.file = stdout
		w.more()
	case info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0:
		w.watch = watchWrites()
	}
	return w
}

// more reports whether there is more output than at the last call.
func (w *written) more() bool {
	if w.file == nil {
		return w.watch.happened()
	}
	info, err := w.file.Stat()
	if err != nil {
		return false
	}
	before := w.at
	w.at = info.Size()
	return w.at > before
}

// tailSize is the number of bytes at the end of a stream that are searched.
const tailSize = 64 << 10

// lingering is the time to wait for output from processes that the command left running.
// The command's own output is complete when the command ends.
const lingering = time.Second

type tail struct{ data []byte }

func (t *tail) add(p []byte) {
	if t.data = append(t.data, p...); len(t.data) > 2*tailSize {
		t.data = append(t.data[:0], t.bytes()...)
	}
}

func (t *tail) bytes() []byte { return t.data[max(0, len(t.data)-tailSize):] }

// matches also finds a pattern that ends in $ before a line end of \r\n.
func (t *tail) matches(pattern *regexp.Regexp) bool {
	data := t.bytes()
	return pattern.Match(data) || pattern.Match(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
}

type streams struct {
	stdout, stderr *os.File // the command's ends
	readers        []*os.File
	copiers        sync.WaitGroup
	stdoutTo       *os.File // where standard output is written

	mu     sync.Mutex
	keep   bool  // keep output until flush
	kept   spool // records of stream number, length and bytes
	tails  [2]tail
	lost   error // why output is no longer kept
	broken error // why output cannot be written
}

// openStreams passes the standard files on, or uses pipes if output is searched or kept.
func openStreams(search, keep bool) (*streams, error) {
	s := &streams{stdout: os.Stdout, stderr: os.Stderr, stdoutTo: os.Stdout, keep: keep}
	if !search && !keep {
		return s, nil
	}
	for i, end := range []**os.File{&s.stdout, &s.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			s.started()
			return nil, err
		}
		*end = w
		s.readers = append(s.readers, r)
		s.copiers.Go(func() { s.copy(i, r) })
	}
	return s, nil
}

// started closes the command's ends of the pipes.
func (s *streams) started() {
	for _, f := range []*os.File{s.stdout, s.stderr} {
		if f != os.Stdout && f != os.Stderr {
			f.Close()
		}
	}
}

func (s *streams) finish() {
	for _, r := range s.readers {
		_ = r.SetReadDeadline(time.Now().Add(lingering)) // not supported on Windows, where reading stops only at the end of the pipe
	}
	s.copiers.Wait()
}

func (s *streams) copy(stream int, r *os.File) {
	defer r.Close()
	buf := make([]byte, chunkSize)
	for {
		n, err := r.Read(buf)
		if n > 0 && !s.accept(stream, buf[:n]) {
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.drain(stream, r, buf)
		}
		if err != nil {
			return
		}
	}
}

// drain reads only what is already in the pipe, because its other end may still be open.
func (s *streams) drain(stream int, r *os.File, buf []byte) {
	const largestPipe = 1 << 20 // Linux's limit without privileges
	for range largestPipe / chunkSize {
		if n := readWaiting(r, buf); n <= 0 || !s.accept(stream, buf[:n]) {
			return
		}
	}
}

// accept keeps or writes p, and reports whether to continue reading.
func (s *streams) accept(stream int, p []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tails[stream].add(p)
	if s.keep {
		record := binary.AppendUvarint([]byte{byte(stream)}, uint64(len(p)))
		if _, s.lost = s.kept.Write(append(record, p...)); s.lost == nil {
			return true
		}
		s.flushLocked()
	}
	s.write(stream, p)
	return s.broken == nil
}

func (s *streams) write(stream int, p []byte) {
	if s.broken == nil {
		_, s.broken = [...]*os.File{s.stdoutTo, os.Stderr}[stream].Write(p)
	}
}

func (s *streams) discard() { s.kept.Close() }

// flush writes the kept output in the order in which it was read.
func (s *streams) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushLocked()
	return s.broken
}

func (s *streams) flushLocked() {
	s.keep = false
	var at int64
	buf := make([]byte, binary.MaxVarintLen64+chunkSize+1)
	for at < s.kept.size && s.broken == nil {
		n, err := s.kept.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			s.broken = err
			break
		}
		length, digits := binary.Uvarint(buf[1:n])
		end := 1 + digits + int(length)
		s.write(int(buf[0]), buf[1+digits:end])
		at += int64(end)
	}
	s.kept.Close()
}

// unrepeatable returns why the output prevents a retry, or "".
func (s *streams) unrepeatable() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.broken != nil:
		return fmt.Sprintf("cannot write its output: %v", s.broken)
	case unread(os.Stdout):
		return "its output has no reader"
	case s.lost != nil:
		return fmt.Sprintf("cannot keep its output: %v", s.lost)
	}
	return ""
}
