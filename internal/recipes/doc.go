// Package recipes has the code that docs/recipes.md explains. Its tests run that code,
// and package adapt, with the real libraries. It is a separate module because of its
// dependencies.
package recipes
