// Package troubleshooting tests docs/troubleshooting.md: programs produce its texts and symptoms,
// and the lines that it gives mend them.
package troubleshooting
