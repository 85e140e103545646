module example.com/mistakes

go 1.26.0

require github.com/gobackoff/retry v0.0.0

replace github.com/gobackoff/retry => ../../../..
