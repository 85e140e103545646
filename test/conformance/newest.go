package main

// This file replaces the versions of the SDKs by the newest releases, in copies of the
// drivers, and writes the result of such a run into the documentation.

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// newestRelease returns the SDK at its newest release, according to its package registry.
// Its driver is a copy in the cache.
func (s sdk) newestRelease(cache string) (sdk, error) {
	folder := filepath.Join(cache, "drivers", s.name)
	if err := os.RemoveAll(folder); err != nil {
		return s, err
	}
	if err := os.CopyFS(folder, os.DirFS(s.folder)); err != nil {
		return s, err
	}
	s.folder = folder
	printed, err := s.command(s.newest, cache, nil)
	if err != nil {
		return s, err
	}
	lines := strings.Split(strings.TrimSpace(string(printed)), "\n")
	s.reports = lines[len(lines)-1]
	return s, nil
}

// runNewest runs the newest release of each SDK.
func (r *runner) runNewest() {
	for _, s := range r.sdks {
		pinned := s.reports
		s, err := s.newestRelease(r.cache)
		if err != nil {
			r.missed(s, err)
			r.results = append(r.results, result{sdk: s.name, release: pinned, says: "could not be downloaded"})
			continue
		}
		fmt.Fprintf(r.stdout, "%s: pinned %s, newest %s\n", s.name, pinned, s.reports)
		r.result = result{sdk: s.name, release: s.reports}
		r.runSDK(s)
		r.results = append(r.results, r.result)
	}
}

// A result is a row of the documentation's table.
type result struct{ sdk, release, says string }

const (
	tableBegins = "<!-- newest -->\n"
	tableEnds   = "<!-- end -->\n"
)

// writeResults replaces the rows of the SDKs that have run.
func writeResults(page string, results []result, today time.Time) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begins := bytes.Cut(text, []byte(tableBegins))
	table, after, ends := bytes.Cut(rest, []byte(tableEnds))
	if !begins || !ends {
		return fmt.Errorf("%s has no table between %q and %q", page, tableBegins, tableEnds)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")
	for _, r := range results {
		start := "| " + r.sdk + " |"
		row := fmt.Sprintf("%s %s | %s | %s |", start, r.release, today.Format("2 January 2006"), r.says)
		i := slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, start) })
		if i < 0 {
			rows, i = append(rows, ""), len(rows)
		}
		rows[i] = row
	}
	written := string(before) + tableBegins + strings.Join(rows, "\n") + "\n" + tableEnds + string(after)
	return os.WriteFile(page, []byte(written), 0o644)
}
