// Package recipes contains the code that docs/recipes.md explains. Its tests run that
// code and package adapt with the real libraries.
package recipes
