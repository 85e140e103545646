package main

// This file runs the command: it records and compares every selected SDK.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

type runner struct {
	sdks   []sdk
	needed []string // SDKs that must not be skipped
	cache  string   // folder of the installations
	folder string   // folder of the recordings
	update bool     // rewrite the recordings

	stdout, stderr io.Writer
	rows           []row
	failed         bool
	changed        bool // a recording changed
}

type row struct {
	preset, sdk string
	tally
	took time.Duration
}

// run returns the exit status: 1 on failure, 2 if the arguments are wrong.
func (r *runner) run(args []string) int {
	if err := r.parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		fmt.Fprintln(r.stderr, "conformance:", err)
		return 2
	}
	for _, s := range r.sdks {
		r.runSDK(s)
	}
	if len(r.rows) == 0 {
		fmt.Fprintln(r.stdout, "no preset was compared")
		return 1
	}
	r.table()
	if r.changed && !r.update {
		fmt.Fprintln(r.stdout, "an SDK differs from its recording; -update rewrites the recordings")
	}
	if r.failed {
		return 1
	}
	return 0
}

func (r *runner) runSDK(s sdk) {
	if err := s.prepare(r.cache); err != nil {
		fmt.Fprintf(r.stdout, "skipped %s %s: it could not be installed: %v\n", s.name, s.version, err)
		r.failed = r.failed || slices.Contains(r.needed, s.name)
		return
	}
	for _, preset := range s.presets {
		if err := r.runPreset(s, preset); err != nil {
			fmt.Fprintf(r.stdout, "failed: %v\n", err)
			r.failed = true
		}
	}
}

func (r *runner) runPreset(s sdk, preset string) error {
	start := time.Now()
	server := newServer()
	defer server.Close()
	known, err := readSet(r.folder, preset)
	if err != nil {
		return err
	}
	fresh, err := s.record(server, r.cache, preset, s.cases(known))
	if err != nil {
		return err
	}
	if err := r.keep(known, fresh); err != nil {
		return err
	}
	t, err := compare(server, fresh)
	if err != nil {
		return err
	}
	for _, mismatch := range t.mismatches {
		fmt.Fprintln(r.stdout, "mismatch:", mismatch)
		r.failed = true
	}
	r.rows = append(r.rows, row{preset, fresh.SDK, t, time.Since(start)})
	return nil
}

// keep compares a fresh recording with the committed one. With -update, it replaces the
// committed one.
func (r *runner) keep(known *set, fresh recording) error {
	for _, change := range fresh.changes(known.recording(fresh.Preset)) {
		fmt.Fprintln(r.stdout, "changed:", change)
		r.changed, r.failed = true, r.failed || !r.update
	}
	if r.update {
		known.replace(fresh)
		return known.write()
	}
	return nil
}

func (r *runner) table() {
	w := tabwriter.NewWriter(r.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "preset\tSDK\tcases\texcluded\tdelays\tmismatches\ttime")
	for _, row := range r.rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%.1fs\n",
			row.preset, row.sdk, row.cases, row.excluded, row.delays, len(row.mismatches), row.took.Seconds())
	}
	w.Flush()
}
