// Package labpage tests the pages of the lab in headless Chromium.
package labpage
