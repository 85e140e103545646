package main

// This file runs the command: it records and compares every selected SDK.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

type runner struct {
	sdks   []sdk
	needed []string // SDKs that must not be skipped
	cache  string   // folder of the installations
	folder string   // folder of the recordings
	page   string   // with the table of the newest releases
	update bool     // rewrite the recordings or, with newest, the table
	newest bool

	stdout, stderr io.Writer
	rows           []row
	changed        bool     // a recording changed
	differs        bool     // an SDK differs from its policy or its recording
	broke          bool     // a driver or a file
	missing        []string // SDKs that could not be downloaded or installed
	result         result   // of the SDK that runs
	results        []result // with newest
}

// The exit statuses. If several apply, it is the first of statusDiffers, statusBroke and
// statusMissing.
const (
	statusDiffers = iota + 1 // an SDK differs from its policy or recording
	statusUsage
	statusBroke   // the suite does not work, for example because a driver failed
	statusMissing // an SDK could not be downloaded
)

type row struct {
	preset, sdk string
	tally
	took time.Duration
}

// run returns the exit status.
func (r *runner) run(args []string) int {
	if err := r.parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		fmt.Fprintln(r.stderr, "conformance:", err)
		return statusUsage
	}
	if r.newest {
		r.runNewest()
	} else {
		for _, s := range r.sdks {
			r.runSDK(s)
		}
	}
	if len(r.rows) == 0 {
		fmt.Fprintln(r.stdout, "no preset was compared")
	} else {
		r.table()
	}
	if r.changed && !r.update && !r.newest {
		fmt.Fprintln(r.stdout, "an SDK differs from its recording; -update rewrites the recordings")
	}
	if r.newest && r.update {
		if err := writeResults(r.page, r.results, time.Now()); err != nil {
			r.failed(err)
		}
	}
	return r.status()
}

func (r *runner) status() int {
	isNeeded := func(name string) bool { return r.newest || slices.Contains(r.needed, name) }
	if r.missing != nil {
		fmt.Fprintln(r.stdout, "not compared:", strings.Join(r.missing, ", "))
	}
	switch {
	case r.differs:
		return statusDiffers
	case r.broke:
		return statusBroke
	case slices.ContainsFunc(r.missing, isNeeded), len(r.rows) == 0:
		return statusMissing
	}
	return 0
}

func (r *runner) failed(err error) {
	fmt.Fprintf(r.stdout, "failed: %v\n", err)
	r.broke = true
	r.result.says = "the suite broke"
}

// missed notes an SDK that could not be downloaded or installed.
func (r *runner) missed(s sdk, err error) {
	fmt.Fprintf(r.stdout, "skipped %s %s: it could not be installed: %v\n", s.name, s.version, err)
	r.missing = append(r.missing, s.name)
}

func (r *runner) runSDK(s sdk) {
	if err := s.prepare(r.cache); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == statusBroke {
			r.failed(err)
			return
		}
		r.missed(s, err)
		r.result.says = "could not be downloaded"
		return
	}
	r.result.says = "as the presets"
	for _, preset := range s.presets {
		switch differs, err := r.runPreset(s, preset); {
		case err != nil:
			r.failed(err)
		case differs:
			r.differs = true
			r.result.says = "differs"
		}
	}
}

// runPreset reports whether the SDK differs from the preset or from its recording.
func (r *runner) runPreset(s sdk, preset string) (differs bool, err error) {
	start := time.Now()
	server := newServer()
	defer server.Close()
	known, err := readSet(r.folder, preset)
	if err != nil {
		return false, err
	}
	fresh, err := s.record(server, r.cache, preset, s.cases(known))
	if err != nil {
		return false, err
	}
	changed, err := r.keep(known, fresh)
	if err != nil {
		return false, err
	}
	t, err := compare(server, fresh)
	if err != nil {
		return false, err
	}
	for _, mismatch := range t.mismatches {
		fmt.Fprintln(r.stdout, "mismatch:", mismatch)
	}
	r.rows = append(r.rows, row{preset, fresh.SDK, t, time.Since(start)})
	return changed || t.mismatches != nil, nil
}

// keep compares a fresh recording with the committed one. With -update, it replaces the
// committed one, unless the release is another.
func (r *runner) keep(known *set, fresh recording) (changed bool, err error) {
	old := known.recording(fresh.Preset)
	if r.newest {
		old.SDK = fresh.SDK // a new version alone is no change
	}
	for _, change := range fresh.changes(old) {
		fmt.Fprintln(r.stdout, "changed:", change)
		r.changed, changed = true, !r.update || r.newest
	}
	if r.update && !r.newest {
		known.replace(fresh)
		return changed, known.write()
	}
	return changed, nil
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
