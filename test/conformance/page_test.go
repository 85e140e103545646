package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/awspreset"
	"github.com/gobackoff/retry/internal/test/awspage"
)

// These tests execute the code of docs/reference/aws.md and the SDKs beside it.

var cacheFolder = flag.String("cache", "", "the `folder` of the command's flag -cache; \"\": tests that run an SDK are skipped")

// sdksOfPage are releases that only a block of the page is about.
var sdksOfPage = []sdk{botocore("1.34.106", "aws-botocore-standard-1.34")}

// installed returns the SDK of a mode and the folder of the installations. If the SDK cannot be
// installed, the test is skipped.
func installed(t *testing.T, mode string) (sdk, string) {
	t.Helper()
	if *cacheFolder == "" {
		t.Skip("runs an SDK: needs -cache")
	}
	cache, err := filepath.Abs(*cacheFolder)
	require.NoError(t, err)
	all := slices.Concat(sdks, sdksOfPage)
	i := slices.IndexFunc(all, func(s sdk) bool { return slices.Contains(s.modes, mode) })
	require.GreaterOrEqual(t, i, 0, mode)
	if err := all[i].prepare(cache); err != nil {
		t.Skipf("%s %s could not be installed: %v", all[i].name, all[i].version, err)
	}
	return all[i], cache
}

// onPage are the services for which the page's code is executed: one with the general rules, and
// one with rules of its own.
var onPage = []testCase{
	{Service: "s3", Operation: "GetObject", RandomThen: 0.5},
	{Service: "dynamodb", Operation: "ListTables", RandomThen: 0.5},
}

// sameAsSDK runs cases with an SDK and with the policies of ours, and compares what they do.
func sameAsSDK(t *testing.T, mode string, cases []testCase, ours func(testCase) (retry.Policy, inContext)) {
	t.Helper()
	s, cache := installed(t, mode)
	server := newServer()
	defer server.Close()
	theirs, _, err := s.record(server, cache, mode, cases)
	require.NoError(t, err)
	for i, c := range theirs.Cases {
		p, in := ours(c.testCase)
		played, err := play(in, server.URL, server.URL, mode, c.testCase, p)
		require.NoError(t, err)
		for j := range played {
			played[j].Quota, c.Observed[j].Quota = nil, nil // not every SDK shows that of a setting
			assert.Empty(t, differences(c.Observed[j], played[j]), "%s: call %d: %v", cases[i].id(), j+1, c.Observed[j])
		}
	}
}

// TestPageSettings: with its setting, an SDK makes as many attempts as the policy of the row, waits
// as long between them, and ends in the same way.
func TestPageSettings(t *testing.T) {
	for _, row := range awspage.Settings() {
		for _, mode := range row.Run.Modes {
			t.Run(mode+"/"+row.Run.Setting, func(t *testing.T) {
				sameAsSDK(t, mode, casesOf(row.Run), func(c testCase) (retry.Policy, inContext) {
					if row.Run.General && c.Setting != "" {
						c.Service = "sts"
					}
					p, err := policyOf(mode, c)
					require.NoError(t, err)
					if c.Setting == "" {
						return p, nil
					}
					if row.Code != nil {
						row.Code(&p)
					}
					if row.Run.Shorten != 0 {
						p.AttemptTimeout = row.Run.Shorten
					}
					return p, row.Run.Context
				})
			})
		}
	}
}

// casesOf returns the cases of a row. Each service first has a call without the setting: the first
// calls of a JVM take seconds, in which a time limit would end them before they are sent.
func casesOf(run awspage.Run) []testCase {
	failure := response{Status: 500}
	switch {
	case run.Fault != "":
		failure = response{Fault: run.Fault}
	case run.Code != "":
		failure = response{Status: 400, Code: run.Code}
	}
	var cases []testCase
	for _, c := range onPage {
		c.Name, c.Calls = "without "+run.Setting, []call{{Responses: []response{{Status: 500}}}}
		cases = append(cases, c)
	}
	for _, c := range onPage {
		c.Name, c.Setting = run.Setting, run.Setting
		c.Calls = slices.Repeat([]call{{Responses: []response{failure}}}, max(1, run.Calls))
		cases = append(cases, c)
	}
	return cases
}

// TestPageModes: each block for a mode without a preset behaves like its SDK.
func TestPageModes(t *testing.T) {
	failures := map[string]response{
		"500":        {Status: 500},
		"throttling": {Status: 400, Code: "ThrottlingException"},
		"no answer":  {Fault: "hang"},
		"lost":       {Fault: "close"},
		"denied":     {Status: 400, Code: "AccessDenied"},
	}
	for _, block := range awspage.GoneModes() {
		t.Run(block.Mode, func(t *testing.T) {
			var cases []testCase
			for _, c := range onPage {
				for name, failure := range failures {
					c.Name, c.Setting = name, block.Setting
					c.Random = []float64{0.9, 0.1, 0.7, 0.3}
					c.Calls = []call{{[]response{failure}}, {[]response{failure, {Status: 200}}}, {[]response{{Status: 200}}}, {[]response{failure}}}
					cases = append(cases, c)
				}
				if block.Setting == "" { // a client without the setting has a longer cap than a test can reach
					c.Name, c.MaxAttempts = "12 attempts", 12
					c.Calls = []call{{[]response{failures["500"]}}}
					cases = append(cases, c)
				}
			}
			sameAsSDK(t, block.Run, cases, func(c testCase) (retry.Policy, inContext) {
				p := block.Code(c.Service)
				p.Limiter = nil // ../vectors/limiter has the waits of limiters
				classifier := p.Classifier.(awspreset.Classifier)
				classifier.RenewsCredentials = true // as all clients do
				p.Classifier = classifier
				if c.MaxAttempts > 0 {
					p.MaxAttempts = c.MaxAttempts
				}
				return p, nil
			})
		})
	}
}

// TestModels: the table of operations that may run twice is that of the pinned models.
func TestModels(t *testing.T) {
	s, cache := installed(t, "aws-botocore-standard-2.1")
	const folder = "../../retryaws/internal/idempotent"
	generator := sdk{folder: folder}
	want, err := generator.command([]string{"$cache/botocore-" + s.version + "/bin/python", "-B", "generate.py"}, cache, nil)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(folder, "table.go"))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run generate.sh there")
	pinned, err := os.ReadFile(filepath.Join(folder, "generate.sh"))
	require.NoError(t, err)
	assert.Contains(t, string(pinned), " botocore=="+s.version+"\n")
}
