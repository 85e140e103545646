package errfacts

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
)

func get(address string) error { return &url.Error{Op: "Get", URL: address, Err: io.EOF} }

func parse(address string) error {
	_, err := url.Parse(address)
	return err
}

// TestText: the word SECRET stands where real URLs have a secret.
func TestText(t *testing.T) {
	var nobody *url.Error
	for name, tt := range map[string]struct {
		err  error
		want string // exactly
	}{
		"no URL":                    {io.EOF, "EOF"},
		"nothing secret":            {get("https://host:8443/a/@b"), `Get "https://host:8443/a/@b": EOF`},
		"access_token":              {get("https://host/a?access_token=SECRET"), `Get "https://host/a": EOF`},
		"signature of AWS":          {get("https://b.s3.amazonaws.com/k?X-Amz-Credential=A%2FB&X-Amz-Signature=SECRET"), `Get "https://b.s3.amazonaws.com/k": EOF`},
		"signature of Azure":        {get("https://a.blob.core.windows.net/c/b?sv=2024-11-04&sig=SECRET%3D"), `Get "https://a.blob.core.windows.net/c/b": EOF`},
		"signature of Google":       {get("https://storage.googleapis.com/b/o?X-Goog-Signature=SECRET"), `Get "https://storage.googleapis.com/b/o": EOF`},
		"key":                       {get("https://host/v1beta/models/m:generateContent?key=SECRET"), `Get "https://host/v1beta/models/m:generateContent": EOF`},
		"client_secret, no path":    {get("https://host?client_secret=SECRET"), `Get "https://host": EOF`},
		"token as user":             {get("https://SECRET@host/a"), `Get "https://host/a": EOF`},
		"user and password":         {get("https://me:SECRET@host/a"), `Get "https://host/a": EOF`},
		"user, no host":             {get("//SECRET@"), `Get "//": EOF`},
		"opaque":                    {get("https:SECRET@host"), `Get "host": EOF`},
		"token in the fragment":     {get("https://host/cb#access_token=SECRET"), `Get "https://host/cb": EOF`},
		"a query with quotes":       {get(`https://host/a?q="x y"&t=SECRET`), `Get "https://host/a": EOF`},
		"an at sign in the query":   {get("https://host/a?to=me@example.org/SECRET"), `Get "https://host/a": EOF`},
		"password that is no URL":   {parse("postgres://me:SEC/RET@host/db"), `parse "postgres://": invalid port`},
		"escape that is none":       {parse("https://me:%SE@host"), `parse "https://": invalid URL escape`},
		"no scheme":                 {parse(":SECRET@host"), `parse "": missing protocol scheme`},
		"wrapped":                   {fmt.Errorf("load: %w", get("https://host/a?t=SECRET")), `load: Get "https://host/a": EOF`},
		"joined":                    {errors.Join(io.EOF, get("https://SECRET@host/a")), "EOF\nGet \"https://host/a\": EOF"},
		"one in another":            {&url.Error{Op: "Get", URL: "https://host/a?t=SECRET", Err: get("https://idp/token?s=SECRET")}, `Get "https://host/a": Get "https://idp/token": EOF`},
		"printed by a wrapper":      {fmt.Errorf("%s: %w", "https://host/a?t=SECRET", get("https://host/a?t=SECRET")), `https://host/a: Get "https://host/a": EOF`},
		"no error in it":            {&url.Error{Op: "Get", URL: "https://SECRET@host"}, `Get "https://host": %!s(<nil>)`},
		"a nil pointer":             {nobody, "<nil>"},
		"a nil pointer in an error": {fmt.Errorf("load: %w", nobody), "load: <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Text(tt.err)
			assert.NotContains(t, got, "SECRET")
			assert.Equal(t, tt.want, got)
		})
	}
}
