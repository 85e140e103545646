package retrynats

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
)

// harmless are settings of which every value is harmless, and why.
type harmless struct {
	settings []string
	why      string
}

var harmlessConsumer = []harmless{
	{[]string{"filter_subject", "filter_subjects"}, "Handle compares them with the dead letters' subject"},
	{[]string{"deliver_policy", "opt_start_seq", "opt_start_time"}, "what came before is not the worker's"},
	{[]string{"replay_policy", "rate_limit_bps", "pause_until"}, "messages wait in the stream"},
	{[]string{"max_waiting", "max_batch", "max_expires", "max_bytes"}, "bounds of requests, not of messages"},
	{[]string{"deliver_subject", "deliver_group", "flow_control", "idle_heartbeat"}, "what is pushed and not acknowledged is delivered again"},
	{[]string{"priority_groups", "priority_policy", "priority_timeout"}, "they select the worker that gets a message"},
	{[]string{"num_replicas"}, "a lost consumer starts again at the first message that the stream keeps"},
	{[]string{"name", "description", "metadata", "sample_freq"}, "names and monitoring"},
}

var harmlessLetters = []harmless{
	{[]string{"duplicate_window"}, "Handle compares it with the consumer's AckWait"},
	{[]string{"allow_msg_ttl", "subject_delete_marker_ttl", "allow_rollup_hdrs", "allow_msg_schedules"}, "instructions in headers, which letters do not have"},
	{[]string{"deny_delete", "deny_purge", "allow_direct", "mirror_direct", "republish"}, "reading and deleting by hand, and copies"},
	{[]string{"sources", "allow_atomic", "allow_batched", "first_seq"}, "about other messages than letters"},
	{[]string{"max_consumers", "consumer_limits"}, "about the readers of the letters, which stay until they are read"},
	{[]string{"num_replicas", "placement", "compression"}, "how the server keeps what it keeps"},
	{[]string{"name", "description", "subjects", "metadata", "template_owner"}, "names"},
}

// TestSettingsJudged: a setting that a new version of the client has is noticed here. The
// tests with a server compare the client's settings with the server's.
func TestSettingsJudged(t *testing.T) {
	assert.Subset(t, judged(consumerSettings, harmlessConsumer), names[jetstream.ConsumerConfig]()) // an older client has fewer
	assert.Subset(t, judged(letterSettings, harmlessLetters), names[jetstream.StreamConfig]())
}

func names[C any]() []string {
	var names []string
	for field := range reflect.TypeFor[C]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func judged[C any](judgments []judgment[C], others []harmless) []string {
	var names []string
	for _, j := range judgments {
		names = append(names, j.settings...)
	}
	for _, h := range others {
		names = append(names, h.settings...)
	}
	slices.Sort(names)
	return names
}
