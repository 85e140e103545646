module github.com/gobackoff/retry/lab

go 1.26.0

require (
	github.com/gobackoff/retry v0.0.0
	gonum.org/v1/gonum v0.17.0
)

replace github.com/gobackoff/retry => ../
