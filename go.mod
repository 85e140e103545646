module github.com/gobackoff/retry

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	golang.org/x/exp v0.0.0-20260908205506-85c1c2202aba
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
