package known

// The standard library, golang.org/x, parsers, decoders and cryptography.

var standardTexts = []textRow{
	// Go 1.26, archive and compress. A checksum that does not match is no row: the data may
	// have been damaged on the way, and another copy of them intact.
	{permanent, "archive/tar: *"},
	{permanent, "lzw: *"},
	// Go 1.26, bufio and io: data that are too long for the buffer, and wrong use.
	{permanent, "bufio.Scanner: *"},
	{permanent, "bufio: buffer full"},
	{permanent, "bufio: invalid use of *"},
	{permanent, "short buffer"},
	// Go 1.26, crypto (rsa, ecdsa, bcrypt of golang.org/x/crypto 0.58.0 and others), and the
	// certificates and keys that crypto/tls loads.
	{permanent, "crypto/*"},
	{permanent, "x509: *"},
	{permanent, "tls: failed to find *"},
	{permanent, "tls: private key *"},
	{permanent, "tls: neither Certificates, GetCertificate, nor GetConfigForClient set in Config"},
	{permanent, "tls: server selected unsupported protocol version *"},
	{permanent, "tls: no supported versions satisfy MinVersion and MaxVersion"},
	// Go 1.26, debug.
	{permanent, "ErrUnknownPC"},
	// Go 1.26, encoding and mime. Texts that encoding/json and others make have no type.
	{permanent, "asn1: *"},
	{permanent, "extra delimiter at end of line"},
	{permanent, `extraneous or missing " in quoted-field`},
	{permanent, `bare " in non-quoted-field`},
	{permanent, "gob: *"},
	{permanent, "json: *"},
	{permanent, "xml: *"},
	{permanent, "mail: *"}, // net/mail only parses
	{permanent, "mime: *"},
	{permanent, "multipart: *"},
	// Go 1.26, text/template and html/template.
	{permanent, "template: *"},
	{permanent, "html/template: *"},
	// Go 1.26, image.
	{permanent, "gif: *"},
	{permanent, "png: *"},
	// Go 1.26, net: a listening or unconnected socket used for something else.
	{permanent, "use of WriteTo with pre-connected connection"},
	// Go 1.26, net/http: what a handler or a program does wrong. A response that is lost,
	// because the handler has timed out, stays lost.
	{permanent, "http: request method or response status code does not allow body"},
	{permanent, "http: wrote more than the declared Content-Length"},
	{permanent, "http: Handler timeout"},
	{permanent, "http: connection has been hijacked"},
	{permanent, "http: named cookie not present"},
	{permanent, "http: no Location header in response"},
	{permanent, "http: ContentLength=* with *"},
	{permanent, "fcgi: request aborted by web server"},
	// Go 1.26, os, os/exec and flag.
	{permanent, "file type does not support deadline"},
	{permanent, "os: process already finished"},
	{permanent, "os: process handle unavailable"},
	{permanent, "cannot run executable found relative to current directory"},
	{permanent, "exec: already started"},
	{unrepeatable, "exec: WaitDelay expired before I/O complete"}, // the program has succeeded
	{permanent, "flag: help requested"},
	// Go 1.26, path, regexp and strconv.
	// golang.org/x/time 0.16.0, rate: more tokens than the limiter ever has.
	{permanent, "rate: Wait(n=*) exceeds limiter's burst *"},
	// golang.org/x/crypto 0.58.0, bcrypt and ssh.
	{permanent, "bcrypt: *"},
	{permanent, "ssh: host key mismatch"},
}

var standardTypes = []typeRow{
	// Go 1.26: formats and source text. Packages that read networks have no such rows.
	{permanent, "compress/flate.CorruptInputError"},
	{permanent, "compress/flate.InternalError"},
	{permanent, "crypto/aes.*"},
	{permanent, "crypto/des.*"},
	{permanent, "crypto/rc4.*"},
	{permanent, "debug/dwarf.*"},
	{permanent, "debug/elf.*"},
	{permanent, "debug/gosym.*"},
	{permanent, "debug/macho.*"},
	{permanent, "debug/pe.*"},
	{permanent, "debug/plan9obj.*"},
	{permanent, "go/build.*"},
	{permanent, "go/build/constraint.*"},
	{permanent, "go/scanner.*"},
	{permanent, "go/types.*"},
	{permanent, "html/template.Error"},
	{permanent, "image/jpeg.*"},
	{permanent, "image/png.*"},
	{permanent, "math/big.ErrNaN"},
	{permanent, "os/user.*"},
	// golang.org/x/image 0.45.0, golang.org/x/net 0.62.0 and golang.org/x/mod.
	{permanent, "golang.org/x/image/tiff.*"},
	{permanent, "golang.org/x/image/bmp.*"},
	{permanent, "golang.org/x/net/idna.*"},
	{permanent, "golang.org/x/mod/modfile.*"},
	{permanent, "golang.org/x/mod/module.*"},
	// golang.org/x/crypto 0.58.0: keys, known hosts and messages; a CA's refusal.
	{permanent, "golang.org/x/crypto/ssh.PassphraseMissingError"},
	{permanent, "golang.org/x/crypto/ssh.AlgorithmNegotiationError"},
	{permanent, "golang.org/x/crypto/ssh/knownhosts.*"},
	{permanent, "golang.org/x/crypto/openpgp/errors.*"},
	{permanent, "golang.org/x/crypto/acme.AuthorizationError"},
	// google.golang.org/protobuf 1.36: it reads messages that are complete.
	{permanent, "google.golang.org/protobuf/internal/errors.prefixError"},
	// filippo.io/age 1.3.2.
	{permanent, "filippo.io/age.NoIdentityMatchError"},
}

var standardFields = []fieldRow{
	// Go 1.26, compress/bzip2: as above, not the checksums.
	{transient, "compress/bzip2.StructuralError", "", "*checksum*"},
	{permanent, "compress/bzip2.StructuralError", "", ""},
	// golang.org/x/crypto 0.58.0, acme: isBadNonce and isRetriable of http.go; RFC 8555.
	{transient, "golang.org/x/crypto/acme.Error", "ProblemType", "*:badNonce"},
	{throttled, "golang.org/x/crypto/acme.Error", "ProblemType", "*:rateLimited"},
	{byStatus, "golang.org/x/crypto/acme.Error", "StatusCode", ""},
	{permanent, "golang.org/x/crypto/acme.OrderError", "Status", "invalid"},
	// golang.org/x/crypto 0.58.0, ssh: RFC 4254, section 5.1.
	{permanent, "golang.org/x/crypto/ssh.OpenChannelError", "Reason", "1|3"},
	{transient, "golang.org/x/crypto/ssh.OpenChannelError", "Reason", "2|4"},
	// Go 1.26, crypto/tls: RFC 8446, section 6. close_notify, bad_record_mac, internal_error
	// and user_canceled tell nothing about the next handshake.
	{transient, "crypto/tls.alert", "", "0|20|80|90"},
	{transient, "crypto/tls.AlertError", "", "0|20|80|90"},
}
