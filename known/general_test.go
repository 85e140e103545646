package known

import (
	"errors"
	"fmt"
	"io"
	"strings"
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
		"please set the timeout with a number":                         retry.ClassUnknown,
		"please provide the correct one":                               retry.ClassPermanent,
		"the client has been stopped":                                  retry.ClassPermanent,
		"the server has been stopped":                                  retry.ClassUnknown,
		"empty file name":                                              retry.ClassPermanent,
		"queue is empty":                                               retry.ClassUnknown,
		"content length mismatch":                                      retry.ClassUnknown,
		"writes are disabled during failover":                          retry.ClassUnknown,
		"header not found":                                             retry.ClassUnknown,
		"no more pages":                                                retry.ClassPermanent,
		"server closed the connection: too many requests, retry later": retry.ClassThrottled,
		"replica lag is larger than allowed":                           retry.ClassUnknown,
		"query took too long":                                          retry.ClassUnknown,
		"operation is not permitted during failover":                   retry.ClassUnknown,
		"free disk space too low":                                      retry.ClassUnknown,
		"at least one quorum member must be up":                        retry.ClassUnknown,
		"writes are disabled":                                          retry.ClassUnknown,
		"malformed chunked encoding":                                   retry.ClassUnknown,
		"sha256 mismatch":                                              retry.ClassUnknown,
		"lockfile already exists":                                      retry.ClassUnknown,
		"no such service":                                              retry.ClassUnknown,
		"unknown member id":                                            retry.ClassUnknown,
		"INVALID_SESSION":                                              retry.ClassUnknown,
		"operation not permitted":                                      retry.ClassPermanent,
	} {
		cases = append(cases, errorCase{text, errors.New(text), class})
	}
	check(t, append(cases,
		errorCase{"type", parseError{"line 1"}, retry.ClassPermanent},
		errorCase{"type of something missing", flagNotFoundError{}, retry.ClassPermanent},
		errorCase{"type of something that comes back", nodeNotFoundError{}, retry.ClassUnknown},
		errorCase{"type, passing state", parseError{"connection lost"}, retry.ClassUnknown},
		errorCase{"detail", fmt.Errorf("%w: user 'x' not found", errors.New("request failed")), retry.ClassPermanent},
		errorCase{"detail, passing state", fmt.Errorf("%w: replica not found yet", errors.New("request failed")), retry.ClassUnknown},
		errorCase{"context", fmt.Errorf("user not found: %w", errors.New("request failed")), retry.ClassUnknown},
		errorCase{"wrapper", decodeError{errors.New("x")}, retry.ClassPermanent},
		errorCase{"wrapper of a transport's error", decodeError{io.ErrUnexpectedEOF}, retry.ClassTransient},
		errorCase{"wrapper, passing state", decodeError{errors.New("leader not ready")}, retry.ClassUnknown},
	))
}

// TestUnclear: after an error that says so, the operation may have taken effect.
func TestUnclear(t *testing.T) {
	for _, err := range []error{
		errors.New("transaction was not confirmed and may still be confirmed later"),
		errors.New("FoundationDB error code 1021 (Transaction may or may not have committed)"),
		errors.New("result is ambiguous (error=connection reset)"),
		errors.New(strings.Repeat("INSERT ", 300) + ": it might have been applied"),
		fmt.Errorf("commit: %w", &fields{Status: 500, text: "CommitStateUnknownException: no"}),
		errors.Join(errors.New("other"), &fields{Status: 504, text: "Commit failed due to unknown reason"}),
	} {
		assert.True(t, Classifier{}.Classify(err).Unrepeatable, err)
		assert.Equal(t, retry.ClassTransient, retry.Policy{Classifier: Classifier{}}.Classify(err).Class, err)
	}
	for _, text := range []string{"OCSP status unknown", "ambiguous column name", "container state is unknown"} {
		assert.False(t, Classifier{}.Classify(errors.New(text)).Unrepeatable, text)
	}
}

// TestLongText: the cause at the end of a text counts, however much precedes it.
func TestLongText(t *testing.T) {
	long := "cannot decode " + strings.Repeat("a long item ", 50)
	assert.Equal(t, retry.ClassUnknown, Classifier{}.Classify(errors.New(long+": i/o timeout")).Class)
	assert.Equal(t, retry.ClassPermanent, Classifier{}.Classify(errors.New(long)).Class)
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
