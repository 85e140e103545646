// Package recipes contains the code that docs/libraries.md and docs/batches.md explain. Its tests run that
// code and package adapt with the real libraries.
package recipes
