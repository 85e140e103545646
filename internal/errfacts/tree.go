package errfacts

import "reflect"

// An outcome is what can only be said about an error as a whole: in a tree, it depends on what
// the other branches say.
type outcome struct {
	canceled bool // the caller canceled the operation
	unsent   bool // nothing of the request was sent
}

// A tree is an error that wraps several others, while a [Walk] visits them.
//
// In a fan-out, each branch is the error of an operation of its own. The first failure cancels the
// other operations, so the tree is a cancellation only if all branches are. A pair is one error
// and its reason, such as fmt.Errorf("%w: %w", ErrShard, ctx.Err()), so it is a cancellation if
// one of its branches is. Either may be about several requests, so nothing was sent only if all
// branches say so.
type tree struct {
	fanOut   bool
	rest     int     // the errors that are left to visit after the tree
	above    outcome // what the errors around it say
	branches outcome // what its branches so far say
}

// isFanOut reports whether a tree is a fan-out. Only fmt.Errorf and this module make pairs;
// errors.Join and the trees of other packages collect errors.
func isFanOut(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() != "fmt" && t.PkgPath() != "github.com/gobackoff/retry"
}

// open begins a tree, whose branches are visited next.
func (w *Walk) open(fanOut bool) {
	w.trees = append(w.trees, tree{
		fanOut: fanOut, rest: len(w.rest), above: w.said,
		branches: outcome{canceled: fanOut, unsent: true},
	})
	w.said = outcome{}
}

// close ends the current branch, and the trees of which it is the last one.
func (w *Walk) close() {
	for len(w.trees) > 0 {
		last := len(w.trees) - 1
		t := &w.trees[last]
		t.add(w.said)
		if len(w.rest) > t.rest { // it has more branches
			w.said = outcome{}
			return
		}
		w.said = outcome{
			canceled: t.above.canceled || t.branches.canceled,
			unsent:   t.above.unsent || t.branches.unsent,
		}
		w.trees = w.trees[:last]
	}
}

// add adds what a branch says.
func (t *tree) add(branch outcome) {
	t.branches.unsent = t.branches.unsent && branch.unsent
	if t.fanOut {
		t.branches.canceled = t.branches.canceled && branch.canceled
		return
	}
	t.branches.canceled = t.branches.canceled || branch.canceled
}
