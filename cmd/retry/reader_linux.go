package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// readByCommand reports whether standard output is a pipe that another command reads, as in
// retry … | psql. Two other readers of a pipe are no commands that act on the output: a process
// that retry descends from, such as the runner of a CI job, and whatever gets standard error
// through the same pipe, which is a log (2>&1 | tee). What cannot be seen, such as a reader of
// another user, does not count.
func readByCommand() bool {
	pipe, err := os.Readlink("/proc/self/fd/1")
	if err != nil {
		return false
	}
	errors, _ := os.Readlink("/proc/self/fd/2")
	if pipe == errors {
		return false
	}
	ancestors := map[int]bool{os.Getpid(): true}
	for pid := os.Getppid(); pid > 0 && !ancestors[pid]; {
		ancestors[pid] = true
		m, _ := readMember(pid)
		pid = m.parent
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*/fd")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if !ancestors[pid] && reads(dir, pipe) {
			return true
		}
	}
	return false
}

// reads reports whether one of the open files in a folder of /proc is the pipe, open for
// reading.
func reads(dir, pipe string) bool {
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, file := range files {
		name := fmt.Sprintf("%s/%s", dir, file.Name())
		target, err := os.Readlink(name)
		if err != nil || target != pipe {
			continue
		}
		info, err := os.Lstat(name)
		if err == nil && info.Mode()&0o400 != 0 {
			return true
		}
	}
	return false
}
