package retrynats

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
)

// TestSettingsJudged: a setting that a new version of the client has is noticed here. The
// tests with a server compare the client's settings with the server's.
func TestSettingsJudged(t *testing.T) {
	assert.Subset(t, judged(t, consumerSettings), names[jetstream.ConsumerConfig]()) // an older client has fewer
	assert.Subset(t, judged(t, letterSettings), names[jetstream.StreamConfig]())
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

func judged[C any](t *testing.T, judgments []judgment[C]) []string {
	var names []string
	for _, j := range judgments {
		assert.NotEqual(t, j.harmless == "", j.fault == nil, "%v: either harmless or a fault", j.settings)
		names = append(names, j.settings...)
	}
	slices.Sort(names)
	return names
}
