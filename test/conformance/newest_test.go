package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const emptyPage = "# Page\n\n" + tableBegins + "| SDK | newest release | checked | result |\n|---|---|---|---|\n| other | 7 | long ago | differs |\n" + tableEnds + "\nThe end.\n"

// runNewestFake runs fake SDKs with -newest -update, and returns the exit status, the output
// and the table's rows.
func runNewestFake(t *testing.T, folder string, sdks ...sdk) (int, string, string) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(page, []byte(emptyPage), 0o644))
	var out bytes.Buffer
	r := &runner{sdks: sdks, folder: folder, page: page, stdout: &out, stderr: &out}
	status := r.run([]string{"-newest", "-update", "-cache", t.TempDir()})
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| other | 7 | long ago | differs |\n", "an SDK that has not run")
	assert.Contains(t, string(text), "\nThe end.\n")
	return status, out.String(), string(text)
}

// newestFake is a fake SDK with a driver that has a defect, and with a folder that contains
// the version.
func newestFake(t *testing.T, defect string) sdk {
	t.Helper()
	s := fakeSDK("aws-go-v2-standard-2.0")
	s.folder = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(s.folder, "version"), []byte("fake 0.9\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(s.folder, "newest.sh"), []byte("echo fake 1.0 >version && cat version"), 0o644))
	s.reports, s.driver = "fake 0.9", []string{"env", fakeEnv + "=" + defect, os.Args[0]}
	return current(s)
}

// recordedBy returns a folder with the recording of the fake SDK without a defect.
func recordedBy(t *testing.T, s sdk) string {
	t.Helper()
	folder := unanswered(t)
	s.reports, s.driver = "fake 1.0", []string{"env", fakeEnv + "=correct", os.Args[0]}
	status, out := runFake(t, folder, []sdk{s}, "-update")
	require.Zero(t, status, out)
	return folder
}

func TestNewest(t *testing.T) {
	today := time.Now().Format("2 January 2006")
	noNetwork := newestFake(t, "correct")
	noNetwork.newest = []string{"sh", "-c", "echo registry unreachable >&2; exit 1"}
	unfit := newestFake(t, "correct")
	unfit.install = []string{"sh", "-c", "exit 3"}
	for name, tt := range map[string]struct {
		sdk         sdk
		status      int
		says, table string
	}{
		"same behavior":           {newestFake(t, "correct"), 0, "fake: pinned fake 0.9, newest fake 1.0\n", "fake 1.0 | " + today + " | as the presets"},
		"another delay":           {newestFake(t, "waits 2 ns more"), statusDiffers, "mismatch: aws-go-v2-standard-2.0: ", "fake 1.0 | " + today + " | differs"},
		"cannot be downloaded":    {noNetwork, statusMissing, "registry unreachable\n", "fake 0.9 | " + today + " | could not be downloaded"},
		"driver fails":            {newestFake(t, "fails"), statusBroke, "driver error\n", "fake 1.0 | " + today + " | the suite broke"},
		"driver does not fit":     {unfit, statusBroke, "failed: exit status 3", "fake 1.0 | " + today + " | the suite broke"},
		"driver of other version": {newestFake(t, "other version"), statusBroke, `the SDK is "fake 2.0", not "fake 1.0"`, "fake 1.0 | " + today + " | the suite broke"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := recordedBy(t, newestFake(t, "correct"))
			before := recordingIn(t, folder, "aws-go-v2-standard-2.0")
			status, out, table := runNewestFake(t, folder, tt.sdk)
			assert.Equal(t, tt.status, status, out)
			assert.Contains(t, out, tt.says)
			assert.Contains(t, table, "| fake | "+tt.table+" |\n")
			pinned, err := os.ReadFile(filepath.Join(tt.sdk.folder, "version"))
			require.NoError(t, err)
			assert.Equal(t, "fake 0.9\n", string(pinned), "the pins are as before")
			assert.Equal(t, before, recordingIn(t, folder, "aws-go-v2-standard-2.0"), "the recordings are as before")
		})
	}
}

// TestNewestOthers: if one SDK cannot be downloaded, the others run, and it is named.
func TestNewestOthers(t *testing.T) {
	noNetwork, differs := newestFake(t, "correct"), newestFake(t, "tries once more")
	noNetwork.name, noNetwork.newest = "unreachable", []string{"sh", "-c", "exit 1"}
	status, out, table := runNewestFake(t, recordedBy(t, differs), noNetwork, differs, fakeSDK("aws-js-v2"))
	assert.Equal(t, statusDiffers, status)
	assert.Contains(t, out, "not compared: unreachable\n")
	assert.NotContains(t, out, "aws-js-v2", "an SDK of which an old release is meant")
	assert.Contains(t, table, "| unreachable |")
	assert.Contains(t, table, "| differs |")
}

func TestNoTable(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	assert.Error(t, writeResults(page, nil, time.Time{}))
	require.NoError(t, os.WriteFile(page, []byte("no table"), 0o644))
	assert.ErrorContains(t, writeResults(page, nil, time.Time{}), "has no table")
}
