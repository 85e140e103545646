// Command aws is the program hello with one call to the AWS SDK's retry middleware.
package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
)

func main() {
	attempt := retry.NewAttemptMiddleware(retry.NewStandard(), func(request any) any { return request })
	_, _, err := attempt.HandleFinalize(context.Background(), middleware.FinalizeInput{},
		middleware.FinalizeHandlerFunc(func(context.Context, middleware.FinalizeInput) (out middleware.FinalizeOutput, _ middleware.Metadata, err error) {
			_, err = fmt.Println("hello, world")
			return out, middleware.Metadata{}, err
		}))
	if err != nil {
		fmt.Println(err)
	}
}
