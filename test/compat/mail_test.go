package compat

import (
	"bufio"
	"fmt"
	"net"
	"net/smtp"
	"strings"
	"testing"
	"time"

	gosmtp "github.com/emersion/go-smtp"
	"github.com/go-ldap/ldap/v3"
	"github.com/jlaffaye/ftp"
	"github.com/pkg/sftp"
	"github.com/stretchr/testify/require"
	"github.com/wneessen/go-mail"
)

// serveLines starts a server for a protocol of lines, such as SMTP and FTP. It greets with
// greeting and responds to each line with what respond returns.
func serveLines(t *testing.T, greeting string, respond func(line string) string) (host string, port int) {
	t.Helper()
	address := listen(t, func(conn net.Conn) {
		fmt.Fprintf(conn, "%s\r\n", greeting)
		in := bufio.NewScanner(conn)
		for in.Scan() {
			if _, err := fmt.Fprintf(conn, "%s\r\n", respond(in.Text())); err != nil {
				return
			}
		}
	})
	return address.IP.String(), address.Port
}

// refusing returns the responses of an SMTP server that refuses a recipient with the status
// in its name.
func refusing(line string) string {
	if _, name, found := strings.Cut(line, "RCPT TO:<status"); found {
		return name[:3] + " no"
	}
	return "250 ok"
}

func smtpFaults(t *testing.T) []fault {
	host, port := serveLines(t, "220 ready", refusing)
	address := fmt.Sprint(host, ":", port)
	var faults []fault
	for _, status := range []struct {
		code  string
		fault fault
	}{
		{"421", fault{class: transient}},
		{"450", fault{class: transient}},
		{"451", fault{class: transient}},
		{"452", fault{class: transient}},
		{"550", fault{class: permanent}},
		{"552", fault{class: permanent}},
		{"554", fault{class: permanent}},
	} {
		to := "status" + status.code + "@host"
		f := status.fault
		f.name, f.err = "net/smtp "+status.code, smtp.SendMail(address, nil, "from@host", []string{to}, []byte("text"))
		faults = append(faults, f)
		client, err := gosmtp.Dial(address)
		require.NoError(t, err)
		f.name, f.err = "go-smtp "+status.code, client.SendMail("from@host", []string{to}, strings.NewReader("text"))
		faults = append(faults, f)
		f.name, f.err = "go-mail "+status.code, sendMail(t, host, port, to)
		faults = append(faults, f)
	}
	return faults
}

func sendMail(t *testing.T, host string, port int, to string) error {
	t.Helper()
	message := mail.NewMsg()
	require.NoError(t, message.From("from@host.test"))
	require.NoError(t, message.To(to+".test"))
	message.SetBodyString(mail.TypeTextPlain, "text")
	client, err := mail.NewClient(host, mail.WithPort(port), mail.WithTLSPolicy(mail.NoTLS), mail.WithTimeout(10*time.Second), mail.WithoutNoop())
	require.NoError(t, err)
	return client.DialAndSendWithContext(t.Context(), message)
}

func ftpFaults(t *testing.T) []fault {
	host, port := serveLines(t, "220 ready", func(line string) string {
		switch verb, rest, _ := strings.Cut(line, " "); verb {
		case "USER":
			return "230 ok"
		case "DELE":
			return rest + " no"
		case "FEAT":
			return "500 no"
		}
		return "200 ok"
	})
	conn, err := ftp.Dial(fmt.Sprint(host, ":", port))
	require.NoError(t, err)
	require.NoError(t, conn.Login("user", "password"))
	return []fault{
		{name: "421 service not available", err: conn.Delete("421"), class: transient},
		{name: "450 file unavailable", err: conn.Delete("450"), class: transient},
		{name: "550 no such file", err: conn.Delete("550"), class: permanent},
	}
}

func ldapFaults(*testing.T) []fault {
	code := func(code uint16) error { return ldap.NewError(code, fmt.Errorf("no")) }
	return []fault{
		{name: "51 busy", err: code(ldap.LDAPResultBusy), class: transient},
		{name: "52 unavailable", err: code(ldap.LDAPResultUnavailable), class: transient},
		{name: "200 network error", err: code(ldap.ErrorNetwork), class: transient},
		{name: "3 time limit exceeded", err: code(ldap.LDAPResultTimeLimitExceeded), class: timeout},
		{name: "32 no such object", err: code(ldap.LDAPResultNoSuchObject), class: permanent},
		{name: "49 invalid credentials", err: code(ldap.LDAPResultInvalidCredentials), class: permanent},
		{name: "50 insufficient access rights", err: code(ldap.LDAPResultInsufficientAccessRights), class: permanent},
		{name: "68 entry already exists", err: code(ldap.LDAPResultEntryAlreadyExists), class: permanent},
	}
}

func sftpFaults(*testing.T) []fault {
	code := func(code uint32) error { return &sftp.StatusError{Code: code} }
	return []fault{
		{name: "4 failure", err: code(4), class: transient},
		{name: "7 connection lost", err: code(7), class: transient},
		{name: "2 no such file", err: code(2), class: permanent},
		{name: "3 permission denied", err: code(3), class: permanent},
		{name: "8 operation unsupported", err: code(8), class: permanent},
	}
}
