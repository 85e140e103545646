package main

import (
	"io"
	"os"
)

const spoolMemory = 1 << 20

// spool keeps up to spoolMemory bytes in memory, and moves them to a temporary file when
// there are more. A failed Write loses no earlier data.
type spool struct {
	memory []byte
	file   *os.File // if not nil, contains all data
	size   int64
}

// Write appends all of p or nothing.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil {
		if len(s.memory)+len(p) <= spoolMemory {
			s.memory = append(s.memory, p...)
			s.size += int64(len(p))
			return len(p), nil
		}
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	if _, err := s.file.WriteAt(p, s.size); err != nil {
		return 0, err
	}
	s.size += int64(len(p))
	return len(p), nil
}

func (s *spool) spill() error {
	file, err := os.CreateTemp("", "retry-")
	if err != nil {
		return err
	}
	s.file = file
	_ = os.Remove(file.Name()) // fails on Windows until Close
	if _, err := file.WriteAt(s.memory, 0); err != nil {
		memory := s.memory
		s.Close()
		s.memory, s.size = memory, int64(len(memory))
		return err
	}
	s.memory = nil
	return nil
}

func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	if off >= s.size {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), s.size-off)]
	if s.file == nil {
		return copy(p, s.memory[off:]), nil
	}
	return s.file.ReadAt(p, off)
}

// Close empties the spool and removes its file.
func (s *spool) Close() {
	if s.file != nil {
		s.file.Close()
		_ = os.Remove(s.file.Name()) // already removed, except on Windows
	}
	*s = spool{}
}
