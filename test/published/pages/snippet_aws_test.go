package pages

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/retryaws"
)

var _ = likeAnSDK

func likeAnSDK(cfg aws.Config) *s3.Client {
	var policy = awspreset.Standard21.Policy("s3") // keep it: all calls share its quota

	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, retryaws.WithPolicy(policy, retryaws.Safely()))
	})
	return client
}
