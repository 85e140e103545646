package known

import (
	"reflect"
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
	switch err.(type) {
	case errfacts.Unwrapper, errfacts.TreeUnwrapper:
		if path == "fmt" || path == "errors" || strings.HasSuffix(path, "pkg/errors") {
			return errfacts.Unknown // the wrapped errors decide
		}
	default:
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
			if word := strings.ToLower(before[max(last, 0):]); transientWords[word] || comesBack[word] {
				return errfacts.Unknown // such as NodeNotFound
			}
			return errfacts.Permanent // in any case at the beginning of a name
		}
	}
	return errfacts.Unknown
}

// typeEndings lists the ends of the names of types, without Err and Error.
var typeEndings = [...]string{
	"Parse", "Parser", "Parsing", "Syntax", "Decode", "Decoding", "Unmarshal", "Marshal", "UnmarshalType", "Conversion",
	"Validation", "Format", "Malformed", "Mismatch", "Unsupported", "UnsupportedType", "NotSupported", "NotImplemented",
	"NotFound", "DoesNotExist", "AlreadyExists", "AlreadyRegistered", "AccessDenied", "PermissionDenied", "PermissionsDenied", "Unauthorized", "Forbidden",
	"BadRequest", "BadParameter", "InvalidArgument", "InvalidParameter", "InvalidInput", "PaymentRequired", "NotAllowed",
}

// comesBack lists words, beside transientWords, for what may be found later.
var comesBack = setOf("service endpoint route region member instance pod container backend upstream topic coordinator primary master job task")

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

// ofText returns errfacts.Permanent or, if a retry might succeed, errfacts.Transient.
func ofText(text string) errfacts.Class {
	text = strings.ToLower(text[:min(len(text), 300)])
	isWordBreak := func(c rune) bool { return (c < 'a' || c > 'z') && c != '\'' }
	for _, phrase := range certain {
		if strings.Contains(text, phrase) {
			return errfacts.Permanent
		}
	}
	for word := range strings.FieldsFuncSeq(text, isWordBreak) {
		if transientWords[word] {
			return errfacts.Transient
		}
	}
	prefix, _, found := strings.Cut(text, ":")
	if found && !strings.Contains(prefix, " ") && isParser(prefix) {
		return errfacts.Permanent
	}
	for _, phrase := range phrases {
		if strings.Contains(text, phrase) {
			return errfacts.Permanent
		}
	}
	text = strings.TrimRight(text, ".!\n ")
	for _, ending := range endings {
		if strings.HasSuffix(text, ending) {
			return errfacts.Permanent
		}
	}
	for part := range strings.SplitSeq(text, ": ") {
		verb, rest, _ := strings.Cut(part, " ")
		thing, _, _ := strings.Cut(rest, " ")
		thing = strings.Trim(thing, `"'()[],;`)
		switch verb {
		case "invalid", "unsupported", "malformed", "missing", "illegal", "incompatible", "unrecognized", "duplicate":
			if thing != "" {
				return errfacts.Permanent
			}
		case "unknown", "bad", "wrong", "incorrect", "unexpected", "no":
			if things[thing] {
				return errfacts.Permanent
			}
		}
	}
	return errfacts.Unknown
}

// certain lists words that decide even beside one of transientWords.
var certain = [...]string{
	"too many redirects", "authentication required", "authentication failed", "invalid credentials", "bad credentials",
	"incorrect password", "wrong password", "invalid password", "bad user name or password", "not authorized", "unauthorized",
	"permission denied", "access denied", "not permitted", "does not have permission",
	"syntax error", "parse error", "cannot unmarshal", "error found in #", "violates ",
	"file is closed", "client is closed", "database is closed", "iterator is closed", "statement is closed", "watcher already closed",
}

// transientWords lists words of errors that a retry may avoid, and of those that depend on
// the state of a server or on other clients.
var transientWords = setOf("connection connections connect connected connecting conn dial timeout timeouts timed deadline " +
	"temporary temporarily transient unavailable available retry retries retryable retried again busy closed closing close " +
	"shutdown shutting stopped stopping down reset eof broken network lock locks locked leader ready progress pending many " +
	"limit limits limited overload overloaded rate quota capacity full empty exhausted lost session sessions server servers peer " +
	"node nodes broker brokers replica replicas shard partition checksum checksums crc response reply unreachable socket host hosts " +
	"stale yet canceled cancelled aborted interrupted interrupt wait waiting lease conflict conflicting concurrent concurrently " +
	"modified changed revision etag generation epoch term sequence nonce internal unknown_error gateway status handshake frame packet " +
	"pool queue buffer cursor transaction handle stream state resync rebalance restart refresh reconnect reload election cluster")

// things lists what may be unknown, bad, wrong, unexpected or absent.
var things = setOf("field fields type types command option options flag format key keys column table user username algorithm method " +
	"property argument arguments parameter parameters schema encoding escape character token directive function variable " +
	"identifier extension driver scheme password passphrase digest signature magic size length number request " +
	"such credentials permission rows result documents records path url file end attribute operator keyword symbol")

// phrases may stand anywhere in a text, endings at its end.
var phrases = [...]string{
	"cannot parse", "can't parse", "could not parse", "failed to parse", "unable to parse", "error parsing",
	"cannot decode", "can't decode", "could not decode", "failed to decode", "failed to unmarshal", "can't convert", "cannot convert",
	"error converting", "unable to authenticate", "must be ", "must not be", "must have ", "must contain", "must start with",
	"cannot be empty", "cannot be blank", "cannot be nil", "cannot be null", "cannot be used", "cannot be negative",
	"not supported", "unsupported", "not implemented", "verification failed", "no such table", "no such column", "no such file",
	"could not resolve to a ", // of GitHub's GraphQL
}

var endings = [...]string{
	" required", " mismatch", " not match", "doesn't match", "don't match", " not set", " is nil", " not allowed", " too long", " too short",
	" out of range", " out of bounds", " not valid", " is invalid", " malformed", " already exists", " already registered",
	" already defined", " not authenticated", " not logged in", " is expired", " has expired", "no rows in result set",
	"key exists", "document exists", "bucket exists", "index exists", "user exists", "object exists",
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
