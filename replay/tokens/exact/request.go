package exact

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcptap/mcptap/replay/tokens"
)

// A Request is a Messages request, as far as it is counted. Messages is needed; the
// rest may be empty. All are JSON in the API's form.
type Request struct {
	Model      string
	System     json.RawMessage
	Messages   json.RawMessage
	Tools      json.RawMessage
	ToolChoice json.RawMessage
}

// An UnsupportedError request is one that count_tokens does not take. Nothing was sent.
type UnsupportedError struct{ What string }

// Error says what, and what to do instead.
func (u *UnsupportedError) Error() string {
	return u.What + " can't be counted by count_tokens; count the request without it, and add what it would bring by an estimate"
}

// A RequestPlan counts one request.
type RequestPlan struct{ Plan }

// PlanRequest plans to count a whole request. It fails with [*UnsupportedError] for one that
// holds what the endpoint refuses.
func (c *Client) PlanRequest(r *Request) (*RequestPlan, error) {
	p := &RequestPlan{Plan{Model: r.Model, Host: c.host, What: "one whole request: system prompt, tools and messages"}}
	body, err := r.body()
	if err == nil {
		err = c.add(&p.Plan, "the request", func() []byte { return body })
	}
	if err != nil {
		return nil, fmt.Errorf("planning to count tokens: %w", err)
	}
	return p, nil
}

// CountRequest sends what the plan says. kept is why the answer couldn't be kept for
// the next time, if it couldn't.
func (c *Client) CountRequest(ctx context.Context, p *RequestPlan) (n tokens.Count, kept, err error) {
	if kept, err = c.run(ctx, &p.Plan, nil); err != nil {
		return tokens.Count{}, nil, err
	}
	return tokens.Exact(p.steps[0].n, source), kept, nil
}

func (r *Request) body() ([]byte, error) {
	if r.Model == "" || len(r.Messages) == 0 {
		return nil, errors.New("a model and messages are needed")
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(struct {
		Model      string          `json:"model"`
		System     json.RawMessage `json:"system,omitempty"`
		Messages   json.RawMessage `json:"messages"`
		Tools      json.RawMessage `json:"tools,omitempty"`
		ToolChoice json.RawMessage `json:"tool_choice,omitempty"`
	}{r.Model, r.System, r.Messages, r.Tools, r.ToolChoice}); err != nil {
		return nil, fmt.Errorf("the request is no JSON: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

//go:embed refused.json
var refusedJSON []byte

type refusedTable struct {
	AsOf          string   `json:"as_of"`
	About         string   `json:"about"`
	ToolTypes     []string `json:"tool_types"` // how they begin
	SourcedBlocks []string `json:"sourced_blocks"`
	Sources       []string `json:"sources"`
}

var refused = sync.OnceValue(func() *refusedTable {
	d := json.NewDecoder(bytes.NewReader(refusedJSON))
	d.DisallowUnknownFields()
	t := new(refusedTable)
	if err := d.Decode(t); err != nil {
		panic("refused.json: " + err.Error()) // a test reads it
	}
	return t
})

func (r *Request) check() error {
	if err := checkTools(r.Tools); err != nil {
		return err
	}
	return checkMessages(r.Messages)
}

func checkTools(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	var tools []struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Defer bool   `json:"defer_loading"`
	}
	if err := json.Unmarshal(raw, &tools); err != nil {
		return fmt.Errorf("tools is no list of tools: %w", err)
	}
	for i := range tools {
		t := &tools[i]
		if slices.ContainsFunc(refused().ToolTypes, func(p string) bool { return strings.HasPrefix(t.Type, p) }) {
			return &UnsupportedError{fmt.Sprintf("the server tool %.64q", t.Type)}
		}
		if t.Defer {
			return &UnsupportedError{fmt.Sprintf("the deferred tool %.64q", t.Name)}
		}
	}
	return nil
}

type content struct {
	Type   string `json:"type"`
	Source struct {
		Type string `json:"type"`
	} `json:"source"`
	Content json.RawMessage `json:"content"` // of a tool_result
}

func checkMessages(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	var messages []struct {
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &messages); err != nil {
		return fmt.Errorf("messages is no list of messages: %w", err)
	}
	for _, m := range messages {
		if err := checkContent(m.Content, true); err != nil {
			return err
		}
	}
	return nil
}

// checkContent looks at a list of blocks; results hold blocks too, one level deep.
// Plain strings, and what has an unknown form, are left to the endpoint.
func checkContent(raw json.RawMessage, deeper bool) error {
	var items []json.RawMessage
	_ = json.Unmarshal(raw, &items)
	for _, item := range items {
		var b content
		_ = json.Unmarshal(item, &b)
		if slices.Contains(refused().SourcedBlocks, b.Type) && slices.Contains(refused().Sources, b.Source.Type) {
			return &UnsupportedError{fmt.Sprintf("a block of type %s with a source of type %s", b.Type, b.Source.Type)}
		}
		if deeper && b.Type == "tool_result" {
			if err := checkContent(b.Content, false); err != nil {
				return err
			}
		}
	}
	return nil
}
