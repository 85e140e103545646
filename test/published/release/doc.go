// Package release tests .ci/release, which tags the modules of a release. The tests serve
// the tags from a module proxy and use each module from outside this repository.
package release
