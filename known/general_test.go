package known

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

type parseError struct{ text string }

func (e parseError) Error() string { return e.text }

type decodeError struct{ err error }

func (e decodeError) Error() string { return "cannot decode: " + e.err.Error() }
func (e decodeError) Unwrap() error { return e.err }

func TestGeneral(t *testing.T) {
	var cases []errorCase
	for text, class := range map[string]retry.Class{
		"yaml: line 2: mapping values are not allowed in this context": retry.ClassPermanent,
		"yaml: input error: connection reset by peer":                  retry.ClassUnknown,
		"lz4: invalid block checksum":                                  retry.ClassUnknown,
		"template: page:1: function \"x\" not defined":                 retry.ClassPermanent,
		"client: primary key required":                                 retry.ClassPermanent,
		"client: proxy reload required":                                retry.ClassUnknown,
		"invalid auth method":                                          retry.ClassPermanent,
		"invalid session":                                              retry.ClassUnknown,
		"unknown field \"x\"":                                          retry.ClassPermanent,
		"unknown error":                                                retry.ClassUnknown,
		"bad user name or password":                                    retry.ClassPermanent,
		"bad gateway":                                                  retry.ClassTransient,
		"revision mismatch":                                            retry.ClassUnknown,
		"schema mismatch":                                              retry.ClassPermanent,
		"server does not support STARTTLS":                             retry.ClassPermanent,
		"server does not support that yet":                             retry.ClassUnknown,
		"replica count must not be negative":                           retry.ClassPermanent,
		"connection must be open":                                      retry.ClassUnknown,
		"invalid value for node name":                                  retry.ClassPermanent,
		"invalid master address":                                       retry.ClassUnknown,
		"no API version specified":                                     retry.ClassPermanent,
		"cannot reach the hosts that were specified first":             retry.ClassUnknown,
		"x: the client has already been closed":                        retry.ClassPermanent,
		"x: the subscription has been closed":                          retry.ClassUnknown,
		"cookie not found":                                             retry.ClassPermanent,
		"cannot find a coordinator":                                    retry.ClassUnknown,
		"no alive address":                                             retry.ClassUnknown,
		"empty file name":                                              retry.ClassPermanent,
		"queue is empty":                                               retry.ClassUnknown,
		"content length mismatch":                                      retry.ClassUnknown,
		"writes are disabled during failover":                          retry.ClassUnknown,
		"header not found":                                             retry.ClassUnknown,
		"no more pages":                                                retry.ClassPermanent,
		"server closed the connection: too many requests, retry later": retry.ClassThrottled,
	} {
		cases = append(cases, errorCase{text, errors.New(text), class})
	}
	check(t, append(cases,
		errorCase{"type", parseError{"line 1"}, retry.ClassPermanent},
		errorCase{"type of something missing", flagNotFoundError{}, retry.ClassPermanent},
		errorCase{"type of something that comes back", nodeNotFoundError{}, retry.ClassUnknown},
		errorCase{"type, passing state", parseError{"connection lost"}, retry.ClassUnknown},
		errorCase{"wrapper", decodeError{errors.New("x")}, retry.ClassPermanent},
		errorCase{"wrapper of a transport's error", decodeError{io.ErrUnexpectedEOF}, retry.ClassTransient},
		errorCase{"wrapper, passing state", decodeError{errors.New("leader not ready")}, retry.ClassUnknown},
	))
}

// TestGeneralInTrees: a branch that a retry may fix prevents a rule by words.
func TestGeneralInTrees(t *testing.T) {
	invalid := errors.New("invalid auth method")
	for _, other := range []error{errors.New("server busy"), io.EOF} {
		err := errors.Join(other, fmt.Errorf("read: %w", invalid))
		assert.NotEqual(t, retry.ClassPermanent, Classifier{}.Classify(err).Class)
	}
}

type flagNotFoundError struct{}

func (flagNotFoundError) Error() string { return "no" }

type nodeNotFoundError struct{}

func (nodeNotFoundError) Error() string { return "no" }
