package main

import (
	"errors"
	"io"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
)

func TestCodeOf(t *testing.T) {
	assert.Equal(t, "408 Request Timeout", codeOf("aws-java-v1", awsQuery, 408))
	assert.Empty(t, codeOf("aws-java-v1", awsJSON, 408))
	assert.Empty(t, codeOf("aws-java-v2-legacy", awsQuery, 408))
}

func TestUnsentOf(t *testing.T) {
	failed := &url.Error{Op: "Post", URL: "/", Err: io.EOF}
	class := func(err error) retry.Class { return awspreset.GoV2Standard20.Policy("").Classifier.Classify(err).Class }
	assert.Equal(t, retry.ClassPermanent, class(failed))
	assert.Equal(t, retry.ClassTransient, class(sendErrorOf("aws-go-v2-standard-2.0", failed)))
	assert.ErrorIs(t, sendErrorOf("aws-go-v2-standard-2.0", failed), io.EOF)
	for _, err := range []error{failed, io.ErrUnexpectedEOF, errors.New("other")} {
		assert.Equal(t, err, sendErrorOf("aws-js-v2", err))
	}
	assert.Equal(t, io.ErrUnexpectedEOF, sendErrorOf("aws-go-v2-standard-2.0", io.ErrUnexpectedEOF))
}
