package fresh

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclsimple"
	"github.com/spf13/cobra"
	"github.com/urfave/cli/v3"

	"github.com/gobackoff/retry"
	"github.com/gobackoff/retry/retryconfig"
)

var withFlag = map[string]func(policy *retryconfig.Policy, args ...string) error{
	"cobra": func(policy *retryconfig.Policy, args ...string) error {
		command := &cobra.Command{Use: "app", SilenceErrors: true, SilenceUsage: true, Run: func(*cobra.Command, []string) {}}
		command.Flags().TextVar(policy, "retry", *policy, "retry policy")
		command.SetArgs(args)
		return command.Execute()
	},
	"urfave": func(policy *retryconfig.Policy, args ...string) error {
		command := &cli.Command{Writer: io.Discard, ErrWriter: io.Discard, Flags: []cli.Flag{
			&cli.TextFlag{Name: "retry", Value: policy, Sources: cli.EnvVars("APP_RETRY")},
		}}
		return command.Run(context.Background(), append([]string{"app"}, args...))
	},
}

// TestFlags: a flag replaces the default, and its absence does not.
func TestFlags(t *testing.T) {
	t.Setenv("APP_RETRY", "")
	for library, run := range withFlag {
		for _, test := range []struct {
			args []string
			want string
		}{
			{nil, "standard attempts=7"},
			{[]string{"--retry", "full base=1s attempts=5"}, "full base=1s attempts=5"},
			{[]string{"--retry=none"}, "none"},
		} {
			policy := retryconfig.Policy{Policy: retry.Policy{MaxAttempts: 7}}
			if err := run(&policy, test.args...); err != nil || policy.String() != test.want {
				t.Errorf("%s %q: %v, %v", library, test.args, policy, err)
			}
		}
		var policy retryconfig.Policy
		if err := run(&policy, "--retry", "ful"); err == nil || !strings.Contains(err.Error(), `unknown name "ful"`) {
			t.Errorf("%s: %v", library, err)
		}
	}
	t.Setenv("APP_RETRY", "full base=2s")
	var policy retryconfig.Policy
	if err := withFlag["urfave"](&policy); err != nil || policy.String() != "full base=2s attempts=3" {
		t.Errorf("a variable of urfave: %v, %v", policy, err)
	}
}

// TestHCL: if gohcl reads a Policy by itself one day, the configuration page has to change.
func TestHCL(t *testing.T) {
	var file struct {
		Retry string `hcl:"retry,optional"`
	}
	text := []byte(`retry = "full base=1s attempts=5"`)
	if err := hclsimple.Decode("app.hcl", text, nil, &file); err != nil {
		t.Fatal(err)
	}
	var policy retryconfig.Policy
	if err := policy.UnmarshalText([]byte(file.Retry)); err != nil || policy.String() != "full base=1s attempts=5" {
		t.Errorf("%v, %v", policy, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("gohcl does not panic")
		}
	}()
	var direct struct {
		Retry retryconfig.Policy `hcl:"retry,optional"`
	}
	_ = hclsimple.Decode("app.hcl", text, nil, &direct)
}
