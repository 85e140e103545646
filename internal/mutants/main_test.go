package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMutantsOf(t *testing.T) {
	all, err := mutantsOf("f.go", []byte(`package p

func f(a, b int) bool {
	a++
	println(a)
	return !(a < b) && true
}
`))
	require.NoError(t, err)
	var names []string
	for _, m := range all {
		names = append(names, m.name)
	}
	assert.ElementsMatch(t, []string{
		"f.go: f: a++ -> a--",
		"f.go: f: println(a) -> ",
		"f.go: f: return !(a < b) && true -> return !(a < b) || true",
		"f.go: f: return !(a < b) && true -> return (a < b) && true",
		"f.go: f: return !(a < b) && true -> return !(a <= b) && true",
		"f.go: f: return !(a < b) && true -> return !(a < b) && false",
	}, names)
}
