package main

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Exit statuses that are not the command's own, as in timeout(1) and shells.
const (
	exitTimeout       = 124
	exitFailure       = 125 // of retry itself
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignal        = 128 // plus the number of the signal
	exitInterrupted   = exitSignal + int(syscall.SIGINT)
)

// outcome is the outcome of an attempt. As an error it is a failed attempt.
type outcome struct {
	number  int // of the attempt, from 1
	started time.Time
	took    time.Duration

	exit        int            // exit status; -1 after a signal
	signal      syscall.Signal // signal that ended the command; 0 if none
	limit       string         // the time limit that ended it; "" if none
	failure     error          // why it could not be started
	temporary   bool           // the failure is temporary
	interrupted bool           // Ctrl-C was pressed while the command had the terminal
	ended       bool           // retry must end, whatever the outcome
	last        string         // why the attempt cannot be repeated; "" if it can
	broken      error          // why its output could not be written
	survivors   []int          // processes that could not be ended

	stdout, stderr tail
}

func (o *outcome) succeeded() bool {
	return o.exit == 0 && o.limit == "" && o.failure == nil && o.broken == nil
}

// status returns the exit status of retry for the outcome.
func (o *outcome) status() int {
	switch {
	case o.limit != "":
		return exitTimeout
	case o.signal != 0:
		return exitSignal + int(o.signal)
	case o.broken != nil && o.exit == 0:
		return exitFailure
	}
	return o.exit
}

// Error describes the failure in a few words.
func (o *outcome) Error() string {
	var text string
	switch {
	case o.limit != "":
		text = "ended by the " + o.limit
	case o.failure != nil:
		text = o.failure.Error()
	case o.signal != 0:
		text = fmt.Sprintf("signal %d (%s)", int(o.signal), signalName(o.signal))
	default:
		text = fmt.Sprintf("exit %d", o.exit)
	}
	for _, more := range []string{o.last, survivorsText(o.survivors)} {
		if more != "" {
			text += "; " + more
		}
	}
	return text
}

func survivorsText(pids []int) string {
	if len(pids) == 0 {
		return ""
	}
	return "could not end " + strings.Trim(fmt.Sprint(pids), "[]")
}
