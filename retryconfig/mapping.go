package retryconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// nameKeys are the keys of a mapping that stand for the first word of a text.
var nameKeys = []string{"rule", "preset", "backoff"}

// mostPath bounds the nesting of mappings, and thus the recursion.
const mostPath = 200

// mapping reads a decoded mapping of a policy, in which the name may have rules in
// parentheses and keys, or of a part.
func (b *builder) mapping(path string, m map[string]any, ofPolicy bool) node {
	n := node{isPart: true}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		before := len(b.faults)
		value := b.decoded(path, key, m[key], ofPolicy)
		if before < len(b.faults) && value.name == "" && !value.isPart {
			continue // one mistake, one fault
		}
		if !slices.Contains(nameKeys, key) {
			n.settings = append(n.settings, setting{path, key, ": ", value})
			continue
		}
		if ofPolicy && !value.isPart {
			value = b.parse(value.name)
		}
		if n.name != "" && value.name != "" {
			b.add("%skey %q names the rule a second time", path, key)
		}
		if value.name != "" {
			n.name, n.of = value.name, value.of
		}
		n.settings = append(n.settings, value.settings...)
	}
	return n
}

// decoded reads a value of a mapping.
func (b *builder) decoded(path, key string, value any, ofPolicy bool) node {
	here := path + clip(key, 40) + ": "
	switch v := value.(type) {
	case map[string]any: // backoff: {rule: full, base: 1s}, budget: {rule: token, capacity: 100}
		if len(here) > mostPath {
			b.add("%smappings are nested too deep", here)
			return node{}
		}
		return b.mapping(here, v, ofPolicy && slices.Contains(nameKeys, key))
	case []any:
		if len(v) == 0 {
			b.add("%sthe list is empty", here)
		}
		var parts []string
		for _, part := range v {
			if _, nested := part.(map[string]any); nested {
				b.add("%sa mapping in a list is not a text, a number or a boolean", here)
				continue
			}
			parts = append(parts, b.decoded(path, key, part, false).name)
		}
		return node{name: strings.Join(parts, listSeparator)}
	}
	switch kind := reflect.ValueOf(value).Kind(); {
	case kind == reflect.String, kind >= reflect.Bool && kind <= reflect.Float64 && kind != reflect.Uintptr:
		return node{name: fmt.Sprint(value)} // a json.Number and a time.Duration, too
	}
	b.add("%s%s is not a text, a number or a boolean", here, kindOf(value))
	return node{}
}

// kindOf names the kind of a decoded value.
func kindOf(value any) string {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid:
		return "null"
	case reflect.Map:
		if _, ok := value.(map[string]any); !ok {
			return "a mapping with keys that are not text"
		}
		return "a mapping"
	case reflect.Slice:
		return "a list"
	}
	_, isNumber := value.(json.Number)
	if isNumber || v.CanInt() || v.CanUint() || v.CanFloat() {
		return fmt.Sprintf("the number %v", value)
	}
	return fmt.Sprintf("a %T", value)
}
