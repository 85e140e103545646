package apis

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// streamState is what is known about a stream from its events.
type streamState struct {
	index *index
	resp  *http.Response

	known bool         // its protocol says when an answer is complete
	ended bool         // the answer is complete
	last  bool         // no event follows
	open  map[int]bool // the alternatives of the answer that are incomplete
}

// chunk has the fields of the protocols whose answers have alternatives, or whose events are
// told apart by what they have.
type chunk struct {
	Choices    []choice    // OpenAI's chat completions, and most others
	Candidates []candidate // Gemini
	Feedback   struct {
		BlockReason string
	} `json:"promptFeedback"`
	Usage any     `json:"usageMetadata"`
	Done  *bool   // Ollama
	Token any     // Text Generation Inference
	Text  *string `json:"generated_text"`
}

type choice struct {
	Index        int
	Delta        map[string]any
	Text         string
	FinishReason string `json:"finish_reason"`
}

type candidate struct {
	Index   int
	Content struct {
		Parts []map[string]any
	}
	FinishReason string
}

// A failure is an event that reports one.
type failure struct {
	object map[string]any // the part that says what failed
	rule   *rule          // nil: none
}

// read returns what an event means, which is Quiet, Output, End or Last, and the failure that
// it reports, or nil.
func (s *streamState) read(e Event) (Meaning, *failure) {
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0:
		return Quiet, nil
	case string(bytes.Trim(data, `"`)) == "[DONE]":
		return s.means(Last), nil
	}
	r := s.index.inEvent(s.resp, e.Name, data)
	if r == nil {
		m, isJSON := s.readChunk(data)
		if !isJSON && e.raw {
			m = Quiet
		}
		return s.means(m), nil
	}
	if json.Valid(data) {
		return s.follow(r, func() map[string]any { return partOf(data, r) })
	}
	if e.raw {
		return Quiet, nil
	}
	named := s.index.inEvent(s.resp, e.Name, nil)
	if named == nil {
		return Output, nil
	}
	return s.follow(named, func() map[string]any { return map[string]any{"message": string(e.Data)} })
}

// follow returns what a row says about an event. part returns what the event says of a failure.
func (s *streamState) follow(r *rule, part func() map[string]any) (Meaning, *failure) {
	switch r.Means {
	case Throttled, Transient, Permanent, Failed, erred, denied:
		return Quiet, &failure{object: part(), rule: r}
	case Ordinary:
		return s.means(Output), nil
	case Begun:
		s.known = true
		return Quiet, nil
	case Output, End, Last:
		s.known = true
	}
	return s.means(r.Means), nil
}

// means notes what an event means, and returns it.
func (s *streamState) means(m Meaning) Meaning {
	if m == End || m == Last {
		s.known, s.ended = true, true
	}
	s.last = s.last || m == Last
	return m
}

// partOf returns the part of an event that says what failed: the object to which the path of
// r leads, or the event.
func partOf(data []byte, r *rule) map[string]any {
	event := decoded(data)
	part := event
	if r.Value == "any" {
		for key := range strings.SplitSeq(r.Path, ".") {
			part = valueAt(part, key)
		}
	}
	if object, ok := part.(map[string]any); ok && strings.Contains(r.Path, ".") {
		return object
	}
	if object, ok := event.(map[string]any); ok {
		return object
	}
	return map[string]any{"error": event}
}

// valueAt returns the value of a key in an object, or in the first object of a list that has it.
func valueAt(value any, key string) any {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, element := range list {
		object, _ := element.(map[string]any)
		if inside := object[key]; inside != nil {
			return inside
		}
	}
	return nil
}

// readChunk returns the meaning of an event to which no row applies, and reports whether it is JSON.
func (s *streamState) readChunk(data []byte) (m Meaning, isJSON bool) {
	var c chunk
	// A field of another type than expected does not keep the others from being read.
	if err := json.Unmarshal(data, &c); err != nil && !json.Valid(data) {
		return Output, false
	}
	return s.readFields(c, data), true
}

func (s *streamState) readFields(c chunk, data []byte) Meaning {
	switch {
	case c.Done != nil:
		s.known = true
		return meaningOfOllama(*c.Done, data)
	case c.Token != nil:
		s.known = true
		if c.Text != nil {
			return End
		}
	case c.Feedback.BlockReason != "":
		return End
	case c.Choices != nil:
		return s.readChoices(c.Choices)
	case c.Candidates != nil:
		return s.readCandidates(c.Candidates)
	case c.Usage != nil: // Gemini
		s.known = true
		return Quiet
	}
	return Output
}

func (s *streamState) readChoices(choices []choice) Meaning {
	m := Quiet
	for _, c := range choices {
		if s.finished(c.Index, c.FinishReason != "") {
			return End
		}
		if c.FinishReason != "" || c.Text != "" || !isEmpty(c.Delta) {
			m = Output
		}
	}
	return m
}

func (s *streamState) readCandidates(candidates []candidate) Meaning {
	m := Quiet
	for _, c := range candidates {
		if s.finished(c.Index, c.FinishReason != "") {
			return End
		}
		if c.FinishReason != "" || slices.ContainsFunc(c.Content.Parts, isOutput) {
			m = Output
		}
	}
	return m
}

// isOutput reports whether a part of an answer of Gemini's has more than an empty text.
func isOutput(part map[string]any) bool { return len(part) != 1 || part["text"] != "" }

// finished notes whether the alternative with this index is complete, and reports whether
// all are.
func (s *streamState) finished(index int, complete bool) bool {
	s.known = true
	if s.open == nil {
		s.open = map[int]bool{}
	}
	switch {
	case complete:
		delete(s.open, index)
	case len(s.open) < 128: // as many as any server has
		s.open[index] = true
	}
	return len(s.open) == 0
}

// isEmpty reports whether a delta has neither a text nor a list nor an object, apart from a
// role. Numbers and flags are about the output.
func isEmpty(delta map[string]any) bool {
	for key, value := range delta {
		if key == "role" {
			continue
		}
		switch value := value.(type) {
		case string:
			if value != "" {
				return false
			}
		case []any:
			if len(value) > 0 {
				return false
			}
		case map[string]any:
			if len(value) > 0 {
				return false
			}
		}
	}
	return true
}

func meaningOfOllama(done bool, data []byte) Meaning {
	if done {
		return End
	}
	var c struct {
		Response, Thinking string
		Message            struct {
			Content, Thinking string
			ToolCalls         []any `json:"tool_calls"`
		}
	}
	_ = json.Unmarshal(data, &c)
	if c.Response+c.Thinking+c.Message.Content+c.Message.Thinking == "" && len(c.Message.ToolCalls) == 0 {
		return Quiet
	}
	return Output
}

// decoded returns the value of a JSON text, with its numbers as they are, or nil.
func decoded(text []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}
