package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeEnv is an environment variable that makes the test program a driver with the named
// defect.
const fakeEnv = "CONFORMANCE_FAKE_DRIVER"

func TestMain(m *testing.M) {
	if defect := os.Getenv(fakeEnv); defect != "" {
		os.Exit(fakeDriver(defect))
	}
	os.Exit(m.Run())
}

// fakeDriver is a driver with a defect. It runs the library instead of an SDK.
func fakeDriver(defect string) int {
	switch defect {
	case "fails":
		fmt.Fprintln(os.Stderr, "driver error")
		return 3
	case "invalid output":
		fmt.Println("no JSON")
		return 0
	}
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out := output{SDK: "fake 1.0", Unit: "ns"}
	for _, c := range in.Cases {
		calls, err := runCaseAt(in.Endpoint, cmp.Or(c.Endpoint, in.Endpoint), in.Mode, c)
		if err != nil {
			fmt.Fprintln(os.Stderr, c.id(), err)
			return 1
		}
		out.Cases = append(out.Cases, caseCalls{c.Name, calls})
	}
	falsify(defect, &out)
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return 1
	}
	return 0
}

// falsify adds a defect to a driver's output. It changes the first case that has two
// delays and, for "loses the message", also a scripted message.
func falsify(defect string, out *output) {
	switch defect {
	case "other version":
		out.SDK = "fake 2.0"
		return
	case "unknown unit":
		out.Unit = "mi"
		return
	case "forgets a case":
		out.Cases = out.Cases[1:]
		return
	case "forgets a call":
		out.Cases[0].Calls = nil
		return
	}
	for i := range out.Cases {
		o := &out.Cases[i].Calls[0]
		if len(o.Delays) != 2 || defect == "loses the message" && !scriptedMessage.MatchString(o.Error) {
			continue
		}
		switch defect {
		case "waits longer":
			o.Delays[1] += "0"
		case "waits 2 ns more":
			o.Delays[1] = json.Number(fmt.Sprint(mustFloat(o.Delays[1]) + 2))
		case "waits no second time":
			o.Delays = o.Delays[:1]
		case "tries once more":
			o.Attempts++
		case "other outcome":
			o.OK, o.Error = true, ""
		case "reports another failure":
			o.Error = "fault: scripted response 1"
		case "loses the message":
			o.Error = "fault"
		case "takes more of its quota":
			*o.Quota--
		case "loses its quota":
			o.Quota = nil
		}
		return
	}
}

func mustFloat(n json.Number) float64 {
	x, err := n.Float64()
	if err != nil {
		panic(err)
	}
	return x
}

// fakeSDK returns an SDK whose driver is the test program. The driver runs the cases of
// only two services, because every attempt needs a new connection.
func fakeSDK(modes ...string) sdk {
	return sdk{
		name: "fake", version: "1.0", reports: "fake 1.0", folder: ".", install: []string{"go", "version"}, driver: []string{os.Args[0]},
		without: regexp.MustCompile(`^(dynamodb|s3|sts) `), modes: modes,
	}
}

// runFake returns the exit status and the output.
func runFake(t *testing.T, folder string, sdks []sdk, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	r := &runner{sdks: sdks, folder: folder, stdout: &out, stderr: &out}
	status := r.run(append([]string{"-cache", t.TempDir()}, args...))
	return status, out.String()
}

// TestCorrectDriver: the run succeeds if the driver behaves like the policy and its
// recording.
func TestCorrectDriver(t *testing.T) {
	t.Setenv(fakeEnv, "correct")
	folder, sdks := unanswered(t), []sdk{fakeSDK("aws-go-v2-standard-2.1", "aws-java-v2-legacy")}

	status, out := runFake(t, folder, sdks)
	assert.Equal(t, 1, status, out)
	assert.Contains(t, out, `changed: aws-java-v2-legacy: the SDK was "" and is "fake 1.0"`)
	assert.Contains(t, out, "changed: aws-go-v2-standard-2.1: new case sqs ListQueues: 500 forever\n")
	assert.Contains(t, out, "an SDK differs from its recording; -update")
	assert.NotContains(t, out, "mismatch:")
	assert.Empty(t, recordingIn(t, folder, "aws-java-v2-legacy").Cases)

	status, out = runFake(t, folder, sdks, "-update")
	assert.Equal(t, 0, status, out)
	assert.Contains(t, out, "changed:")
	assert.NotEmpty(t, recordingIn(t, folder, "aws-java-v2-legacy").Cases)

	for _, args := range [][]string{nil, {"-need", "fake"}, {"-sdk", "fake"}} {
		status, out = runFake(t, folder, sdks, args...)
		assert.Equal(t, 0, status, out)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		require.Len(t, lines, 3, out)
		assert.Regexp(t, `^mode +SDK +cases +excluded +delays +mismatches +time$`, lines[0])
		assert.Regexp(t, fmt.Sprintf(`^aws-go-v2-standard-2.1 +fake 1.0 +%d +0 +\d{3,} +0 +[\d.]+s$`, len(sdks[0].cases(setOf(t, "aws-go-v2-standard-2.1")))), lines[1])
		assert.Regexp(t, `^aws-java-v2-legacy +fake 1.0 +\d{2,} +\d+ +\d{3,} +0 +[\d.]+s$`, lines[2])
	}
	status, out = runFake(t, folder, sdks, "-mode", "aws-java-v2-legacy")
	assert.Equal(t, 0, status, out)
	assert.NotContains(t, out, "aws-go-v2")
}

