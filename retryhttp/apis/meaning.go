package apis

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A meaning is what an event of a stream is for its reader.
type meaning int

const (
	quiet  meaning = iota // the answer has begun, but nothing of it is there
	output                // a part of the answer, or an event of an unknown protocol
	end                   // the answer is complete
)

// streamState is what is known about a stream from its events.
type streamState struct {
	known bool         // its protocol says when an answer is complete
	ended bool         // the answer is complete
	last  bool         // no event follows
	open  map[int]bool // the alternatives of the answer that are incomplete
}

// chunk has the fields of events by which they are told apart. The response in the first
// event of OpenAI, which may be long, is not among them, so that it is skipped.
type chunk struct {
	Type       string
	EventType  string `json:"event_type"` // Cohere, version 1
	Object     string
	Error      any
	Choices    []choice    // OpenAI's chat completions, and most others
	Candidates []candidate // Gemini
	Feedback   struct {
		BlockReason string
	} `json:"promptFeedback"`
	Usage    any `json:"usageMetadata"`
	BaseResp struct {
		StatusCode int `json:"status_code"`
	} `json:"base_resp"` // MiniMax
	Done  *bool   // Ollama
	Token any     // Text Generation Inference
	Text  *string `json:"generated_text"`
}

type choice struct {
	Index        int
	Delta        map[string]any
	Text         string
	FinishReason string `json:"finish_reason"`
	Error        json.RawMessage
}

type candidate struct {
	Index   int
	Content struct {
		Parts []any
	}
	FinishReason string
}

// read returns what an event means, and the part of it that is an error, if it reports one.
func (s *streamState) read(e Event) (meaning, map[string]any) {
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0 || e.Name == "ping":
		return quiet, nil
	case string(data) == "[DONE]":
		s.known, s.ended, s.last = true, true, true
		return end, nil
	}
	var c chunk
	// A field of another type than expected does not keep the others from being read.
	if err := json.Unmarshal(data, &c); err != nil && !json.Valid(data) {
		return s.readText(e)
	}
	if failure := failureOf(e, c, data); failure != nil {
		return quiet, failure
	}
	m := s.readChunk(c, data)
	s.ended = s.ended || m == end
	return m, nil
}

// readText returns the meaning of an event whose data is not JSON.
func (s *streamState) readText(e Event) (meaning, map[string]any) {
	switch {
	case e.raw:
		return quiet, nil
	case e.Name == "error":
		return quiet, map[string]any{"message": string(e.Data)}
	}
	return output, nil
}

// failureOf returns the part of an event that is an error, or nil.
func failureOf(e Event, c chunk, data []byte) map[string]any {
	var found any
	switch {
	case c.Type == "response.failed":
		var failed struct {
			Response struct{ Error json.RawMessage }
		}
		_ = json.Unmarshal(data, &failed)
		found = map[string]any{"error": decoded(failed.Response.Error)}
	case e.Name == "error", c.Type == "error", c.BaseResp.StatusCode != 0, c.Type == "response.error", c.Object == "error", isError(c.Error):
		found = decoded(data)
	}
	for _, choice := range c.Choices {
		if inside := decoded(choice.Error); isError(inside) {
			found = map[string]any{"error": inside}
		} else if strings.EqualFold(choice.FinishReason, "error") && found == nil {
			found = map[string]any{}
		}
	}
	if found == nil {
		return nil
	}
	failure, ok := found.(map[string]any)
	if !ok {
		failure = map[string]any{"error": found}
	}
	return failure
}

// isError reports whether the value of a field error is one.
func isError(value any) bool {
	switch value := value.(type) {
	case string:
		return value != ""
	case map[string]any:
		return len(value) > 0
	}
	return false
}

// readChunk returns the meaning of an event that is no error.
func (s *streamState) readChunk(c chunk, data []byte) meaning {
	kind := c.Type
	if kind == "" {
		kind = c.EventType
	}
	switch {
	case quietTypes[kind]:
		s.known = s.known || kind != "ping" && kind != "keepalive"
		return quiet
	case endTypes[kind]:
		s.known, s.last = true, true
		return end
	case strings.HasPrefix(kind, "response."): // OpenAI's responses
		s.known = true
		if quietResponse(kind) {
			return quiet
		}
	case c.Done != nil:
		s.known = true
		return meaningOfOllama(*c.Done, data)
	case c.Token != nil:
		s.known = true
		if c.Text != nil {
			return end
		}
	case c.Feedback.BlockReason != "":
		return end
	case c.Choices != nil:
		return s.readChoices(c.Choices)
	case c.Candidates != nil:
		return s.readCandidates(c.Candidates)
	case c.Usage != nil: // Gemini
		s.known = true
		return quiet
	}
	return output
}

var (
	// quietTypes are types of events that come before output: of Anthropic, OpenAI, Cohere.
	quietTypes = map[string]bool{
		"ping": true, "keepalive": true, "message_start": true, "content_block_start": true,
		"message-start": true, "content-start": true, "stream-start": true,
	}

	// endTypes are types of events that say that the answer is complete.
	endTypes = map[string]bool{
		"message_stop": true, "response.completed": true, "response.incomplete": true,
		"message-end": true, "stream-end": true,
	}
)

// quietResponse reports whether an event of OpenAI's responses says only what has begun.
func quietResponse(kind string) bool {
	last := kind[strings.LastIndex(kind, ".")+1:]
	switch last {
	case "created", "queued", "in_progress", "added", "searching":
		return true
	}
	return false
}

func (s *streamState) readChoices(choices []choice) meaning {
	m := quiet
	for _, c := range choices {
		if s.finished(c.Index, c.FinishReason != "") {
			return end
		}
		if c.FinishReason != "" || c.Text != "" || !isEmpty(c.Delta) {
			m = output
		}
	}
	return m
}

func (s *streamState) readCandidates(candidates []candidate) meaning {
	m := quiet
	for _, c := range candidates {
		if s.finished(c.Index, c.FinishReason != "") {
			return end
		}
		if c.FinishReason != "" || len(c.Content.Parts) > 0 {
			m = output
		}
	}
	return m
}

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

func meaningOfOllama(done bool, data []byte) meaning {
	if done {
		return end
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
		return quiet
	}
	return output
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
