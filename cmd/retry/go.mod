module github.com/gobackoff/retry/cmd/retry

go 1.26.0

require (
	github.com/creack/pty v1.1.24
	github.com/gobackoff/retry v0.0.0
	github.com/spf13/pflag v1.0.10
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/gobackoff/retry => ../..
