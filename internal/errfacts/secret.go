package errfacts

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Text returns the text of err without what may be secret in the URL of each *url.Error that
// err is or wraps: the user, the query and the fragment.
func Text(err error) string {
	s := fmt.Sprint(err) // not Error, which may panic on a typed nil
	for e := range All(err) {
		v := reflect.ValueOf(e)
		if v.Kind() != reflect.Pointer || v.IsNil() || !isURLError(v.Type().Elem()) {
			continue
		}
		address := text(v, "URL")
		public := publicURL(address)
		if text(v, "Op") == "parse" {
			// No part of a text that is no URL can be told from a password, and the reason
			// quotes such a part.
			public = schemeOf(address)
			reason := fmt.Sprint(field(v, "Err"))
			beforeQuote, _, _ := strings.Cut(reason, `"`)
			s = strings.ReplaceAll(s, ": "+reason, ": "+strings.TrimSpace(beforeQuote))
		}
		s = strings.ReplaceAll(s, strconv.Quote(address), strconv.Quote(public))
		if strings.Contains(address, "//") { // a wrapper may print it in its own way
			s = strings.ReplaceAll(s, address, public)
		}
	}
	return s
}

func isURLError(t reflect.Type) bool { return t.PkgPath() == "net/url" && t.Name() == "Error" }

// publicURL returns the scheme, the host and the path of a URL.
func publicURL(address string) string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	scheme, rest, ok := strings.Cut(address, "//")
	if !ok {
		scheme, rest = "", address
	} else {
		scheme += "//"
	}
	host, path := rest, ""
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		host, path = rest[:slash], rest[slash:]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	return scheme + host + path
}

// schemeOf returns the scheme of what begins like a URL, such as "https://", or "".
func schemeOf(address string) string {
	scheme, _, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	return scheme + "://"
}
