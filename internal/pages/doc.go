// Package pages tests the documentation: every block of Go code on a page is compiled,
// and every command on a page works.
package pages
