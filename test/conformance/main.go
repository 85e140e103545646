// Command conformance runs the real AWS SDKs with scripted random numbers and
// failures, and compares their behavior with the policies of this library. See
// README.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	r := &runner{sdks: sdks, folder: "../vectors/trace", page: "../../docs/reference/aws.md", stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(r.run(os.Args[1:]))
}

func (r *runner) parse(args []string) error {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(r.stderr)
	names := flags.String("sdk", "", "`names` of the SDKs to run, separated by commas: "+strings.Join(r.names(), ", ")+" (default all)")
	need := flags.String("need", "", "`names` of the SDKs that must not be skipped, separated by commas")
	mode := flags.String("mode", "", "the only mode to run, by its `name` in the text form")
	flags.BoolVar(&r.update, "update", false, "rewrite the recordings in "+r.folder+"; with -newest, the table in "+r.page)
	flags.BoolVar(&r.newest, "newest", false, "run the newest release of each SDK instead of the pinned one, in a copy")
	flags.StringVar(&r.detailsFile, "details", "", "`file` for every single difference (default: they follow the summary)")
	flags.StringVar(&r.cache, "cache", "", "`folder` for the SDKs (default gobackoff-conformance in the user's cache folder)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	wanted, err := r.known(*names)
	if err != nil {
		return err
	}
	if r.needed, err = r.known(*need); err != nil {
		return err
	}
	if r.choose(wanted, *mode); r.newest {
		r.sdks = slices.DeleteFunc(r.sdks, func(s sdk) bool { return s.newest == nil })
	}
	if len(r.sdks) == 0 {
		return fmt.Errorf("the selected SDKs have no mode %q", *mode)
	}
	for _, name := range r.needed {
		if !slices.Contains(r.names(), name) {
			return fmt.Errorf("-need %s: this SDK is not selected", name)
		}
	}
	return r.findCache()
}

func (r *runner) names() []string {
	var names []string
	for _, s := range r.sdks {
		names = append(names, s.name)
	}
	return slices.Compact(names)
}

// known splits a list of names and rejects unknown ones.
func (r *runner) known(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(r.names(), name) {
			return nil, fmt.Errorf("no such SDK: %q; valid names are %s", name, strings.Join(r.names(), ", "))
		}
	}
	return names, nil
}

// choose keeps the SDKs with the wanted names (nil means all). If mode is not "", it
// keeps no other mode.
func (r *runner) choose(wanted []string, mode string) {
	var chosen []sdk
	for _, s := range r.sdks {
		if mode != "" {
			s.modes = slices.DeleteFunc(slices.Clone(s.modes), func(p string) bool { return p != mode })
		}
		if (wanted == nil || slices.Contains(wanted, s.name)) && len(s.modes) > 0 {
			chosen = append(chosen, s)
		}
	}
	r.sdks = chosen
}

func (r *runner) findCache() error {
	if r.cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		r.cache = filepath.Join(user, "gobackoff-conformance")
	}
	var err error
	r.cache, err = filepath.Abs(r.cache) // drivers run in their own folders
	if r.newest {
		r.cache = filepath.Join(r.cache, "newest")
	}
	return err
}
