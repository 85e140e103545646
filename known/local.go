package known

import (
	"slices"
	"strings"
)

// Files, processes, Git, browsers, locks and circuit breakers.

var localTexts = []textRow{
	// afero 1.15.0, afero.go; fsnotify 1.10.1, fsnotify.go.
	{permanent, "fsnotify: can't remove non-existent watch"},
	// go-git 5.19.3: the repository, the worktree or the history has to change first.
	{permanent, "already up-to-date"},
	{permanent, "non-fast-forward update"},
	{permanent, "not possible to fast-forward merge changes"},
	{permanent, "some refs were not updated"},
	{permanent, "worktree is not clean"},
	{permanent, "worktree contains unstaged changes"},
	{permanent, "worktree not available in a bare repository"},
	{permanent, "cannot create empty commit: clean working tree"},
	{permanent, "unable to resolve commit"},
	// go-git 5.19.3 and go-billy 5.9.2.
	{permanent, `
		glob pattern did not match any files
		submodule not initialized
		reference path is a directory
		chroot boundary crossed
		read-only filesystem
		base dir cannot be removed
		base dir cannot be renamed`},
	// go-ethereum 1.17.10, core/error.go, core/txpool/errors.go and core/vm/errors.go: what is
	// wrong with the transaction itself. Nonces and fees that are too high or too low for this
	// block may fit a later one.
	{permanent, transactionFaults},
	{permanent, `
		no contract code after deployment
		subscription not found`},
	// gopsutil 4.26, process.go; hashicorp/go-plugin 1.8.0, client.go.
	{permanent, "checksums did not match"},
}

const transactionFaults = `
		nonce too low
		nonce has max value
		max priority fee per gas higher than *
		max fee per gas higher than *
		transaction underpriced
		replacement transaction underpriced
		transaction gas price below minimum
		transaction gas limit too high
		insufficient gas for floor data gas cost
		exceeds block gas limit
		execution reverted*
		out of gas
		blob transaction missing blob hashes
		blob transaction of type create`

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
	// go-ethereum 1.17.10, rpc/json.go and rpc/errors.go: a call that reverts, and the texts above
	// with details. EIP-1474: -32005 is a limit.
	{permanent, "github.com/ethereum/go-ethereum/rpc.jsonError", "Code", "3"},
	{throttled, "github.com/ethereum/go-ethereum/rpc.jsonError", "Code", "-32005|429"},
	{permanent, "github.com/ethereum/go-ethereum/rpc.jsonError", "Message", beginnings(transactionFaults)},
}

// beginnings returns the values for a fieldRow about texts that begin like those of a textRow.
func beginnings(texts string) string {
	return strings.Join(slices.Collect(textRow{texts: texts}.all()), "*|") + "*"
}
