package known

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/gobackoff/retry/internal/errfacts"
)

// These rules are about errors of any library. They are asked if neither the tables nor
// DefaultClassifier's rules know anything about an error and those that it wraps, and
// decide only that a retry would fail again.

// general returns errfacts.Permanent if words in the texts and the names of types of the
// errors in err's tree mean that, and in none of them that a retry might succeed.
func general(err error) errfacts.Class {
	found := errfacts.Unknown
	for e := range errfacts.All(err) {
		switch c := ofOne(e); c {
		case errfacts.Transient:
			return errfacts.Unknown
		case errfacts.Permanent:
			found = c
		}
	}
	return found
}

// ofOne returns the class of an error without those that it wraps.
func ofOne(err error) errfacts.Class {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	path := t.PkgPath()
	if !isLeaf(err) {
		if path == "fmt" || path == "errors" || strings.HasSuffix(path, "pkg/errors") {
			return ofText(detail(err)) // otherwise, the wrapped errors decide
		}
	} else {
		text, _ := errfacts.Guarded(err.Error)
		if isParser(withoutVersion(path)) && !strings.Contains(text, "checksum") {
			return errfacts.Permanent
		}
		if c := ofText(text); c != errfacts.Unknown {
			return c
		}
	}
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(t.Name(), "Err"), "err"), "s")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "Error"), "Exception")
	for _, ending := range typeEndings {
		if before, ok := strings.CutSuffix(name, ending[1:]); ok && strings.HasSuffix(strings.ToUpper(before), ending[:1]) {
			before = before[:len(before)-1]
			last := strings.LastIndexFunc(before, unicode.IsUpper)
			if word := strings.ToLower(before[max(last, 0):]); passing[word] || remote[word] || comesBack[word] {
				return errfacts.Unknown // such as NodeNotFound
			}
			return errfacts.Permanent // in any case at the beginning of a name
		}
	}
	return errfacts.Unknown
}

// detail returns what follows the text of the wrapped error, as with "%w: detail", or "".
func detail(err error) string {
	w, ok := err.(errfacts.Unwrapper)
	if !ok {
		return ""
	}
	inner, _ := errfacts.Guarded(w.Unwrap)
	text, _ := errfacts.Guarded(err.Error)
	wrapped, _ := errfacts.Guarded(inner.Error)
	if after, found := strings.CutPrefix(text, wrapped); found && wrapped != "" {
		return strings.TrimLeft(after, ":;,- (")
	}
	return ""
}

// anyText reports whether the text of an error in err's tree has one of the phrases.
func anyText(err error, phrases []string) bool {
	for e := range errfacts.All(err) {
		text, _ := errfacts.Guarded(e.Error)
		if contains(strings.ToLower(ends(text, 1000)), phrases) {
			return true
		}
	}
	return false
}

// unclear lists phrases that say that the operation may have taken effect, and again those
// that ask for a retry, also beside a status such as 409.
var (
	unclear = [...]string{
		"stateunknown", "state unknown", "outcome unknown", "unknown outcome", "outcome is unknown", "outcome is unconfirmed", "result undetermined",
		"operation status is unknown", "execution status unknown", "durability ambiguous", "commit failed due to unknown",
		"may still be applied", "may still be committed", "may still be confirmed", "may still be executed",
		"may have been applied", "may have been committed", "may have been executed", "may have been processed",
		"might have been applied", "might have been committed", "might have been executed", "might have been processed",
		"may or may not have", "may have succeeded", "may have completed", "result is ambiguous", "outcome is ambiguous", "commit_unknown_result",
	}
	again = [...]string{"refresh and try again"}
)

// typeEndings lists the ends of the names of types, without Err and Error.
var typeEndings = [...]string{
	"Parse", "Parser", "Parsing", "Syntax", "Decode", "Decoding", "Unmarshal", "Marshal", "UnmarshalType", "Conversion",
	"Validation", "Format", "Malformed", "Mismatch", "Unsupported", "UnsupportedType", "NotSupported", "NotImplemented",
	"NotFound", "DoesNotExist", "AlreadyExists", "AlreadyRegistered", "AccessDenied", "PermissionDenied", "PermissionsDenied", "Unauthorized", "Forbidden",
	"Constraint", "NotSingular", "Serialization", "Deserialization", "BadRequest", "BadParameter", "InvalidArgument", "InvalidParameter", "InvalidInput", "PaymentRequired", "NotAllowed",
}

