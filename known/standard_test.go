//lint:file-ignore SA1019 A program may still meet errors that are deprecated.

package known

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/aes"
	"crypto/des"
	"crypto/dsa"
	"crypto/rc4"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"debug/dwarf"
	"debug/elf"
	"debug/gosym"
	"debug/macho"
	"debug/pe"
	"debug/plan9obj"
	"encoding/ascii85"
	"encoding/asn1"
	"encoding/base32"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"go/build"
	"go/build/constraint"
	"go/scanner"
	"go/types"
	htemplate "html/template"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math/big"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/http/httputil"
	"net/mail"
	"net/rpc"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path"
	"path/filepath"
	"reflect"
	"regexp/syntax"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/quick"
	ttemplate "text/template"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gobackoff/retry"
)

// libraryErrors lists each exported error variable and each exported error type of the
// standard library of Go 1.26, with its class. For types whose class depends on their
// content, this is that of an example. Missing are ErrWaitDelay of os/exec (below), ErrSkip
// of database/sql/driver, which is no failure, and what is no longer used: ReadError and
// WriteError of compress/flate, ErrWriteAfterFlush of net/http, ErrPersistEOF of
// net/http/httputil.
var libraryErrors = []errorCase{
	{"archive/tar.ErrFieldTooLong", tar.ErrFieldTooLong, retry.ClassPermanent},
	{"archive/tar.ErrHeader", tar.ErrHeader, retry.ClassPermanent},
	{"archive/tar.ErrInsecurePath", tar.ErrInsecurePath, retry.ClassPermanent},
	{"archive/tar.ErrWriteAfterClose", tar.ErrWriteAfterClose, retry.ClassPermanent},
	{"archive/tar.ErrWriteTooLong", tar.ErrWriteTooLong, retry.ClassPermanent},
	{"archive/zip.ErrAlgorithm", zip.ErrAlgorithm, retry.ClassPermanent},
	{"archive/zip.ErrChecksum", zip.ErrChecksum, retry.ClassUnknown}, // damaged on the way; another copy may be intact
	{"archive/zip.ErrFormat", zip.ErrFormat, retry.ClassPermanent},
	{"archive/zip.ErrInsecurePath", zip.ErrInsecurePath, retry.ClassPermanent},
	{"bufio.ErrAdvanceTooFar", bufio.ErrAdvanceTooFar, retry.ClassPermanent},
	{"bufio.ErrBadReadCount", bufio.ErrBadReadCount, retry.ClassPermanent},
	{"bufio.ErrBufferFull", bufio.ErrBufferFull, retry.ClassPermanent},
	{"bufio.ErrFinalToken", bufio.ErrFinalToken, retry.ClassUnknown}, // signal to Scanner
	{"bufio.ErrInvalidUnreadByte", bufio.ErrInvalidUnreadByte, retry.ClassPermanent},
	{"bufio.ErrInvalidUnreadRune", bufio.ErrInvalidUnreadRune, retry.ClassPermanent},
	{"bufio.ErrNegativeAdvance", bufio.ErrNegativeAdvance, retry.ClassPermanent},
	{"bufio.ErrNegativeCount", bufio.ErrNegativeCount, retry.ClassUnknown},
	{"bufio.ErrTooLong", bufio.ErrTooLong, retry.ClassPermanent},
	{"bytes.ErrTooLarge", bytes.ErrTooLarge, retry.ClassPermanent},
	{"compress/bzip2.StructuralError", bzip2.StructuralError("bad magic value"), retry.ClassPermanent},
	{"compress/flate.CorruptInputError", flate.CorruptInputError(1), retry.ClassPermanent},
	{"compress/flate.InternalError", flate.InternalError("x"), retry.ClassPermanent},
	{"compress/gzip.ErrChecksum", gzip.ErrChecksum, retry.ClassUnknown}, // damaged on the way
	{"compress/gzip.ErrHeader", gzip.ErrHeader, retry.ClassPermanent},
	{"compress/zlib.ErrChecksum", zlib.ErrChecksum, retry.ClassUnknown}, // damaged on the way
	{"compress/zlib.ErrDictionary", zlib.ErrDictionary, retry.ClassPermanent},
	{"compress/zlib.ErrHeader", zlib.ErrHeader, retry.ClassPermanent},
	{"context.Canceled", context.Canceled, retry.ClassPermanent},
	{"context.DeadlineExceeded", context.DeadlineExceeded, retry.ClassTimeout},
	{"crypto/aes.KeySizeError", aes.KeySizeError(1), retry.ClassPermanent},
	{"crypto/des.KeySizeError", des.KeySizeError(1), retry.ClassPermanent},
	{"crypto/dsa.ErrInvalidPublicKey", dsa.ErrInvalidPublicKey, retry.ClassPermanent},
	{"crypto/rc4.KeySizeError", rc4.KeySizeError(1), retry.ClassPermanent},
	{"crypto/rsa.ErrDecryption", rsa.ErrDecryption, retry.ClassPermanent},
	{"crypto/rsa.ErrMessageTooLong", rsa.ErrMessageTooLong, retry.ClassPermanent},
	{"crypto/rsa.ErrVerification", rsa.ErrVerification, retry.ClassPermanent},
	{"crypto/tls.AlertError", tls.AlertError(40), retry.ClassPermanent},
	{"crypto/tls.CertificateVerificationError", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, retry.ClassPermanent},
	{"crypto/tls.ECHRejectionError", &tls.ECHRejectionError{}, retry.ClassPermanent}, // retry needs RetryConfigList
	{"crypto/tls.RecordHeaderError", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, retry.ClassPermanent},
	{"crypto/x509.CertificateInvalidError", x509.CertificateInvalidError{Reason: x509.Expired}, retry.ClassPermanent},
	{"crypto/x509.ConstraintViolationError", x509.ConstraintViolationError{}, retry.ClassPermanent},
	{"crypto/x509.ErrUnsupportedAlgorithm", x509.ErrUnsupportedAlgorithm, retry.ClassPermanent},
	{"crypto/x509.HostnameError", x509.HostnameError{Certificate: new(x509.Certificate), Host: "h"}, retry.ClassPermanent},
	{"crypto/x509.IncorrectPasswordError", x509.IncorrectPasswordError, retry.ClassPermanent},
	{"crypto/x509.InsecureAlgorithmError", x509.InsecureAlgorithmError(x509.MD5WithRSA), retry.ClassPermanent},
	{"crypto/x509.SystemRootsError", x509.SystemRootsError{}, retry.ClassPermanent},
	{"crypto/x509.UnhandledCriticalExtension", x509.UnhandledCriticalExtension{}, retry.ClassPermanent},
	{"crypto/x509.UnknownAuthorityError", x509.UnknownAuthorityError{}, retry.ClassPermanent},
	{"database/sql.ErrConnDone", sql.ErrConnDone, retry.ClassPermanent},
	{"database/sql.ErrNoRows", sql.ErrNoRows, retry.ClassPermanent},
	{"database/sql.ErrTxDone", sql.ErrTxDone, retry.ClassPermanent},
	{"database/sql/driver.ErrBadConn", driver.ErrBadConn, retry.ClassTransient},
	{"database/sql/driver.ErrRemoveArgument", driver.ErrRemoveArgument, retry.ClassUnknown}, // signal
	{"debug/dwarf.DecodeError", dwarf.DecodeError{Err: "x"}, retry.ClassPermanent},
	{"debug/dwarf.ErrUnknownPC", dwarf.ErrUnknownPC, retry.ClassUnknown},
	{"debug/elf.ErrNoSymbols", elf.ErrNoSymbols, retry.ClassUnknown},
	{"debug/elf.FormatError", new(elf.FormatError), retry.ClassPermanent},
	{"debug/gosym.DecodingError", new(gosym.DecodingError), retry.ClassPermanent},
	{"debug/gosym.UnknownFileError", gosym.UnknownFileError("x"), retry.ClassPermanent},
	{"debug/gosym.UnknownLineError", &gosym.UnknownLineError{File: "x"}, retry.ClassPermanent},
	{"debug/macho.ErrNotFat", macho.ErrNotFat, retry.ClassPermanent},
	{"debug/macho.FormatError", new(macho.FormatError), retry.ClassPermanent},
	{"debug/pe.FormatError", new(pe.FormatError), retry.ClassPermanent},
	{"debug/plan9obj.ErrNoSymbols", plan9obj.ErrNoSymbols, retry.ClassUnknown},
	{"encoding/ascii85.CorruptInputError", ascii85.CorruptInputError(1), retry.ClassPermanent},
	{"encoding/asn1.StructuralError", asn1.StructuralError{Msg: "x"}, retry.ClassPermanent},
	{"encoding/asn1.SyntaxError", asn1.SyntaxError{Msg: "x"}, retry.ClassPermanent},
	{"encoding/base32.CorruptInputError", base32.CorruptInputError(1), retry.ClassPermanent},
	{"encoding/base64.CorruptInputError", base64.CorruptInputError(1), retry.ClassPermanent},
	{"encoding/csv.ErrBareQuote", csv.ErrBareQuote, retry.ClassUnknown},
	{"encoding/csv.ErrFieldCount", csv.ErrFieldCount, retry.ClassUnknown},
	{"encoding/csv.ErrQuote", csv.ErrQuote, retry.ClassUnknown},
	{"encoding/csv.ErrTrailingComma", csv.ErrTrailingComma, retry.ClassUnknown},
	{"encoding/csv.ParseError", &csv.ParseError{Err: csv.ErrQuote}, retry.ClassPermanent},
	{"encoding/hex.ErrLength", hex.ErrLength, retry.ClassPermanent},
	{"encoding/hex.InvalidByteError", hex.InvalidByteError(1), retry.ClassPermanent},
	{"encoding/json.InvalidUTF8Error", &json.InvalidUTF8Error{}, retry.ClassPermanent},
	{"encoding/json.InvalidUnmarshalError", &json.InvalidUnmarshalError{}, retry.ClassPermanent},
	{"encoding/json.MarshalerError", &json.MarshalerError{Type: reflect.TypeFor[int](), Err: errors.New("x")}, retry.ClassPermanent},
	{"encoding/json.SyntaxError", json.Unmarshal([]byte("{"), new(int)), retry.ClassPermanent},
	{"encoding/json.UnmarshalFieldError", &json.UnmarshalFieldError{Key: "k", Type: reflect.TypeFor[int]()}, retry.ClassPermanent},
	{"encoding/json.UnmarshalTypeError", json.Unmarshal([]byte(`"x"`), new(int)), retry.ClassPermanent},
	{"encoding/json.UnsupportedTypeError", &json.UnsupportedTypeError{Type: reflect.TypeFor[int]()}, retry.ClassPermanent},
	{"encoding/json.UnsupportedValueError", &json.UnsupportedValueError{}, retry.ClassPermanent},
	{"encoding/xml.SyntaxError", &xml.SyntaxError{}, retry.ClassPermanent},
	{"encoding/xml.TagPathError", &xml.TagPathError{Struct: reflect.TypeFor[int]()}, retry.ClassPermanent},
	{"encoding/xml.UnmarshalError", xml.UnmarshalError("x"), retry.ClassPermanent},
	{"encoding/xml.UnsupportedTypeError", &xml.UnsupportedTypeError{Type: reflect.TypeFor[int]()}, retry.ClassPermanent},
	{"errors.ErrUnsupported", errors.ErrUnsupported, retry.ClassPermanent},
	{"flag.ErrHelp", flag.ErrHelp, retry.ClassPermanent},
	{"go/build.MultiplePackageError", &build.MultiplePackageError{Packages: []string{"a", "b"}, Files: []string{"a", "b"}}, retry.ClassPermanent},
	{"go/build.NoGoError", &build.NoGoError{}, retry.ClassPermanent},
	{"go/build/constraint.SyntaxError", &constraint.SyntaxError{}, retry.ClassPermanent},
	{"go/scanner.Error", scanner.Error{}, retry.ClassPermanent},
	{"go/scanner.ErrorList", scanner.ErrorList{{}}, retry.ClassPermanent},
	{"go/types.ArgumentError", &types.ArgumentError{Err: errors.New("x")}, retry.ClassPermanent},
	{"go/types.Error", types.Error{}, retry.ClassPermanent},
	{"html/template.Error", &htemplate.Error{}, retry.ClassPermanent},
	{"image.ErrFormat", image.ErrFormat, retry.ClassPermanent},
	{"image/jpeg.FormatError", jpeg.FormatError("x"), retry.ClassPermanent},
	{"image/jpeg.UnsupportedError", jpeg.UnsupportedError("x"), retry.ClassPermanent},
	{"image/png.FormatError", png.FormatError("x"), retry.ClassPermanent},
	{"image/png.UnsupportedError", png.UnsupportedError("x"), retry.ClassPermanent},
	{"io.EOF", io.EOF, retry.ClassTransient},
	{"io.ErrClosedPipe", io.ErrClosedPipe, retry.ClassUnknown}, // the other end may have failed
	{"io.ErrNoProgress", io.ErrNoProgress, retry.ClassUnknown}, // broken reader
	{"io.ErrShortBuffer", io.ErrShortBuffer, retry.ClassUnknown},
	{"io.ErrShortWrite", io.ErrShortWrite, retry.ClassUnknown}, // broken writer
	{"io.ErrUnexpectedEOF", io.ErrUnexpectedEOF, retry.ClassTransient},
	{"io/fs.ErrClosed", fs.ErrClosed, retry.ClassPermanent},
	{"io/fs.ErrExist", fs.ErrExist, retry.ClassPermanent},
	{"io/fs.ErrInvalid", fs.ErrInvalid, retry.ClassPermanent},
	{"io/fs.ErrNotExist", fs.ErrNotExist, retry.ClassPermanent},
	{"io/fs.ErrPermission", fs.ErrPermission, retry.ClassPermanent},
	{"io/fs.PathError", &fs.PathError{Op: "open", Path: "x", Err: syscall.EISDIR}, retry.ClassPermanent},
	{"io/fs.SkipAll", fs.SkipAll, retry.ClassUnknown}, // signal
	{"io/fs.SkipDir", fs.SkipDir, retry.ClassUnknown}, // signal
	{"math/big.ErrNaN", big.ErrNaN{}, retry.ClassPermanent},
	{"mime.ErrInvalidMediaParameter", mime.ErrInvalidMediaParameter, retry.ClassPermanent},
	{"mime/multipart.ErrMessageTooLarge", multipart.ErrMessageTooLarge, retry.ClassPermanent},
	{"net.AddrError", &net.AddrError{Err: "x"}, retry.ClassPermanent},
	{"net.DNSConfigError", &net.DNSConfigError{Err: errors.New("x")}, retry.ClassUnknown}, // deprecated
	{"net.DNSError", &net.DNSError{Err: "server misbehaving", IsTemporary: true}, retry.ClassTransient},
	{"net.ErrClosed", net.ErrClosed, retry.ClassUnknown}, // closed elsewhere; a new connection helps
	{"net.ErrWriteToConnected", net.ErrWriteToConnected, retry.ClassUnknown},
	{"net.InvalidAddrError", net.InvalidAddrError("x"), retry.ClassPermanent},
	{"net.OpError", &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, retry.ClassTransient}, // decided by what it wraps
	{"net.ParseError", &net.ParseError{Type: "IP address", Text: "x"}, retry.ClassPermanent},
	{"net.UnknownNetworkError", net.UnknownNetworkError("x"), retry.ClassPermanent},
	{"net/http.ErrAbortHandler", http.ErrAbortHandler, retry.ClassUnknown}, // signal
	{"net/http.ErrBodyNotAllowed", http.ErrBodyNotAllowed, retry.ClassPermanent},
	{"net/http.ErrBodyReadAfterClose", http.ErrBodyReadAfterClose, retry.ClassPermanent},
	{"net/http.ErrContentLength", http.ErrContentLength, retry.ClassPermanent},
	{"net/http.ErrHandlerTimeout", http.ErrHandlerTimeout, retry.ClassPermanent},
	{"net/http.ErrHeaderTooLong", http.ErrHeaderTooLong, retry.ClassPermanent},
	{"net/http.ErrHijacked", http.ErrHijacked, retry.ClassPermanent},
	{"net/http.ErrLineTooLong", http.ErrLineTooLong, retry.ClassUnknown},
	{"net/http.ErrMissingBoundary", http.ErrMissingBoundary, retry.ClassPermanent},
	{"net/http.ErrMissingContentLength", http.ErrMissingContentLength, retry.ClassPermanent},
	{"net/http.ErrMissingFile", http.ErrMissingFile, retry.ClassPermanent},
	{"net/http.ErrNoCookie", http.ErrNoCookie, retry.ClassPermanent},
	{"net/http.ErrNoLocation", http.ErrNoLocation, retry.ClassPermanent},
	{"net/http.ErrNotMultipart", http.ErrNotMultipart, retry.ClassPermanent},
	{"net/http.ErrNotSupported", http.ErrNotSupported, retry.ClassPermanent},
	{"net/http.ErrSchemeMismatch", http.ErrSchemeMismatch, retry.ClassPermanent},
	{"net/http.ErrServerClosed", http.ErrServerClosed, retry.ClassPermanent},
	{"net/http.ErrShortBody", http.ErrShortBody, retry.ClassPermanent},
	{"net/http.ErrSkipAltProtocol", http.ErrSkipAltProtocol, retry.ClassUnknown}, // signal
	{"net/http.ErrUnexpectedTrailer", http.ErrUnexpectedTrailer, retry.ClassPermanent},
	{"net/http.ErrUseLastResponse", http.ErrUseLastResponse, retry.ClassUnknown}, // signal
	{"net/http.MaxBytesError", &http.MaxBytesError{}, retry.ClassPermanent},
	{"net/http.ProtocolError", &http.ProtocolError{}, retry.ClassPermanent},
	{"net/http/fcgi.ErrConnClosed", fcgi.ErrConnClosed, retry.ClassUnknown},
	{"net/http/fcgi.ErrRequestAborted", fcgi.ErrRequestAborted, retry.ClassPermanent},
	{"net/http/httputil.ErrClosed", httputil.ErrClosed, retry.ClassPermanent},
	{"net/http/httputil.ErrLineTooLong", httputil.ErrLineTooLong, retry.ClassUnknown},
	{"net/http/httputil.ErrPipeline", httputil.ErrPipeline, retry.ClassPermanent},
	{"net/mail.ErrHeaderNotPresent", mail.ErrHeaderNotPresent, retry.ClassPermanent},
	{"net/rpc.ErrShutdown", rpc.ErrShutdown, retry.ClassUnknown},      // connection closed: dial again
	{"net/rpc.ServerError", rpc.ServerError("x"), retry.ClassUnknown}, // what the server's method returned
	{"net/textproto.Error", &textproto.Error{Code: 550}, retry.ClassPermanent},
	{"net/textproto.ProtocolError", textproto.ProtocolError("short response: x"), retry.ClassUnknown}, // malformed response
	{"net/url.Error", &url.Error{Op: "Get", Err: syscall.ECONNREFUSED}, retry.ClassTransient},         // decided by what it wraps
	{"net/url.EscapeError", url.EscapeError("x"), retry.ClassPermanent},
	{"net/url.InvalidHostError", url.InvalidHostError("x"), retry.ClassPermanent},
	{"os.ErrClosed", os.ErrClosed, retry.ClassPermanent},
	{"os.ErrDeadlineExceeded", os.ErrDeadlineExceeded, retry.ClassTimeout},
	{"os.ErrExist", os.ErrExist, retry.ClassPermanent},
	{"os.ErrInvalid", os.ErrInvalid, retry.ClassPermanent},
	{"os.ErrNoDeadline", os.ErrNoDeadline, retry.ClassUnknown},
	{"os.ErrNoHandle", os.ErrNoHandle, retry.ClassPermanent},
	{"os.ErrNotExist", os.ErrNotExist, retry.ClassPermanent},
	{"os.ErrPermission", os.ErrPermission, retry.ClassPermanent},
	{"os.ErrProcessDone", os.ErrProcessDone, retry.ClassPermanent},
	{"os.LinkError", &os.LinkError{Op: "link", Err: syscall.EEXIST}, retry.ClassPermanent},
	{"os.PathError", &os.PathError{Op: "open", Err: syscall.ENOENT}, retry.ClassPermanent},
	{"os.SyscallError", os.NewSyscallError("read", syscall.ECONNRESET), retry.ClassTransient},
	{"os/exec.ErrDot", exec.ErrDot, retry.ClassUnknown},
	{"os/exec.ErrNotFound", exec.ErrNotFound, retry.ClassPermanent},
	{"os/exec.Error", &exec.Error{Name: "x", Err: exec.ErrNotFound}, retry.ClassPermanent},
	{"os/exec.ExitError", &exec.ExitError{ProcessState: new(os.ProcessState)}, retry.ClassUnknown}, // the program decides
	{"os/user.UnknownGroupError", user.UnknownGroupError("x"), retry.ClassPermanent},
	{"os/user.UnknownGroupIdError", user.UnknownGroupIdError("x"), retry.ClassPermanent},
	{"os/user.UnknownUserError", user.UnknownUserError("x"), retry.ClassPermanent},
	{"os/user.UnknownUserIdError", user.UnknownUserIdError(1), retry.ClassPermanent},
	{"path.ErrBadPattern", path.ErrBadPattern, retry.ClassUnknown},
	{"path/filepath.ErrBadPattern", filepath.ErrBadPattern, retry.ClassUnknown},
	{"path/filepath.SkipAll", filepath.SkipAll, retry.ClassUnknown},              // signal
	{"path/filepath.SkipDir", filepath.SkipDir, retry.ClassUnknown},              // signal
	{"reflect.ValueError", &reflect.ValueError{Method: "x"}, retry.ClassUnknown}, // panic: queues retry them
	{"regexp/syntax.Error", &syntax.Error{}, retry.ClassPermanent},
	{"runtime.PanicNilError", new(runtime.PanicNilError), retry.ClassUnknown},           // panic
	{"runtime.TypeAssertionError", new(runtime.TypeAssertionError), retry.ClassUnknown}, // panic
	{"strconv.ErrRange", strconv.ErrRange, retry.ClassUnknown},
	{"strconv.ErrSyntax", strconv.ErrSyntax, retry.ClassUnknown},
	{"strconv.NumError", &strconv.NumError{Err: strconv.ErrSyntax}, retry.ClassPermanent},
	{"syscall.Errno", syscall.ECONNREFUSED, retry.ClassTransient},                   // decided by its number
	{"testing/iotest.ErrTimeout", iotest.ErrTimeout, retry.ClassUnknown},            // of tests
	{"testing/quick.CheckEqualError", &quick.CheckEqualError{}, retry.ClassUnknown}, // of tests
	{"testing/quick.CheckError", &quick.CheckError{}, retry.ClassUnknown},           // of tests
	{"testing/quick.SetupError", quick.SetupError("x"), retry.ClassUnknown},         // of tests
	{"text/template.ExecError", ttemplate.ExecError{Err: errors.New("x")}, retry.ClassPermanent},
	{"time.ParseError", &time.ParseError{}, retry.ClassPermanent},
}

