// Command k8s is the program hello with one call to Kubernetes' package wait.
package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

func main() {
	backoff := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 3}
	err := wait.ExponentialBackoffWithContext(context.Background(), backoff, func(context.Context) (bool, error) {
		_, err := fmt.Println("hello, world")
		return err == nil, nil
	})
	if err != nil {
		fmt.Println(err)
	}
}
