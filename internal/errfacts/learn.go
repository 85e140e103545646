package errfacts

import (
	"reflect"
	"strings"
)

// Learn adds what err says, apart from the errors that it wraps, and reports whether a library
// ended with it after retries of its own. What an error further out has said is kept.
func (f *Facts) Learn(err error) (gaveUp bool) {
	info := infoOf(err)
	switch {
	case info.blank:
		return false
	case info.origin == plain:
		f.learnVariable(err)
		return false
	}
	if info.throttled {
		f.report(Throttled, false)
	}
	if info.fields {
		gaveUp = f.learnFields(info, err)
	}
	if info.asks != 0 {
		f.learnMethods(info, err)
	}
	return gaveUp && info.asks&asksWait == 0 // an error that asks for a wait does not end its caller's retries
}

// LearnHint adds only the wait that err asks for.
func (f *Facts) LearnHint(err error) {
	if f.Hint == 0 {
		f.Hint, _ = Advice(err)
	}
}

// learnVariable adds what an error created by errors.New says.
func (f *Facts) learnVariable(err error) {
	v := OfVariable(err)
	if v.Class == Canceled {
		f.cancel()
		return
	}
	f.Kind = max(f.Kind, v.Kind)
	f.Fallback = max(f.Fallback, v.Class)
	f.Unrepeatable = f.Unrepeatable || v.Unrepeatable && f.Said != Yes
	f.Broken = f.Broken || v.broken
	if f.Kind == Request && isInvalidRequest(err.Error()) {
		f.Kind = Invalid
	}
}

// learnFields adds what the type and the fields of an error say.
func (f *Facts) learnFields(info *typeInfo, err error) (gaveUp bool) {
	var s said
	s.gather(info, err, reflect.ValueOf(err))
	f.Reasons = max(f.Reasons, ofReasons(s.reasons))
	f.learnType(info.origin, &s)
	if f.Hint == 0 && info.asks&asksWait == 0 {
		f.Hint = s.hint
	}
	return s.gaveUp
}

// learnMethods adds what the methods of an error say.
func (f *Facts) learnMethods(info *typeInfo, err error) {
	var a answers
	a.askMethods(info, err)
	f.learnResponse(&a)
	f.learnDatabase(&a)
	f.learnConnection(&a)
	if f.Said == None {
		f.Said = a.verdict
	}
	if f.Hint == 0 && info.asks&asksWait != 0 {
		f.Hint = info.askWait(err)
	}
}

// learnType adds what an error of a type says in its fields.
func (f *Facts) learnType(o origin, s *said) {
	switch o {
	case foreign, giveUp:
	case overtime:
		f.Overtime = true
		f.Kind = max(f.Kind, Timeout)
	case notSent:
		f.unsent()
	case forbids:
		if f.Said == None {
			f.Said = No
		}
	case localError, permanent:
		f.Fallback = max(f.Fallback, Permanent)
	case throttled:
		f.report(Throttled, false)
	case textual:
		f.Fallback = max(f.Fallback, ofText(s.text).Class)
	case cancellation:
		f.cancel()
	case netError, dnsError, addressError, tlsError, urlError:
		f.learnNetwork(o, s)
	case jsonError:
		if s.text == "unexpected end of JSON input" {
			f.Kind = max(f.Kind, Truncated) // as io.ErrUnexpectedEOF, which a Decoder returns
		}
		f.Fallback = max(f.Fallback, Permanent)
	case badConnection:
		f.Broken = true
		f.Fallback = max(f.Fallback, Transient)
	case systemError:
		f.Kind = max(f.Kind, s.errno.Kind)
		f.Fallback = max(f.Fallback, s.errno.Class)
	case redisReply:
		f.report(ofRedis(s.text), false)
	default:
		if o.hasStatus() && !f.IsResponse() {
			f.unprocessed = IsUnprocessed(int(s.number))
		}
		f.report(s.classOf(o))
	}
}

// learnNetwork reads the error of a connection, before or while it is used.
func (f *Facts) learnNetwork(o origin, s *said) {
	kind := Connection
	switch o {
	case netError:
		f.Lost = f.Lost || s.text == "dial"
		switch s.text {
		case "dial", "proxyconnect", "socks connect":
			f.unsent()
		}
	case dnsError:
		f.unsent()
		switch {
		case s.text == "unknown port":
			kind = Invalid
		case s.notFound:
			kind = NotFound
		}
	case tlsError:
		kind = TLS
		const internalError = 80
		if s.number == internalError { // an alert that ends the handshake: nothing was sent
			kind = Connection
		}
	case addressError:
		kind = Invalid
	case urlError:
		kind = Request
		if s.text == "parse" {
			f.Fallback = max(f.Fallback, Permanent)
			return
		}
	}
	f.Kind = max(f.Kind, kind)
}

// learnResponse adds what methods say about the response of a service.
func (f *Facts) learnResponse(a *answers) {
	if f.Status == 0 {
		f.Status = a.status
		if f.Code == "" && a.codeOfV1 != "" { // throttling has status 400
			f.Code = a.codeOfV1
			f.Renewed = isRenewed(f.Code)
		}
	}
	if f.Code == "" {
		f.Code = a.code
	}
	if f.Message == "" {
		f.Message = a.message
	}
}

