module github.com/gobackoff/retry/vectors

go 1.26.0

require (
	github.com/gobackoff/retry v0.0.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/gobackoff/retry => ../
