package dropped

import (
	"os"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

func parses() retry.Policy {
	p, _ := retryconfig.Parse(os.Getenv("RETRY")) // want `nothing looks at the error of retryconfig.Parse`
	q, _ := retryconfig.Parse("full base=1s cap=10s")
	if os.Getenv("RETRY") == "" {
		return q
	}
	return p
}
