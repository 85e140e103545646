// Package labpage tests the pages of the lab in headless Chromium. It is a separate module,
// so that the lab does not require a browser driver.
package labpage