// comesBack lists words, beside passing and remote, for what may be found later.
var comesBack = setOf("service endpoint route region member instance pod container backend upstream topic coordinator primary master job task " +
	"agent port interface header block receipt services endpoints store tablet range slave leaseholder process")

// isParser reports whether a package or the prefix of a text is that of a library that
// reads or writes data in the program's memory.
func isParser(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' || c == '.' }) {
		if parsers[strings.TrimPrefix(strings.TrimPrefix(part, "go-"), "go")] || parsers[part] {
			return true
		}
	}
	return false
}

var parsers = setOf("yaml toml json json5 jsonc hjson jsoniter sonic ini hcl properties xml html csv " +
	"protobuf proto protojson prototext msgpack cbor bson avro asn1 gob hex base32 base58 base64 bech32 " +
	"pem pkcs7 pkcs8 pkcs12 openpgp jose paseto age bcrypt argon2 securecookie " +
	"zip tar gzip zlib flate bzip2 lz4 lz4errors xz lzma snappy s2 zstd brotli rardecode sevenzip " +
	"image png jpeg gif webp tiff bmp riff exif pdf xlsx excelize svg truetype sfnt barcode qrcode " +
	"semver uuid ulid xid ksuid decimal apd language idna mime mapstructure dotenv godotenv env envconfig viper koanf " +
	"pflag kong kingpin validator validation ozzo-validation govalidator schema jsonschema gojsonschema jsonpath jsonpatch jmespath gojq " +
	"cel expr govaluate gval template mustache handlebars liquid pongo2 regexp2 cron cronexpr duration iso8601 dateparse " +
	"sqlparser gqlparser parser lexer scanner ast participle geojson wkt wkb phonenumbers totp otp")

// ofText returns errfacts.Permanent or, if a retry might succeed, errfacts.Transient. What
// the words of the text say counts in the order of certain, passing, firm, remote, loose.
func ofText(text string) errfacts.Class {
	text = " " + strings.TrimRight(strings.ToLower(ends(text, 300)), ".!\n ") // phrases may begin with a space
	if contains(text, certain[:]) {
		return errfacts.Permanent
	}
	words := wordsOf(text)
	if hasAny(words, passing) || contains(text, states[:]) {
		return errfacts.Transient
	}
	if contains(text, firm[:]) || isClosed(words) || hasSuffix(text, firmEndings[:]) {
		return errfacts.Permanent
	}
	for part := range strings.SplitSeq(text[1:], ": ") {
		if invalid := wordsOf(part); len(invalid) > 1 && lasting[invalid[0]] && !comesBack[invalid[1]] && !remote[invalid[1]] {
			return errfacts.Permanent
		}
	}
	if hasAny(words, remote) {
		return errfacts.Transient
	}
	if prefix, _, found := strings.Cut(text[1:], ":"); found && !strings.Contains(prefix, " ") && isParser(prefix) || contains(text, loose[:]) || hasAny(words, mistakes) || isMissing(words) {
		return errfacts.Permanent
	}
	if hasSuffix(text, endings[:]) {
		return errfacts.Permanent
	}
	for part := range strings.SplitSeq(text, ": ") {
		words := wordsOf(part)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "malformed", "missing", "illegal", "incompatible", "unrecognized", "duplicate", "negative", "nil", "both", "either", "mismatched", "mismatching":
			return errfacts.Permanent
		case "unknown", "bad", "wrong", "incorrect", "unexpected", "no", "empty":
			near := words[1:min(len(words), 4)]
			if hasAny(near, things) && !hasAny(near, comesBack) {
				return errfacts.Permanent
			}
		}
	}
	return errfacts.Unknown
}

// ends returns text without its middle, if that is long: the cause is often at the end.
func ends(text string, size int) string {
	if len(text) <= 2*size {
		return text
	}
	return text[:size] + " ... " + text[len(text)-size:]
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return (c < 'a' || c > 'z') && c != '\'' })
}

func contains(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
}

func hasSuffix(text string, endings []string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(text, ending) })
}

func hasAny(words []string, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(word string) bool { return set[word] })
}

