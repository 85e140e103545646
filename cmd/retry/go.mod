module github.com/gobackoff/retry/cmd/retry

go 1.26.0

require (
	github.com/gobackoff/retry v0.0.0
	github.com/spf13/pflag v1.0.10
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
)

replace github.com/gobackoff/retry => ../..
