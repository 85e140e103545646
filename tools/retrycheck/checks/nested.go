package checks

import (
	"go/ast"
	"go/types"
	"regexp"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// retrying matches the types whose methods retry by themselves, as nameOf writes them.
var retrying = regexp.MustCompile(`^(` +
	`github\.com/aws/aws-sdk-go(-v2)?/service/[a-z0-9]+(/[a-z0-9]+iface)?\.[A-Za-z0-9]+` +
	`|github\.com/hashicorp/go-retryablehttp\.Client` +
	`|github\.com/hashicorp/vault/api\.(Client|Logical|KVv1|KVv2|Auth|Sys|TokenAuth)` +
	`|github\.com/hashicorp/go-tfe\.[A-Za-z]+` +
	`|gitlab\.com/gitlab-org/api/client-go\.[A-Za-z]+(Service|Interface)` +
	`|cloud\.google\.com/go/[a-z0-9/]+\.[A-Za-z]*(Client|Handle)` +
	`|github\.com/Azure/azure-sdk-for-go/sdk/[a-z0-9/]+\.[A-Za-z]*Client` +
	`|github\.com/openai/openai-go(/[a-z]+)?\.[A-Za-z]+Service` +
	`|github\.com/anthropics/anthropic-sdk-go\.[A-Za-z]+Service` +
	`|github\.com/stripe/stripe-go/[a-z/]+\.Client` +
	`|github\.com/redis/go-redis\.(Client|ClusterClient|UniversalClient|Cmdable)` +
	`|github\.com/digitalocean/godo\.[A-Za-z]+Service` +
	`)$`)

// single matches the settings that turn such retries off or change them.
var single = regexp.MustCompile(`^(With)?(Nop)?(RetryMax|RetryMaxAttempts|MaxRetries|Retryer|NopRetryer|RetryOptions|SetRetry|Retries)$`)

// Nested reports retries around calls that already retry, so that attempts multiply.
var Nested = analyzer("nested", "report retries around clients that retry by themselves", func(p *pass) {
	if p.setsRetries() {
		return
	}
	for _, call := range p.calls {
		if call.kind&retries == 0 || !call.op.Valid() {
			continue
		}
		for c := range call.op.Preorder((*ast.CallExpr)(nil)) {
			if what := p.retriesItself(c); what != "" {
				p.report(c, "%s already retries: %s around it multiplies the attempts (turn off one of the two)", what, shortName(call.name))
				break
			}
		}
	}
})

func (p *pass) setsRetries() bool {
	for c := range p.root.Preorder((*ast.Ident)(nil)) {
		if single.MatchString(c.Node().(*ast.Ident).Name) {
			return true
		}
	}
	return false
}

func (p *pass) retriesItself(c inspector.Cursor) string {
	call := c.Node().(*ast.CallExpr)
	if kinds[p.callee(call)]&retries != 0 {
		return shortName(p.callee(call))
	}
	fn, ok := typeutil.Callee(p.info, call).(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return ""
	}
	results := fn.Signature().Results()
	if results.Len() == 0 || !isError(results.At(results.Len()-1).Type()) {
		return ""
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if name := typeName(p.info.TypeOf(sel.X)); retrying.MatchString(name) {
		return shortName(name)
	}
	return ""
}
