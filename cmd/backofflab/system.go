// The description of a system by flags or a YAML file, and the command init.

package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/gobackoff/retry/admit"
	"github.com/gobackoff/retry/cmd/backofflab/internal/lab"
	"github.com/gobackoff/retry/retryconfig"
	"go.yaml.in/yaml/v3"
)

// system contains the flags that describe a system. Their names are also the keys in a
// system's file.
type system struct {
	model    *lab.Storm
	names    []string // of the flags
	file     string
	latency  string
	capacity float64
	gate     bool
	given    map[string]bool // flags on the command line or in the file
}

// systemFlags adds the flags that describe a system, and returns the system. The defaults
// are those of [lab.Storm].
func (env *environment) systemFlags(set *flag.FlagSet) *lab.Storm {
	d, _ := lab.Storm{}.WithDefaults()
	d.Queue, d.Horizon = 0, 0 // follow from the rest
	s := &system{model: &d}
	env.system = s
	model := s.model
	own := flagNames(set)
	set.Float64Var(&model.Rate, "rate", model.Rate, "`calls` a second of all clients together; with -capacity, 70 % of it unless given")
	set.Float64Var(&s.capacity, "capacity", 0, "`attempts` a second that the server can serve, instead of -workers")
	set.IntVar(&model.Workers, "workers", model.Workers, "attempts served at the same time")
	set.DurationVar(&model.Service, "service", model.Service, "mean time to serve an attempt, exponentially distributed")
	set.StringVar(&s.latency, "latency", "", "`file` of measured times to serve an attempt, instead of -service: buckets of a Prometheus histogram")
	set.IntVar(&model.Queue, "queue", 0, "attempts that can wait at the server (default: as many as it serves in 20 s)")
	set.BoolVar(&model.LIFO, "lifo", false, "the server takes the latest attempt first")
	set.BoolVar(&model.DropExpired, "drop-expired", false, "the server drops attempts whose clients have given up")
	set.DurationVar(&model.Refusal, "refusal", model.Refusal, "how long a client takes to learn that the server refuses an attempt")
	set.IntVar(&model.FullStatus, "full-status", model.FullStatus, "HTTP `status` of a full queue")
	set.Float64Var(&model.Failures, "failures", model.Failures, "`share` of the attempts that fail at any time, from 0 to 1")
	set.BoolVar(&s.gate, "gate", false, "the server has an admission gate (package admit), which refuses attempts with a hint")
	set.IntVar(&model.Processes, "processes", model.Processes, "client processes, each with its own budget and limiter")
	set.DurationVar(&model.Timeout, "timeout", model.Timeout, "how long a client waits for the response to an attempt, unless the policy has a timeout")
	set.DurationVar(&model.Deadline, "deadline", model.Deadline, "time limit of a call")
	set.TextVar(&model.Outage.Kind, "outage", model.Outage.Kind, "`kind`: stall, down, brown-out or partial")
	set.DurationVar(&model.Outage.From, "from", model.Outage.From, "start of the outage")
	set.DurationVar(&model.Outage.To, "to", model.Outage.To, "end of the outage")
	set.Float64Var(&model.Outage.Share, "share", model.Outage.Share, "fraction of its normal speed at which the server works in a brown-out, or of the attempts that it accepts in a partial outage")
	set.DurationVar(&model.Horizon, "horizon", 0, "end of the simulation (default: 3 to 4 minutes after the outage)")
	s.names = slices.DeleteFunc(flagNames(set), func(name string) bool { return slices.Contains(own, name) })
	set.StringVar(&s.file, "system", "", "YAML `file` with these flags, such as the file that backofflab init writes; flags take precedence")
	return model
}

func (s *system) read(env *environment, set *flag.FlagSet) error {
	given := map[string]bool{}
	s.given = given
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if s.file != "" {
		if err := s.readFile(env, set, given); err != nil {
			return fmt.Errorf("system %s: %w", s.file, err)
		}
		set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	}
	s.model.Seed, s.model.Parallel = env.seed, env.parallel
	switch {
	case s.model.Failures < 0:
		return fmt.Errorf("failures: %v is not from 0 up and below 1", s.model.Failures)
	case s.model.Failures == 0:
		s.model.Failures = -1 // none
	}
	if s.gate {
		s.model.Gate = func() *admit.Gate { return new(admit.Gate) }
	}
	if s.latency != "" {
		if given["service"] {
			return errors.New("service: the latency has its own mean")
		}
		if err := s.readLatency(); err != nil {
			return err
		}
	}
	if given["capacity"] {
		if given["workers"] {
			return errors.New("capacity: cannot be combined with workers")
		}
		if err := s.setCapacity(); err != nil {
			return err
		}
		if !given["rate"] {
			s.model.Rate = 0.7 * s.capacity
		}
	}
	return nil
}

