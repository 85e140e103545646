// Package release tests .ci/release, which tags the modules of a release: the
// tags are served by a module proxy, and each module is used from there as by a
// program that knows nothing of this repository.
package release
