package main

// This file lists the SDKs and runs their drivers.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// driverTime limits the duration of an installation and of a driver's run with a mode.
const driverTime = 10 * time.Minute

// An sdk is one version of an AWS SDK with its driver. In the commands, $cache is
// replaced by the absolute path of the cache folder.
type sdk struct {
	name    string
	version string   // distinguishes installations with the same name
	reports string   // the SDK and its version in the driver's output
	folder  string   // where the commands run
	install []string // installs the SDK and its dependencies into $cache; exit status 3: the driver does not compile
	driver  []string
	newest  []string       // replaces the versions in the folder by the newest and prints what the driver then reports; nil: an older release is meant
	without *regexp.Regexp // matches the cases that the driver does not run; may be nil
	modes   []string       // such as aws-botocore-adaptive-2.1; docs/reference/aws.md says which preset is compared with each
}

var sdks = []sdk{
	botocore("1.43.11", "aws-botocore-standard-2.0", "aws-botocore-adaptive-2.0"),
	current(botocore("1.44.8", "aws-botocore-legacy", "aws-botocore-standard-2.1", "aws-botocore-adaptive-2.1"), "1.44.8"),
	current(javaScript("js-v2", "2.1693.0", "v2", "aws-sdk 2.1693.0", "aws-js-v2"), "v2"),
	javaScript("js-v3", "2.0", "v3-2.0", "@aws-sdk/client-sts 3.1162.0, @smithy/core 3.39.0",
		"aws-js-v3-standard-2.0", "aws-js-v3-adaptive-2.0"),
	current(javaScript("js-v3", "2.1", "v3-2.1", "@aws-sdk/client-sts 3.1177.0, @smithy/core 3.41.1",
		"aws-js-v3-standard-2.1", "aws-js-v3-adaptive-2.1"), "v3-2.1"),
	current(java("v1", "aws-sdk-java 1.12.797", "aws-java-v1"), "v1"),
	java("v2-2.57", "aws-sdk-java-v2 2.57.8", "aws-java-v2-standard-2.0", "aws-java-v2-adaptive-2.0"),
	current(java("v2", "aws-sdk-java-v2 2.59.1", "aws-java-v2-legacy", "aws-java-v2-standard-2.1", "aws-java-v2-adaptive-2.1"), "v2"),
	goSDK("go-v1", "go.mod", "aws-sdk-go 1.55.8", "aws-go-v1"),
	current(goSDK("go-v2", "go.mod", "aws-sdk-go-v2 1.48.0", "aws-go-v2-standard-2.1", "aws-go-v2-adaptive-2.1")),
	goSDK("go-v2", "v1.47.mod", "aws-sdk-go-v2 1.47.8", "aws-go-v2-standard-2.0", "aws-go-v2-adaptive-2.0"),
}

// current returns an SDK whose present behavior the modes describe. -newest calls its
// driver's newest.sh with the arguments.
func current(s sdk, args ...string) sdk {
	s.newest = append([]string{"sh", "newest.sh"}, args...)
	return s
}

func botocore(version string, modes ...string) sdk {
	return sdk{
		name: "botocore", version: version, reports: "botocore " + version, folder: "drivers/botocore",
		install: []string{"sh", "install.sh", version, "$cache"},
		driver:  []string{"sh", "run.sh", version, "$cache"},
		modes:   modes,
	}
}

func goSDK(name, modfile, reports string, modes ...string) sdk {
	version := reports[strings.LastIndexByte(reports, ' ')+1:]
	binary := "$cache/" + name + "-" + version
	return sdk{
		name: name, version: version, reports: reports, folder: "drivers/go",
		install: []string{"sh", "install.sh", name, modfile, binary},
		driver:  []string{binary},
		modes:   modes,
	}
}

func javaScript(name, version, folder, reports string, modes ...string) sdk {
	return sdk{
		name: name, version: version, reports: reports, folder: "drivers/js",
		install: []string{"sh", "install.sh", folder, "$cache"},
		driver:  []string{"sh", "run.sh", folder, "$cache"},
		modes:   modes,
	}
}

func java(folder, reports string, modes ...string) sdk {
	name, _, _ := strings.Cut("java-"+folder, "-2.")
	return sdk{
		name: name, version: folder, reports: reports, folder: "drivers/java",
		install: []string{"sh", "install.sh", folder, "$cache"},
		driver:  []string{"sh", "run.sh", folder, "$cache"},
		without: regexp.MustCompile(`^s3 `),
		modes:   modes,
	}
}

// prepare installs the SDK unless it is already installed and its driver is unchanged.
func (s sdk) prepare(cache string) error {
	key, err := s.driverHash()
	if err != nil {
		return err
	}
	done := filepath.Join(cache, s.name+"-"+s.version+".installed")
	if was, err := os.ReadFile(done); err == nil && string(was) == key {
		return nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	// A failed installation may damage the earlier one.
	if err := os.Remove(done); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := s.command(s.install, cache, nil); err != nil {
		return err
	}
	return os.WriteFile(done, []byte(key), 0o644)
}

func (s sdk) driverHash() (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(s.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(data), data)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// cases returns the cases of a set that the driver runs.
func (s sdk) cases(known *set) []testCase {
	var cases []testCase
	for _, c := range known.Cases {
		if s.without == nil || !s.without.MatchString(c.ID) {
			cases = append(cases, c.Given)
		}
	}
	return cases
}

// record also returns the versions of the modules that the driver is made of.
func (s sdk) record(server *server, cache, mode string, cases []testCase) (recording, []string, error) {
	placed := slices.Clone(cases)
	for i, c := range placed {
		if c.TLS {
			placed[i].Endpoint = server.endpoint(c)
		}
	}
	in, err := json.Marshal(input{Endpoint: server.URL, Mode: mode, Cases: placed})
	if err != nil {
		return recording{}, nil, err
	}
	data, err := s.command(s.driver, cache, in)
	if err != nil {
		return recording{}, nil, fmt.Errorf("%s: the driver: %w", mode, err)
	}
	var out output
	if err := json.Unmarshal(data, &out); err != nil {
		return recording{}, nil, fmt.Errorf("%s: the driver's output: %w", mode, err)
	}
	r, err := newRecording(mode, cases, out)
	if err != nil {
		return recording{}, nil, fmt.Errorf("%s: the driver's output: %w", mode, err)
	}
	if err := r.check(s, cases); err != nil {
		return recording{}, nil, fmt.Errorf("%s: the driver's output: %w", mode, err)
	}
	return r, out.Modules, nil
}

// command runs a command in the driver's folder. The error includes the end of standard
// error.
func (s sdk) command(words []string, cache string, stdin []byte) ([]byte, error) {
	args := slices.Clone(words)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$cache", cache)
	}
	ctx, cancel := context.WithTimeout(context.Background(), driverTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = s.folder, bytes.NewReader(stdin), time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err == nil {
		return stdout, nil
	}
	text := strings.TrimSpace(stderr.String())
	text = text[max(0, len(text)-2000):]
	return nil, fmt.Errorf("%w: %s", cmp.Or(ctx.Err(), err), text)
}