// isClosed reports whether a text ends with a thing of the program that is closed, as in
// "the client has already been closed".
func isClosed(words []string) bool {
	last := len(words) - 1
	if last < 0 || words[last] != "closed" && words[last] != "released" {
		return false
	}
	for last--; last >= 0 && (words[last] == "is" || words[last] == "was" || words[last] == "has" || words[last] == "been" || words[last] == "already"); last-- {
	}
	return last >= 0 && (ours[words[last]] || isParser(words[last]))
}

// isMissing reports whether a text says that something other than a part of a server was not
// found.
func isMissing(words []string) bool {
	text := strings.Join(words, " ")
	thing := ""
	for _, ending := range [...]string{" not found", " cannot be found", " can't be found", " not exist", " doesn't exist"} {
		if subject, ok := strings.CutSuffix(text, ending); ok {
			thing = subject
		}
	}
	for _, beginning := range [...]string{"could not find ", "cannot find ", "can't find ", "unable to find "} {
		if object, ok := strings.CutPrefix(text, beginning); ok {
			thing = object
		}
	}
	return thing != "" && !slices.ContainsFunc(strings.Fields(thing), func(word string) bool { return comesBack[word] })
}

// certain lists phrases that decide whatever else a text says.
var certain = [...]string{
	"too many redirects", "authentication required", "authentication failed", "invalid credentials", "bad credentials",
	"incorrect password", "wrong password", "invalid password", "bad user name or password", "not authorized", "unauthorized",
	"permission denied", "permissions denied", "access denied", "does not have permission", "insufficient privilege",
	"insufficient permission", "insufficient scope", "syntax error", "syntaxerror: ", "parse error", "cannot unmarshal", "error found in #", "violates ",
	"file is closed", "client is closed", "client is stopped", "client has been stopped", "database is closed", "iterator is closed", "statement is closed", "watcher already closed",
	"not yet supported", "not yet implemented", "too many arguments", "too many parameters", "too many columns", "too many values", "too many fields",
}

// passing lists words of what a retry may avoid, or of a state that passes.
var passing = setOf("timeout timeouts timed deadline temporary temporarily transient unavailable available retry retries retryable " +
	"retried again busy closing shutdown shutting stopped stopping down reset broken lock locked locks leader election ready progress " +
	"pending many overload overloaded rate quota capacity full exhausted lost unreachable stale yet canceled cancelled aborted " +
	"interrupted interrupt wait waiting while until currently alive healthy lease concurrent concurrently conflict conflicting modified changed revision etag resync " +
	"rebalance restart refresh reconnect reload internal gateway checksum checksums crc nonce unknown_error eof handshake corrupt corrupted damaged digest content failover maintenance " +
	"lag backlog took waited ran delay since heartbeat recovery recovering migrating migration refreshing reconnection standby quorum chunk chunked lockfile")

// states lists phrases with the meaning of passing.
var states = [...]string{"hash mismatch", "md5 mismatch", "sha256 mismatch"}

// firm lists phrases that decide even if the text is about a server.
var firm = [...]string{
	"not permitted", "not support", "n't support", "unsupported", "only supported", "only supports", "no longer supported", "not implement", "n't implement",
	"mutually exclusive", "must not be", "mustn't be", "must provide", "must specify", "must have ", "must contain",
	"cannot be empty", "cannot be blank", "cannot be nil", "cannot be null", "cannot be zero", "cannot be negative", "cannot be combined",
	"cannot be specified", "cannot be populated", "cannot be set", "cannot be used", "can not be empty", "can not be nil", "can't be blank", "can't be empty",
	" is required", " are required", " larger than ", " longer than ", "too long", "more than one ", "not enabled", "insufficient funds", "insufficient balance",
	"was already consumed", " has invalid ", " has incorrect ", " is of invalid ", "cannot scan ", "can't scan ", "unable to scan ", "non-pointer",
	"nil pointer", "not a pointer", "pass a pointer", "less than minimum", "less than the minimum", "greater than maximum", "greater than the maximum",
	"less than zero", "cannot be less than", "cannot be shorter", "cannot be greater", "cannot be larger", "not enough args", "not enough arguments", "insufficient arguments", "cannot set both",
	"cannot both ", "cannot specify both", "cannot use both", "but not both", "cannot enable both", "unterminated ", "missing closing", "don't know how to ",
	"cannot contain ", "can not contain ", "may only contain", "contains invalid char", "contain only ", "can only be used", "may only be used",
	"can only be called", "must only be called", "can't be called", "cannot be called", "cannot be nested", "can't be marshaled", "cannot be encoded",
	"but missing", "please provide ", "please specify ", "please supply ", "please set ", "please enter ",
}

