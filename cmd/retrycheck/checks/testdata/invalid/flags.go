package invalid

import (
	"flag"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

func early(args []string) (retry.Policy, error) {
	flags := flag.NewFlagSet("copy", flag.ContinueOnError)
	text := flags.String("retry", "full attempts=3", "retry `policy`")
	policy, err := retryconfig.Parse(*text) // want `the flags are not parsed yet, so this is always the default of the flag: parse them first, or use flags.TextVar`
	if err != nil {
		return policy, err
	}
	return policy, flags.Parse(args)
}

func late(args []string) (retry.Policy, error) {
	flags := flag.NewFlagSet("copy", flag.ContinueOnError)
	text := flags.String("retry", "full attempts=3", "retry `policy`")
	if err := flags.Parse(args); err != nil {
		return retry.Policy{}, err
	}
	return retryconfig.Parse(*text)
}