// warn reports a rate that the server could never serve.
func (env *environment) warn(model lab.Storm) {
	if capacity := model.Capacity(); model.Rate > capacity {
		fmt.Fprintf(env.stderr, "backofflab: the rate, %v calls a second, is above the capacity of the server, %.4g\n", model.Rate, capacity)
	}
}

func (s *system) readLatency() error {
	f, err := os.Open(s.latency)
	if err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	defer f.Close()
	if s.model.Latency, err = lab.ReadLatency(f); err != nil {
		return fmt.Errorf("%s: %w", s.latency, err)
	}
	s.model.Service = s.model.Latency.Mean()
	return nil
}

// setCapacity converts the capacity into a number of workers.
func (s *system) setCapacity() error {
	service := s.model.Service.Seconds()
	workers := math.Round(s.capacity * service)
	if s.capacity > 0 && workers >= 1 && workers < 1e7 && math.Abs(workers-s.capacity*service) <= 0.05*workers {
		s.model.Workers = int(workers)
		return nil
	}
	one := 1 / service
	return fmt.Errorf("capacity: %v a second is not within 5 %% of a whole number of workers: with %v for each attempt, one serves %.3g a second and %v serve %.3g",
		s.capacity, s.model.Service, one, max(2, workers), max(2, workers)*one)
}

// readFile sets flags to the values in the file, except flags given on the command line.
func (s *system) readFile(env *environment, set *flag.FlagSet, given map[string]bool) error {
	f, err := os.Open(s.file)
	if err != nil {
		return err
	}
	defer f.Close()
	var keys map[string]yaml.Node
	if err := yaml.NewDecoder(io.LimitReader(f, 1<<20)).Decode(&keys); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	all := append(slices.Clone(s.names), "policies")
	slices.Sort(all)
	ordered := make([]string, 0, len(keys))
	for key := range keys {
		ordered = append(ordered, key)
	}
	slices.SortFunc(ordered, func(a, b string) int { return keys[a].Line - keys[b].Line })
	for _, key := range ordered {
		value := keys[key]
		switch {
		case key == "policies":
			err = filePolicies(env, &value)
		case !slices.Contains(s.names, key):
			err = fmt.Errorf("unknown key %q; %s", key, known(key, all))
		case value.Kind != yaml.ScalarNode:
			err = fmt.Errorf("%s: want one value", key)
		case !given[key]:
			if e := set.Set(key, value.Value); e != nil {
				err = fmt.Errorf("%s: %q: %w", key, value.Value, e)
			}
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", value.Line, err)
		}
	}
	return nil
}

// filePolicies adds the policies in a file, unless -policy is used. Each policy is a text or
// a mapping.
func filePolicies(env *environment, value *yaml.Node) error {
	var list []yaml.Node
	if err := value.Decode(&list); err != nil {
		return errors.New("policies: want a list")
	}
	var texts []string
	for _, node := range list {
		if node.Kind == yaml.ScalarNode {
			texts = append(texts, node.Value) // or the name of a group
			continue
		}
		var p retryconfig.Policy
		if err := node.Decode(&p); err != nil {
			return err
		}
		texts = append(texts, p.String())
	}
	if len(env.policies) == 0 {
		env.policies = texts
	}
	return nil
}

//go:embed system.yaml
var example string

func initialize(_ context.Context, env *environment, args []string) error {
	operands, err := env.operands("init", " [FILE]\n\nwrites an example file that describes a system, by default to system.yaml; with -, to standard output", args, 1)
	if err != nil {
		return err
	}
	path := strings.Join(append(operands, "system.yaml")[:1], "")
	if path == "-" {
		_, err := io.WriteString(env.stdout, example)
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			return usageError{fmt.Errorf("%s exists", path)}
		}
		return usageError{err}
	}
	if _, err = f.WriteString(example); err == nil {
		err = f.Close()
	}
	if err == nil {
		fmt.Fprintf(env.stdout, "%s is written; backofflab storm -system %s\n", path, path)
	}
	return err
}
