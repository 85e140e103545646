package known

// Files, processes, Git, browsers, locks and circuit breakers.

var localTexts = []textRow{
	// afero 1.15.0, afero.go; fsnotify 1.10.1, fsnotify.go.
	{permanent, "File is closed"},
	{permanent, "fsnotify: watcher already closed"},
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
	{permanent, "remote not found"},
	{permanent, "remote repository is empty"},
	{permanent, "unable to resolve commit"},
	// gopsutil 4.26, process.go; hashicorp/go-plugin 1.8.0, client.go.
	{permanent, "process does not exist"},
	{permanent, "reattachment process not found"},
	{permanent, "checksums did not match"},
}

var localTypes = []typeRow{}

var localFields = []fieldRow{
	// chromedp/cdproto: JSON-RPC 2.0, and URLs that the browser does not accept. Nodes and
	// contexts that it does not find may appear later.
	{permanent, "github.com/chromedp/cdproto.Error", "Code", "-32700|-32600|-32601|-32602"},
	{permanent, "github.com/chromedp/cdproto.Error", "Message", "Cannot navigate to invalid URL"},
}
