module github.com/gobackoff/retry/retrygrpc

go 1.26.0

require (
	github.com/gobackoff/retry v0.0.0-20261129212114-9831c7eb7523
	github.com/stretchr/testify v1.8.4
	golang.org/x/net v0.22.0
	google.golang.org/genproto/googleapis/rpc v0.0.0-20240318140521-94a12d6c2237
	google.golang.org/grpc v1.64.0
	google.golang.org/protobuf v1.33.0
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	golang.org/x/sys v0.18.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/gobackoff/retry => ../
