// Package recipes holds the programs of docs/recipes.md, and tests that drive them and
// package adapt with the libraries that they are for. It is a module of its own because of
// what it requires.
package recipes
