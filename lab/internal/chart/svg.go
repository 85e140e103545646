package chart

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

//go:embed svg.mjs
var converter string

// SVG returns pictures, as Marshal returns them, as files, with policies to highlight. It
// needs Node.js, and is for the pictures of the documentation.
func SVG(ctx context.Context, pictures map[string]json.RawMessage, own ...string) (map[string]string, error) {
	input, err := json.Marshal(map[string]any{"script": Script(), "style": Style(), "own": own, "pictures": pictures})
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	node := exec.CommandContext(ctx, "node", "--input-type=module", "--eval", converter)
	var out, problems bytes.Buffer
	node.Stdin, node.Stdout, node.Stderr = bytes.NewReader(input), &out, &problems
	if err := node.Run(); err != nil {
		return nil, fmt.Errorf("chart: node: %w: %s", err, strings.TrimSpace(problems.String()))
	}
	var files map[string]string
	if err := json.Unmarshal(out.Bytes(), &files); err != nil {
		return nil, fmt.Errorf("chart: node: %w", err)
	}
	return files, nil
}
