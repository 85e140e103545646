package main

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/gobackoff/retry"
)

// Exit statuses that are not the command's own, as used by timeout(1) and shells.
const (
	exitUnmet         = 1 // a condition is not met, although the command's status is 0
	exitTimeout       = 124
	exitFailure       = 125 // of retry itself
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignal        = 128 // plus the signal number
	exitInterrupted   = exitSignal + int(syscall.SIGINT)
)

// An outcome is the result of an attempt and, if the attempt failed, its error.
type outcome struct {
	number  int // from 1
	started time.Time
	took    time.Duration

	exit        int            // -1 after a signal
	signal      syscall.Signal // the signal that ended the command; 0: none
	limit       string         // the time limit that ended the command, or ""
	failure     error          // why the command could not be started
	temporary   bool
	interrupted bool   // Ctrl-C was pressed while the command had the terminal
	ended       bool   // retry must end, whatever the outcome
	last        string // why there can be no retry, or ""
	broken      error  // why output could not be written
	survivors   []int  // processes that could not be ended
	met         bool   // the command has done what it is run for
	unmet       string // what else is needed, or ""

	stdout, stderr tail
}

func (o *outcome) succeeded() bool {
	return o.met && o.limit == "" && o.failure == nil && o.broken == nil
}

// code returns the exit status of the command as shells report it.
func (o *outcome) code() int {
	if o.signal != 0 {
		return exitSignal + int(o.signal)
	}
	return o.exit
}

func (o *outcome) status() int {
	switch {
	case o.limit != "":
		return exitTimeout
	case o.broken != nil && o.exit == 0:
		return exitFailure
	case o.unmet != "" && o.exit == 0:
		return exitUnmet
	}
	return o.code()
}

func (o *outcome) Error() string {
	var text string
	switch {
	case o.limit != "":
		text = "ended by the " + o.limit
	case o.failure != nil:
		text = retry.Text(o.failure) // which leaves out secrets in the URL of a target
	case o.signal != 0:
		text = fmt.Sprintf("signal %d (%s)", int(o.signal), signalName(o.signal))
	case o.unmet != "":
		text = o.unmet
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
	return "processes left: could not end " + strings.Trim(fmt.Sprint(pids), "[]")
}