func TestStandardLibrary(t *testing.T) { check(t, libraryErrors) }

// TestWaitDelay: a program that has succeeded is not run again.
func TestWaitDelay(t *testing.T) {
	assert.Equal(t, retry.Verdict{Class: retry.ClassTransient, Unrepeatable: true}, Classifier{}.Classify(exec.ErrWaitDelay))
}

func TestStandardFields(t *testing.T) {
	type acmeError struct {
		StatusCode  int
		ProblemType string
		error
	}
	type orderError struct {
		OrderURL, Status string
		error
	}
	type channelError struct {
		Reason uint32
		error
	}
	const acme, order, channel = "golang.org/x/crypto/acme.Error", "golang.org/x/crypto/acme.OrderError", "golang.org/x/crypto/ssh.OpenChannelError"
	checkForeign(t, []foreignCase{
		{acme, acmeError{StatusCode: 400, ProblemType: "urn:ietf:params:acme:error:badNonce"}, transient},
		{acme, acmeError{StatusCode: 403, ProblemType: "urn:ietf:params:acme:error:rateLimited"}, throttled},
		{acme, acmeError{StatusCode: 403, ProblemType: "urn:ietf:params:acme:error:unauthorized"}, permanent},
		{order, orderError{Status: "invalid"}, permanent},
		{order, orderError{Status: "processing"}, none},
		{channel, channelError{Reason: 1}, permanent},
		{channel, channelError{Reason: 2}, transient},
	})
	check(t, []errorCase{
		{"handshake failure", tls.AlertError(40), retry.ClassPermanent},
		{"internal error", tls.AlertError(80), retry.ClassTransient},
		{"checksum", bzip2.StructuralError("block checksum mismatch"), retry.ClassTransient},
	})
}
