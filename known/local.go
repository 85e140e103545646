package known

// Files, processes, Git, browsers, locks and circuit breakers.

var localTexts = []textRow{
	// fsnotify 1.10.1, fsnotify.go.
	{permanent, "fsnotify", "can't remove non-existent watch"},
}

var localTypes = []typeRow{
	// go-git 5.19.3, plumbing/error.go and remote.go.
	{permanent, "github.com/go-git/go-git/plumbing.PermanentError"},
	{permanent, "github.com/go-git/go-git.NoMatchingRefSpecError"},
	// open-policy-agent/opa 1.22.2: policies that do not compile, and inputs that do not fit.
	{permanent, "github.com/open-policy-agent/opa/ast.Errors"},
	{permanent, "github.com/open-policy-agent/opa/ast.Error"},
	{permanent, "github.com/open-policy-agent/opa/loader.Errors"},
}

var localFields = []fieldRow{
	// chromedp/cdproto: URLs that the browser does not accept. Nodes and contexts that it does
	// not find may appear later.
	{permanent, "github.com/chromedp/cdproto.Error", "Message", "Cannot navigate to invalid URL"},
	// go-ethereum 1.17.10, rpc/json.go and rpc/errors.go: a call that reverts. EIP-1474: -32005
	// is a limit. Refused transactions may fit a later block, and have the same code as others.
	{permanent, "github.com/ethereum/go-ethereum/rpc.jsonError", "Code", "3"},
	{throttled, "github.com/ethereum/go-ethereum/rpc.jsonError", "Code", "-32005|429"},
}
