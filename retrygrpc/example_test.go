package retrygrpc_test

import (
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retrygrpc"
)

func ExampleDialOptions() {
	options := retrygrpc.DialOptions(retry.Policy{AttemptTimeout: 5 * time.Second, Budget: &retry.SharedBudget{}})
	options = append(options, grpc.WithDefaultCallOptions(grpc.WaitForReady(true))) // calls wait while the server restarts
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient("localhost:50051", options...)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	// Calls of clients that use conn are retried if their methods have an
	// idempotency_level, or if they could not be sent.
}

// All methods of the catalog may be executed twice, and one of the orders.
func ExampleClient() {
	client := retrygrpc.Client{
		Policy:     retry.Policy{AttemptTimeout: 5 * time.Second, Budget: &retry.SharedBudget{}},
		Repeatable: []string{"shop.Catalog", "shop.Orders/Get"}, // a service and a method that may run twice
	}
	options := client.DialOptions()
	options = append(options, grpc.WithDefaultCallOptions(grpc.WaitForReady(true))) // calls wait while the server restarts
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient("localhost:50051", options...)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
}

func ExampleServiceConfig() {
	policy := retry.Policy{
		Backoff:        retry.Spread{Of: retry.Exponential{Base: 100 * time.Millisecond, Cap: time.Second}, Fraction: 0.2},
		AttemptTimeout: time.Second,
		Hint:           retry.HintIgnore{},
	}
	config, lost, err := retrygrpc.ServiceConfig(policy, "shop.Orders/Get")
	if err != nil {
		panic(err)
	}
	fmt.Println(config)
	for _, l := range lost {
		fmt.Println(l)
	}
	// Output:
	// {"methodConfig":[{"name":[{"service":"shop.Orders","method":"Get"}],"retryPolicy":{"maxAttempts":3,"initialBackoff":"0.1s","maxBackoff":"0.2s","backoffMultiplier":2,"retryableStatusCodes":["UNKNOWN","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","ABORTED","INTERNAL","UNAVAILABLE"]}}]}
	// AttemptTimeout: gRPC has only the deadline of the call
}
