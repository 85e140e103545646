package timeout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait" // want "0 of 1 calls can be rewritten"
)

func poll() bool {
	err := wait.PollImmediate(time.Second, time.Minute, func() (bool, error) { return true, nil }) // want "wait\\.PollImmediate: left alone: the package compares its errors: wait\\.ErrWaitTimeout"
	return err == wait.ErrWaitTimeout
}
