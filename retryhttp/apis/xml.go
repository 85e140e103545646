package apis

import (
	"encoding/json"
	"strings"
)

// xmlEntities are those that XML itself has.
var xmlEntities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// jsonOf returns an XML document as JSON: an element with elements is an object, and every other
// one a text. Names are in lower case and without a prefix. Attributes are left out, and so is
// what is deeper than codes are.
func jsonOf(document string) []byte {
	objects := []map[string]any{{}}
	names := []string{""}
	text := ""
	for {
		before, rest, found := strings.Cut(document, "<")
		tag, after, closed := strings.Cut(rest, ">")
		if !found || !closed {
			break
		}
		text += before
		document = after
		name, isEnd := strings.CutPrefix(tag, "/")
		last := len(objects) - 1
		switch {
		case strings.HasPrefix(tag, "?"), strings.HasPrefix(tag, "!"), strings.HasSuffix(tag, "/"):
		case isEnd && last > 0:
			if last <= maxDepth {
				parent := objects[last-1]
				if len(objects[last]) > 0 {
					parent[names[last]] = objects[last]
				} else {
					parent[names[last]] = xmlEntities.Replace(strings.TrimSpace(text))
				}
			}
			objects = objects[:last]
			names = names[:last]
			text = ""
		case !isEnd:
			objects = append(objects, map[string]any{})
			names = append(names, elementName(name))
			text = ""
		}
	}
	encoded, _ := json.Marshal(objects[0])
	return encoded
}

// elementName returns the name of a tag.
func elementName(tag string) string {
	fields := strings.Fields(tag)
	if len(fields) == 0 {
		return ""
	}
	name := fields[0]
	return strings.ToLower(name[strings.LastIndex(name, ":")+1:])
}

// xmlFails reports whether a document with status 200 is an error, such as those of S3, which
// sends white space until it knows the outcome.
func xmlFails(peek func(n int) ([]byte, error)) bool {
	for n := 64; ; n *= 2 {
		begin, err := peek(min(n, maxBody))
		text := strings.TrimSpace(string(begin))
		if strings.HasPrefix(text, "<?") {
			_, text, _ = strings.Cut(text, "?>")
			text = strings.TrimSpace(text)
		}
		if len(text) >= len("<Error>") {
			return strings.HasPrefix(text, "<Error>") || strings.HasPrefix(text, "<Error ")
		}
		if err != nil || len(begin) < n || n >= maxBody {
			return false
		}
	}
}
