package retry_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

// An error with a method, as pgx has it.
type stateError string

func (e stateError) Error() string    { return "SQLSTATE " + string(e) }
func (e stateError) SQLState() string { return string(e) }

func TestCodes(t *testing.T) {
	never := retry.ClassifierFunc(func(error) retry.Verdict { return retry.Verdict{Class: retry.ClassPermanent} })
	for name, tt := range map[string]struct {
		codes retry.Codes
		err   error
		want  retry.Class
	}{
		"a status that is not retried":       {retry.Codes{}, statusedError(404), retry.ClassPermanent},
		"listed":                             {retry.Codes{Retry: []string{"450", "404"}}, statusedError(404), retry.ClassTransient},
		"within another error":               {retry.Codes{Retry: []string{"404"}}, fmt.Errorf("load: %w", statusedError(404)), retry.ClassTransient},
		"beside another error":               {retry.Codes{Retry: []string{"404"}}, errors.Join(errOp, statusedError(404)), retry.ClassTransient},
		"of a hundred":                       {retry.Codes{Retry: []string{"4xx"}}, statusedError(404), retry.ClassTransient},
		"of several":                         {retry.Codes{Retry: []string{"402-405"}}, statusedError(404), retry.ClassTransient},
		"of others":                          {retry.Codes{Retry: []string{"405-409", "5XX", "40401"}}, statusedError(404), retry.ClassPermanent},
		"all but one":                        {retry.Codes{Retry: []string{"4xx"}, Stop: []string{"404"}}, statusedError(404), retry.ClassPermanent},
		"throttling stays what it is":        {retry.Codes{Retry: []string{"429"}}, statusedError(429), retry.ClassThrottled},
		"throttling that is not retried":     {retry.Codes{Stop: []string{"429"}}, statusedError(429), retry.ClassPermanent},
		"a SQLSTATE":                         {retry.Codes{Retry: []string{"23505"}}, stateError("23505"), retry.ClassTransient},
		"a SQLSTATE in small letters":        {retry.Codes{Stop: []string{"40p01"}}, stateError("40P01"), retry.ClassPermanent},
		"no code":                            {retry.Codes{Retry: []string{"404"}}, errOp, retry.ClassUnknown},
		"no code, and another Classifier":    {retry.Codes{Retry: []string{"404"}, Else: never}, errOp, retry.ClassPermanent},
		"listed, but not for the Classifier": {retry.Codes{Retry: []string{"503"}, Else: never}, statusedError(503), retry.ClassTransient},
		"marked":                             {retry.Codes{Retry: []string{"404"}}, retry.Permanent(statusedError(404)), retry.ClassPermanent},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, retry.Policy{Classifier: tt.codes}.Classify(tt.err).Class)
			assert.NoError(t, tt.codes.Validate())
		})
	}
	wrong := retry.Policy{Classifier: retry.Codes{Retry: []string{"200", "UNAVALABLE", "503"}, Stop: []string{"503", "4001"}}}
	assert.EqualError(t, wrong.Validate(), `invalid retry policy: Classifier: Codes: "200" is not an HTTP status from 400 to 599, a code of gRPC or a SQLSTATE; `+
		`Classifier: Codes: "UNAVALABLE" is not an HTTP status from 400 to 599, a code of gRPC or a SQLSTATE; `+
		`Classifier: Codes: "4001" is not an HTTP status from 400 to 599, a code of gRPC or a SQLSTATE; Classifier: Codes: 503 is to be retried and not to be retried`)
}
