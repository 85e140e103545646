package main

// This file runs the command: it records and compares every selected SDK.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
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

	detailsFile string   // receives the details; "": they follow the summary
	details     []string // every difference
	kinds       []kind   // of differences, in order
}

// A kind is a kind of difference with the number of calls or cases and an example.
type kind struct {
	name    string
	count   int
	example string
}

func (r *runner) count(name, example string) {
	i := slices.IndexFunc(r.kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		r.kinds, i = append(r.kinds, kind{name: name, example: example}), len(r.kinds)
	}
	r.kinds[i].count++
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
	mode, sdk string
	modules   []string
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
		fmt.Fprintln(r.stdout, "no mode was compared")
	} else {
		r.table()
	}
	if err := r.report(); err != nil {
		r.failed(err)
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
	for _, mode := range s.modes {
		switch differs, err := r.runMode(s, mode); {
		case err != nil:
			r.failed(err)
		case differs:
			r.differs = true
			r.result.says = "differs"
		}
	}
}

// runMode reports whether the SDK differs from the mode or from its recording.
func (r *runner) runMode(s sdk, mode string) (differs bool, err error) {
	start := time.Now()
	server := newServer()
	defer server.Close()
	known, err := readSet(r.folder, mode)
	if err != nil {
		return false, err
	}
	fresh, modules, err := s.record(server, r.cache, mode, s.cases(known))
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
	for _, m := range t.mismatches {
		lines := m.lines()
		r.count(m.kind(), strings.TrimPrefix(lines[0], "mismatch: "+m.mode+": "))
		r.details = append(r.details, lines...)
	}
	r.rows = append(r.rows, row{mode, fresh.SDK, modules, t, time.Since(start)})
	return changed || t.mismatches != nil, nil
}

// keep compares a fresh recording with the committed one. With -update, it replaces the
// committed one, unless the release is another.
func (r *runner) keep(known *set, fresh recording) (changed bool, err error) {
	old := known.recording(fresh.Mode)
	if r.newest {
		old.SDK = fresh.SDK // a new version alone is no change
	}
	for _, change := range fresh.changes(old) {
		first, _, _ := strings.Cut(change, "\n")
		r.count(fresh.Mode+": other than recorded", strings.TrimPrefix(first, fresh.Mode+": "))
		r.details = append(r.details, "changed: "+change)
		r.changed, changed = true, !r.update || r.newest
	}
	if r.update && !r.newest {
		known.replace(fresh)
		return changed, known.write()
	}
	return changed, nil
}

// report writes one line for each kind of difference, and then the details.
func (r *runner) report() error {
	for _, k := range r.kinds {
		fmt.Fprintf(r.stdout, "differs: %s: %d, such as %s\n", k.name, k.count, k.example)
	}
	var text strings.Builder
	for _, detail := range r.details {
		fmt.Fprintln(&text, detail)
	}
	if r.detailsFile != "" {
		return os.WriteFile(r.detailsFile, []byte(text.String()), 0o644)
	}
	_, err := io.WriteString(r.stdout, text.String())
	return err
}

func (r *runner) table() {
	w := tabwriter.NewWriter(r.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "mode\tSDK\tcases\texcluded\tdelays\tmismatches\ttime")
	for _, row := range r.rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%.1fs\n",
			row.mode, row.sdk, row.cases, row.excluded, row.delays, len(row.mismatches), row.took.Seconds())
	}
	w.Flush()
	shown := map[string]bool{}
	for _, row := range r.rows {
		if row.modules != nil && !shown[row.sdk] {
			fmt.Fprintf(r.stdout, "%s: %s\n", row.sdk, strings.Join(row.modules, ", "))
			shown[row.sdk] = true
		}
	}
}
