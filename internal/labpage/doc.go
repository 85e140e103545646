// Package labpage tests the pages of the lab, its report and its playground, in headless
// Chromium. It is a separate module, so that the lab does not require a browser's driver.
package labpage
