// Package limiters registers limiters by name for the text form of a policy, because
// package retry cannot import the packages that implement them.
package limiters

import "sync"

// A Kind is a limiter with a name.
type Kind struct {
	Name string
	New  func() any     // a new limiter
	Is   func(any) bool // reports whether a limiter is of this kind
}

var kinds struct {
	sync.Mutex
	list []Kind
}

// Register adds a kind.
func Register(k Kind) {
	kinds.Lock()
	defer kinds.Unlock()
	kinds.list = append(kinds.list, k)
}

// All returns the registered kinds.
func All() []Kind {
	kinds.Lock()
	defer kinds.Unlock()
	return kinds.list[:len(kinds.list):len(kinds.list)]
}
