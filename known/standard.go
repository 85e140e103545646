package known

// The standard library, golang.org/x, parsers, decoders and cryptography.

var standardTexts = []textRow{
	// Go 1.26: formats and cryptography. Packages that read networks have no such row, nor has a
	// checksum that does not match: the data may have been damaged on the way.
	{permanent, "archive/tar lzw bufio.Scanner asn1 gob json xml mime multipart html/template gif png x509 " +
		"crypto/aes crypto/cipher crypto/dsa crypto/ecdh crypto/ecdsa crypto/ed25519 crypto/elliptic crypto/hmac crypto/rand crypto/rsa", "*"},
	{permanent, "zip", `
		not a valid zip file
		unsupported compression algorithm
		insecure file path`},
	{permanent, "gzip", "invalid header"},
	{permanent, "zlib", `
		invalid header
		invalid dictionary`},
	{permanent, "template", "*:*: *"},
	{permanent, "mail", "header not in message"},
	{permanent, "image", "unknown format"},
	// Go 1.26, bufio and bytes: data that are too long for the buffer, and wrong use.
	{permanent, "bufio", `
		buffer full
		invalid use of *`},
	{permanent, "bytes.Buffer", "too large"},
	// Go 1.26, crypto/tls: the certificates and keys that it loads.
	{permanent, "tls", `
		failed to find *
		private key *
		neither Certificates, GetCertificate, nor GetConfigForClient set in Config
		server selected unsupported protocol version *
		no supported versions satisfy MinVersion and MaxVersion`},
	// Go 1.26, net/http: what a handler or a program does wrong. A response that is lost,
	// because the handler has timed out, stays lost.
	{permanent, "http", `
		request method or response status code does not allow body
		wrote more than the declared Content-Length
		invalid Read on closed Body
		Handler timeout
		connection has been hijacked
		named cookie not present
		no such file
		no Location header in response`},
	{permanent, "fcgi", "request aborted by web server"},
	// Go 1.26, os, os/exec and flag.
	{permanent, "os", `
		process already finished
		process handle unavailable`},
	{permanent, "exec", "already started"},
	{unrepeatable, "exec", "WaitDelay expired before I/O complete"}, // the program has succeeded
	{permanent, "flag", "help requested"},
	// golang.org/x/time 0.16.0, rate: more tokens than the limiter ever has.
	{permanent, "rate", "Wait(n=*) exceeds limiter's burst *"},
	// golang.org/x/crypto 0.58.0, bcrypt.
	{permanent, "bcrypt crypto/bcrypt", "*"},
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
