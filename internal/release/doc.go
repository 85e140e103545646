// Package release tests .ci/release, which tags the modules of a release. A module
// proxy serves the tags, and each module is used from outside this repository.
package release
