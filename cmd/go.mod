module github.com/gobackoff/retry/cmd

go 1.26.0

require (
	github.com/creack/pty v1.1.24
	github.com/gobackoff/retry v0.0.0-20261129212114-9831c7eb7523
	github.com/lucasb-eyer/go-colorful v1.2.0
	github.com/schollz/progressbar/v3 v3.19.1
	github.com/spf13/pflag v1.0.10
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/mod v0.42.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	golang.org/x/tools v0.52.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/sync v0.24.0 // indirect
)

replace github.com/gobackoff/retry => ../
