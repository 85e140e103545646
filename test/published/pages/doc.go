// Package pages tests that the Go code and the commands in the documentation work.
package pages