// learnDatabase adds what methods say about the response of a database.
func (f *Facts) learnDatabase(a *answers) {
	if a.hasState {
		r := replyOfSQLState(a.state, a.routine)
		f.report(r.class, r.unrepeatable)
	}
	if f.Redis == "" {
		f.Redis = a.redis
	}
	if a.overloaded {
		f.report(Throttled, false)
	}
	if a.commitLost {
		// The commit may be repeated, but the transaction may not, and only the caller
		// knows which of the two a retry would repeat.
		f.report(Transient, true)
	}
	for _, code := range a.mongo {
		f.report(replyOf(mongoError, int64(code)).class, false)
	}
}

// learnConnection adds what methods say about how a connection, or the wait for a response,
// ended.
func (f *Facts) learnConnection(a *answers) {
	f.Broken = f.Broken || a.closed
	if a.safe && !a.closed { // pgx also says it of a connection that it lost during COMMIT
		f.unsent()
	}
	if a.connection {
		f.Kind = max(f.Kind, Connection)
		f.Lost = true
	}
	if a.temporary {
		f.Lost = true
		f.Fallback = max(f.Fallback, Transient)
	}
	if a.timeout {
		f.Kind = max(f.Kind, Timeout)
	}
	if a.canceled {
		f.cancel()
	}
}

// report records the class that a library or server reported, unless a class is already
// set. unrepeatable is ignored if Verdict is already Yes.
func (f *Facts) report(c Class, unrepeatable bool) {
	switch {
	case c == Canceled:
		f.cancel()
	case f.Class == Unknown:
		f.Class = c
	}
	f.Unrepeatable = f.Unrepeatable || unrepeatable && f.Said != Yes
}

// classOf returns the class of what an error with a number, a code or a state says, and
// whether the operation may have taken effect.
func (s *said) classOf(o origin) (c Class, unrepeatable bool) {
	number := s.number
	switch o {
	case withStatus, ownNumber:
		if number < 0 {
			return ofJSONRPC(number), false
		}
		code := s.serviceCode()
		c = ofResponse(int(number), code)
		switch {
		case s.secondary:
			c = Throttled
		case c != Permanent:
		case o == ownNumber:
			c = Unknown
		case isRenewed(code):
			c = Transient
		}
		return c, false
	case sdkStatus, kubernetesStatus, ociStatus, vaultStatus, oauthStatus, googleStatus:
		return s.ofServiceStatus(o), false
	case secondaryStatus:
		return Throttled, false
	case textStatus:
		return OfStatus(int(number)), false
	case withState:
		r := replyOfSQLState(s.text, s.routine)
		return r.class, r.unrepeatable
	case withCode:
		return ofWord(codeWord(s.text)), false
	case lostCommit:
		return Transient, true
	case pgxLock:
		// SafeToRetry returns true for all of these errors, which is correct for "conn
		// busy". But pgx 5.9 to 5.12 also report a connection lost during COMMIT as "conn
		// closed".
		if s.text != "conn closed" {
			return Unknown, false
		}
		return Transient, true
	case rpcError:
		if number == resourceExhausted && isFull(s.word) {
			return Permanent, false
		}
	case sqliteError:
		number = primary(number)
	case kafkaError: // a client's own numbers are negative
		number = max(0, number)
	}
	r := replyOf(o, number)
	return r.class, r.unrepeatable
}

// isFull reports whether a message of gRPC or Connect means a limit that waiting does not change: a
// message is larger than its reader or its sender accepts, or etcd's database is full, which lasts
// until a person makes room.
func isFull(message string) bool {
	for _, phrase := range [...]string{
		"larger than max", "grpc: message too large", // grpc-go, and gRPC for C++, Python and Node
		"message exceeds maximum size", "message exceeds the maximum configured message size", // Java, .NET
		"larger than configured max", "exceeds sendMaxBytes", "byte http.MaxBytesReader limit", // connect-go
		"etcdserver: mvcc: database space exceeded",
	} {
		if strings.Contains(message, phrase) {
			return true
		}
	}
	return false
}

// resourceExhausted is a status code of gRPC.
const resourceExhausted = 8

// errorType returns the type of an error in the JSON of a response, such as
// overloaded_error, or "".
func errorType(raw string) string {
	for len(raw) > 0 {
		_, rest, found := strings.Cut(raw, `"type"`)
		if !found {
			break
		}
		raw = rest
		value := strings.TrimLeft(rest, ": \t\r\n")
		if !strings.HasPrefix(value, `"`) {
			continue
		}
		kind, _, _ := strings.Cut(value[1:], `"`)
		if strings.HasSuffix(kind, "_error") {
			return kind
		}
	}
	return ""
}

// ofReasons returns what the reasons of a canceled transaction of DynamoDB mean together.
func ofReasons(reasons []string) Class {
	c := Unknown
	for _, reason := range reasons {
		switch ofWord(typeWord(reason)) {
		case Permanent:
			return Permanent
		case Throttled:
			c = Throttled
		case Transient, TimedOut:
			c = max(c, Transient)
		}
	}
	return c
}
