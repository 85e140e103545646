package errfacts

// OfStatus returns the class of an HTTP status. This is the only table of statuses; the
// packages for other protocols ask it, too. A number that is not in the registry, or means
// something else elsewhere, has no class: SMTP has 450 to 452, SIP has 480 to 494, and
// proxies have their own.
func OfStatus(status int) Class {
	switch status {
	case 408:
		return TimedOut
	case 420, 429, 430, 529: // 420, 430 and 529 of Twitter, Shopify and Anthropic
		return Throttled
	case 421, 423, 425:
		return Transient
	case 501, 505, 506, 508, 510, 511, 525, 526: // 525 and 526 of Cloudflare: the certificate of the origin
		return Permanent
	}
	switch {
	case status >= 500 && status < 530:
		return Transient
	case status >= 400 && status <= 431:
		return Permanent
	}
	return Unknown
}

// IsUnprocessed reports whether a server that responds with the status has not processed the
// request: 421 Misdirected Request (RFC 9110, section 15.5.20) and 425 Too Early (RFC 8470,
// section 5.2).
func IsUnprocessed(status int) bool { return status == 421 || status == 425 }

// ofResponse returns the class of a response with this status and the code of a service.
// S3 and some clouds report timeouts and throttling with status 400. Below 400, the status
// is that of a response that began well and reported an error later, so only the code
// counts.
func ofResponse(status int, code string) Class {
	c := OfStatus(status)
	if code == "" {
		return c
	}
	word := typeWord(code)
	fromCode := ofWord(word)
	switch {
	case isExhausted(word):
		return Permanent
	case fromCode == TimedOut && word != "deadlineexceeded" || status < 400:
		return fromCode
	case c == Permanent && fromCode == Throttled:
		return Throttled
	}
	return c
}

// ofServiceStatus returns the class of a status that some services use in their own way.
func (s *said) ofServiceStatus(o origin) Class {
	status := int(s.number)
	switch {
	case o == sdkStatus && status == 409: // a lock; their clients repeat the request
		return Transient
	case o == kubernetesStatus && s.word == "Conflict", // RetryOnConflict of client-go 0.37
		o == ociStatus && status == 409 && s.word == "IncorrectState": // DefaultRetryPolicy of oci-go-sdk 65
		return Transient
	case o == vaultStatus && status == 412: // the server lags behind a write
		return Transient
	case o == oauthStatus: // RFC 6749 and RFC 8628
		c := ofWord(codeWord(s.word))
		if c != Unknown {
			return c
		}
	case o == googleStatus && s.word != "":
		return Throttled
	case o == sdkStatus:
		return ofResponse(status, s.serviceCode())
	}
	return OfStatus(status)
}

// serviceCode returns the code of a service in an error with a status: that of a field Code
// or, if that says nothing about retrying, of a field Type, as OpenAI has it, or of the JSON
// of the response, as Anthropic has it.
func (s *said) serviceCode() string {
	switch {
	case ofWord(typeWord(s.word)) != Unknown:
		return s.word
	case ofWord(typeWord(s.kind)) != Unknown:
		return s.kind
	}
	if kind := errorType(s.json); kind != "" {
		return kind
	}
	return s.word
}
