package drophooks

import "github.com/gobackoff/retry"

func watched(p retry.Policy, metrics retry.Hooks) retry.Policy {
	p.Hooks = metrics // mistake
	return p
}
