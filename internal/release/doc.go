// Package release tests .ci/release, which tags the modules of a release. A module
// proxy serves the tags, and each module is used from there as a program outside
// this repository would use it.
package release