var firmEndings = [...]string{" specified", " provided", " required", " were passed", " configured"}

// remote lists words of what may change without the program, such as a server.
var remote = setOf("connection connections connect connected connecting conn dial closed close network limit limits limited " +
	"session sessions server servers peer peers node nodes broker brokers replica replicas shard partition response responses reply socket host hosts " +
	"generation epoch term sequence status frame packet packets pool queue buffer cursor transaction handle stream state cluster " +
	"subscription consumer producer worker device slot slots channel gossip " +
	"master slave leaseholder majority voter member memory disk space region writes replication backend workers endpoints")

// lasting lists words that make the next one a mistake of the program.
var lasting = setOf("invalid unsupported")

// ours lists what only the program itself closes.
var ours = setOf("client dialer pool db database file writer reader iterator iter statement resultset rows archive storage store indexer " +
	"locker wallet batch builder watcher dataset tx encoder decoder resource")

// things lists what may be unknown, bad, wrong, unexpected, empty or absent.
var things = setOf("field fields type types command option options flag format key keys column columns table user username algorithm method " +
	"property argument arguments parameter parameters schema encoding escape character char token directive function variable " +
	"identifier extension driver scheme password passphrase digest signature magic size length number request account wallet " +
	"such credentials permission permissions rows result results documents records path url uri file files filename end attribute operator keyword symbol " +
	"name id config configuration hash line string input version index certificate domain value values dialect setting collation annotation codec compression mode strategy kind preference placeholder")

// mistakes lists words of mistakes in a program, its configuration or its data.
var mistakes = setOf("ambiguous deprecated reserved prohibited oversized undefined unregistered malformed illegal misconfigured unhandled " +
	"unqualified untrusted unencrypted duplicated")

// loose lists phrases that decide if the text is not about a server, and endings those that
// do so at its end.
var loose = [...]string{
	"cannot parse", "can't parse", "could not parse", "failed to parse", "unable to parse", "error parsing", "can't decode", "cannot decode",
	"could not decode", "failed to decode", "unable to decode", "unable to encode", "cannot encode", "failed to encode", "failed to unmarshal",
	"can't convert", "cannot convert", "error converting", "could not decrypt", "failed to decrypt", "cannot be decrypted", "unable to authenticate",
	"expected a ", "expected an ", "expects ", "must ", "should be ", "should not ", "can't use ", "cannot use ", "cannot specify ",
	"at least one ", "only one ", "exactly one ", "only valid", "can only ", "may only ", "verification failed", "verification error",
	"no such table", "no such column", "no such file", "could not resolve to a ", // of GitHub's GraphQL
	"not a valid ", "not valid for", "not a ", "not an ", "not allowed", "isn't allowed", "no longer allowed", " requires ", " without ", " has no ", " had no ", " exceeds ", "size exceed", "length exceed", " greater than ", " higher than ", "maximum size", "max depth", "maximum depth",
	" is disabled", " are disabled", "out of bounds", "out of range", "to be a ", "to be an ", "but it's a ", "but got type", "overflows ", "should match ", "is not settable", "multiple of ", "end of document", "end of list", "end of array", "end of rows", "no more ", "cannot call ", "missing required ", "does not contain ", "doesn't contain ", "does not correspond ", " wrong type", "contains multiple ", "has multiple ",
	" is expired", " has expired", "cannot be modified", "cannot be changed", " disallowed", " is mandatory", "not registered", "not defined",
}

var endings = [...]string{
	" mismatch", " not match", "doesn't match", "don't match", " not set", " is nil", " was nil", " not allowed", " too short",
	" too low", " too small", " overflow", " not valid", " is invalid", " malformed", " already exists", " already exist", " already registered",
	" already defined", " already initialized", " already known", " already committed", " already processed", " already joined", " already set",
	" already open", " already opened", " already used", " already linked", " already serving", " not authenticated", " not logged in", "no rows in result set",
	" needed", " too open", " not configured", " to be set", " missing", " already connected", " is empty",
	"key exists", "document exists", "bucket exists", "index exists", "user exists", "object exists", "destination exists",
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
