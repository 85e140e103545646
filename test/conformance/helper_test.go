package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	ok     = response{Status: http.StatusOK}
	broken = response{Status: http.StatusInternalServerError}
)

var operations = map[string]string{"sts": "GetCallerIdentity", "sqs": "ListQueues"}

func one(name, service string, responses ...response) testCase {
	return testCase{
		Name: name, Service: service, Operation: operations[service],
		RandomThen: 0.5, Calls: []call{{responses}},
	}
}

// unanswered returns a folder with the cases of all sets, but no answers.
func unanswered(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	files, err := filepath.Glob("../vectors/trace/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(file)), data, 0o644))
	}
	for _, r := range recorded(t) {
		s, err := readSet(folder, r.Mode)
		require.NoError(t, err)
		r.Cases, r.SDK = nil, ""
		s.replace(r)
		require.NoError(t, s.write())
	}
	return folder
}
