package known

// Network protocols.

var protocolTexts = []textRow{
	// golang.org/x/crypto 0.58.0, ssh/client_auth.go: the server refused each method.
	{permanent, "ssh", `
		unable to authenticate, *
		host key mismatch`},
	// go-ldap 3.4.15, conn.go.
	{permanent, "ldap", "conn is nil, expected net.Conn"},
}

var protocolTypes = []typeRow{
	// miekg/dns 1.1.73, scan.go.
	{permanent, "github.com/miekg/dns.ParseError"},
}

var protocolFields = []fieldRow{
	// miekg/dns 1.1.73, msg.go: a message that cannot be packed. The rest are what servers send.
	{permanent, "github.com/miekg/dns.Error", "err", "domain *|bad rdata|bad key*|bad private key|bad algorithm|no secrets defined|buffer size too small"},
	// gopcua/opcua 0.8.0, ua/status_gen.go: requests, credentials and certificates that the
	// server refuses.
	{permanent, "github.com/gopcua/opcua/ua.StatusCode", "", "2148204544|2148663296|2148728832|2148925440|2148990976|2149056512|2149122048|2149187584|2149384192|2149449728|2149515264|2149580800|2149646336|2150825984|2150891520|2150957056|2151022592|2151284736|2151350272|2151415808|2151481344|2151677952|2152005632|2152988672|2153054208|2153644032|2153775104|2155085824|2155151360|2158690304"},
	{timeout, "github.com/gopcua/opcua/ua.StatusCode", "", "2148139008|2156199936"},
}
