#!/bin/sh
# newest.sh: makes go.mod require the newest releases of the SDK's modules, and prints that of the core.
set -eu
sdk=github.com/aws/aws-sdk-go-v2
go get $sdk@latest $sdk/service/dynamodb@latest $sdk/service/dynamodbstreams@latest $sdk/service/s3@latest $sdk/service/sqs@latest $sdk/service/sts@latest
go mod tidy
echo "aws-sdk-go-v2 $(go list -m -f '{{.Version}}' $sdk | sed 's/^v//')"
