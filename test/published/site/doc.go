// Package site tests the site of the documentation, which .ci/site writes.
package site
