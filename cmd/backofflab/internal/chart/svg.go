package chart

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

//go:embed svg.mjs
var svgProgram string

// SVG draws pictures, which Marshal has returned, as SVG files with Node.js. own are the names
// of series to highlight. It returns an error that says so if Node.js is not installed.
func SVG(ctx context.Context, pictures map[string]json.RawMessage, own ...string) (files map[string]string, err error) {
	input, err := json.Marshal(map[string]any{"script": Script(), "style": Style(), "own": own, "pictures": pictures})
	if err != nil {
		return nil, err
	}
	node := exec.CommandContext(ctx, "node", "--input-type=module", "--eval", svgProgram)
	var out, problems bytes.Buffer
	node.Stdin, node.Stdout, node.Stderr = bytes.NewReader(input), &out, &problems
	switch err := node.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("SVG files are drawn with Node.js: %w", err)
	case err != nil:
		return nil, fmt.Errorf("node: %w: %s", err, strings.TrimSpace(problems.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &files); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	return files, nil
}