// TestDefectiveDriver: the run detects every difference between driver and policy.
func TestDefectiveDriver(t *testing.T) {
	for defect, complaint := range map[string]string{
		"waits longer":            `mismatch: .*: call 1: delays: the SDK \[\d+ \d+0\], the policy \[\d+ \d+\]`,
		"waits 2 ns more":         `mismatch: .*: call 1: delays: `,
		"waits no second time":    `mismatch: .*: call 1: delays: the SDK \[\d+\], the policy \[\d+ \d+\]`,
		"tries once more":         `mismatch: .*: call 1: attempts: the SDK \d, the policy \d`,
		"other outcome":           `mismatch: .*: call 1: ok: the SDK (true|false), the policy (true|false)`,
		"reports another failure": `mismatch: .*: call 1: error: the SDK scripted response 1, the policy `,
		"loses the message":       `mismatch: .*: call 1: error: the SDK another error, the policy .*scripted response \d`,
		"loses its quota":         `mismatch: .*: call 1: quota: the SDK none, the policy \d+`,
		"takes more of its quota": `mismatch: .*: call 1: quota: the SDK \d+, the policy \d+`,
		"unknown unit":            `failed: aws-go-v2-standard-2.0: the driver's output: unit "mi" is not s, ms or ns`,
		"other version":           `failed: aws-go-v2-standard-2.0: the driver's output: the SDK is "fake 2.0", not "fake 1.0"`,
		"forgets a case":          `failed: aws-go-v2-standard-2.0: the driver's output: the output has \d+ of \d+ cases`,
		"forgets a call":          `failed: aws-go-v2-standard-2.0: the driver's output: .*: the output has "500 forever" with 0 of 1 calls`,
		"invalid output":          `failed: aws-go-v2-standard-2.0: the driver's output: invalid character`,
		"fails":                   `failed: aws-go-v2-standard-2.0: the driver: exit status 3: driver error`,
	} {
		t.Run(defect, func(t *testing.T) {
			t.Parallel()
			s := fakeSDK("aws-go-v2-standard-2.0")
			s.driver = []string{"env", fakeEnv + "=" + defect, os.Args[0]}
			status, out := runFake(t, unanswered(t), []sdk{s}, "-update")
			assert.Equal(t, map[bool]int{true: statusDiffers, false: statusBroke}[strings.HasPrefix(complaint, "mismatch")], status)
			var complaints []string
			for line := range strings.Lines(out) {
				if strings.HasPrefix(line, "mismatch: ") || strings.HasPrefix(line, "failed: ") {
					complaints = append(complaints, line)
				}
			}
			require.Len(t, complaints, 1, out)
			assert.Regexp(t, complaint, complaints[0])
		})
	}
}

// TestSkipped: an SDK that cannot be installed makes the run fail only if the SDK is
// needed or is the only one.
func TestSkipped(t *testing.T) {
	t.Setenv(fakeEnv, "correct")
	folder, there, missing := unanswered(t), fakeSDK("aws-js-v2"), fakeSDK("aws-js-v2")
	missing.name, missing.install = "missing", []string{"go", "nonsense"}
	const line = "skipped missing 1.0: it could not be installed: exit status 2: go nonsense: unknown command"

	status, out := runFake(t, folder, []sdk{missing, there}, "-update")
	assert.Equal(t, 0, status, out)
	assert.Contains(t, out, line)
	assert.Contains(t, out, "not compared: missing\n")
	status, out = runFake(t, folder, []sdk{missing, there}, "-need", "missing")
	assert.Equal(t, statusMissing, status, out)
	status, out = runFake(t, folder, []sdk{missing})
	assert.Equal(t, statusMissing, status, out)
	assert.Contains(t, out, line)
	assert.Contains(t, out, "no mode was compared")
}

func TestInstalledOnce(t *testing.T) {
	cache := t.TempDir()
	s := fakeSDK()
	require.NoError(t, s.prepare(cache))
	s.install = []string{"go", "nonsense"}
	assert.NoError(t, s.prepare(cache))
	s.folder = "drivers" // contains other files
	assert.Error(t, s.prepare(cache))
	s.folder = "."
	assert.Error(t, s.prepare(cache), "the failed attempt may have damaged the first installation")
	s.folder = "nowhere"
	assert.Error(t, s.prepare(cache))
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-h"}, 0, "-update"},
		{[]string{"-sdk", "cobol"}, 2, `no such SDK: "cobol"; valid names are fake, other`},
		{[]string{"-need", "fake,"}, 2, `no such SDK: ""`},
		{[]string{"-mode", "aws-cobol"}, 2, `the selected SDKs have no mode "aws-cobol"`},
		{[]string{"-need", "other", "-mode", "aws-js-v2"}, 2, "-need other: this SDK is not selected"},
		{[]string{"everything"}, 2, `unexpected argument "everything"`},
		{[]string{"-fast"}, 2, "flag provided but not defined"},
	} {
		status, out := runFake(t, t.TempDir(), []sdk{fakeSDK("aws-js-v2"), {name: "other"}}, tt.args...)
		assert.Equal(t, tt.status, status, tt.args)
		assert.Contains(t, out, tt.says)
	}
}

// TestBrokenSet: a file that is not a set is not overwritten.
func TestBrokenSet(t *testing.T) {
	t.Setenv(fakeEnv, "correct")
	folder := t.TempDir()
	file := filepath.Join(folder, "aws-legacy.json")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o644))
	status, out := runFake(t, folder, []sdk{fakeSDK("aws-js-v2")}, "-update")
	assert.Equal(t, statusBroke, status)
	assert.Contains(t, out, filepath.Base(file)+": unexpected end of JSON input")
	data, _ := os.ReadFile(file)
	assert.Equal(t, "{", string(data))
}

func recordingIn(t *testing.T, folder, mode string) recording {
	t.Helper()
	s, err := readSet(folder, mode)
	require.NoError(t, err)
	return s.recording(mode)
}
