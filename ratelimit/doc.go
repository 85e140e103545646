// Package ratelimit reads what the responses of a server say about its limits.
package ratelimit
