package checks

import (
	"go/ast"
	"strings"
)

const (
	forGRPC    = ours + "/retrygrpc."
	grpcOption = forGRPC + "WithPolicy"
)

var connects = names(`google\.golang\.org/grpc\.(NewClient|Dial|DialContext)`)

// reportPlainConnections reports WithPolicy for calls on connections that the package makes
// without the options of retrygrpc, so that nothing reads the policy.
func (p *pass) reportPlainConnections() {
	for id := range p.root.Preorder((*ast.Ident)(nil)) {
		name := objectName(p.info.Uses[id.Node().(*ast.Ident)])
		if strings.HasPrefix(name, forGRPC) && name != grpcOption {
			return
		}
	}
	connections := 0
	for _, c := range p.calls {
		if !connects.MatchString(c.name) {
			continue
		}
		connections++
		for _, arg := range c.Args {
			isText := p.info.Types[arg].Value != nil || p.info.TypeOf(arg).String() == "string"
			if !isText && !isContext(p.info.TypeOf(arg)) && !strings.HasPrefix(p.callee(arg), "google.golang.org/grpc.") {
				return // options from elsewhere
			}
		}
	}
	for _, c := range p.calls {
		if c.name == grpcOption && connections > 0 {
			p.report(c.Cursor, "WithPolicy has no effect on a connection without the options of retrygrpc: make the connection with retrygrpc.DialOptions")
		}
	}
}
