package newtarget

import "github.com/gobackoff/retry"

type notFound struct{ id int }

func (*notFound) Error() string { return "not found" }

var policy = retry.Policy{Classifier: retry.PermanentIf(&notFound{})} // mistake
