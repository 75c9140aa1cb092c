// Package connector shows a recorded session as the request that would have let
// Claude's API speak to the server itself: its MCP connector, with mcp_servers,
// mcp_toolset, and the calls as mcp_tool_use and mcp_tool_result blocks.
//
// It promises to say what of the recording has no place in such a request ([Note]),
// to invent nothing (what a tap can't know is a placeholder that says so), and to
// mask the user and the query of a URL, where credentials stand. It must not send
// anything.
package connector

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
)

//go:embed connector.json
var factsJSON []byte

type facts struct {
	Date   string          `json:"date"`
	Beta   string          `json:"beta"`
	Pinned string          `json:"beta_pinned"`
	Search json.RawMessage `json:"search"`
}

var known = sync.OnceValue(func() (f facts) {
	if err := json.Unmarshal(factsJSON, &f); err != nil {
		panic("connector: connector.json: " + err.Error()) // a mistake of ours, found by any test
	}
	return f
})

// Date is the day from which the shapes are (YYYY-MM-DD).
func Date() string { return known().Date }

// A Server is one MCP server with what was seen of it.
type Server struct {
	Label string // its name in the request; each once
	URL   string // https; what may be a credential is masked
	// Authorized reports that requests to it carried credentials: the request then
	// has a place for a token, without one.
	Authorized bool
	Tools      []Tool
	Calls      []Call
}

// A Tool is one definition as the server listed it.
type Tool struct {
	Name        string
	Description string
	Schema      []byte // inputSchema
	Off         bool   // not offered to the model
	Defer       *bool  // other than Options.Defer
}

// A Call is one call of a tool.
type Call struct {
	Order     int    // among the calls of all servers
	ID        string // of the mcp_tool_use block; empty: a placeholder
	Tool      string
	Arguments []byte // a JSON object; empty for none
	Result    []byte // the result object; empty if there is none
	Error     string // of the protocol; empty if there is none
}

// Options are what a tap can't know, and what is up to the one who asks.
type Options struct {
	Model     string
	MaxTokens int
	User      string // the user's message; empty: a placeholder
	Defer     bool   // tools are loaded when a search finds them
	Pin       bool   // the listing goes into the request, and the API does not ask for it
}

// A Note says what was lost, masked or made up on the way.
type Note struct {
	Path string // JSON pointer into the body; empty for what is not in it
	Text string // may hold text from the outside
}

// A Request is a body for POST /v1/messages.
type Request struct {
	Body  []byte // compact JSON
	Beta  string // value of the header anthropic-beta
	Notes []Note
}

type body struct {
	Model     string      `json:"model"`
	MaxTokens int         `json:"max_tokens"`
	Servers   []serverDef `json:"mcp_servers"`
	Tools     []any       `json:"tools"`
	Messages  []message   `json:"messages"`
}

type serverDef struct {
	Type  string `json:"type"`
	URL   string `json:"url"`
	Name  string `json:"name"`
	Token string `json:"authorization_token,omitempty"`
}

type toolset struct {
	Type    string            `json:"type"`
	Server  string            `json:"mcp_server_name"`
	Default config            `json:"default_config"`
	Configs map[string]config `json:"configs,omitempty"`
	Tools   []pinned          `json:"tools,omitempty"`
}

type config struct {
	Enabled *bool `json:"enabled,omitempty"`
	Defer   *bool `json:"defer_loading,omitempty"`
}

type pinned struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// Placeholders for what is not on the wire.
const (
	noUser  = "[not on this wire: what the user wrote]"
	noToken = "[not on this wire: a token]"
	masked  = "[masked]"
)

// Build makes the request.
func Build(servers []Server, o Options) (*Request, error) {
	b := builder{o: o, r: &Request{Beta: known().Beta}}
	if o.Pin {
		b.r.Beta = known().Pinned
	}
	b.body = body{Model: o.Model, MaxTokens: o.MaxTokens}
	if err := b.servers(servers); err != nil {
		return nil, fmt.Errorf("build a request for the MCP connector: %w", err)
	}
	b.body.Messages = append(b.body.Messages, message{"user", cmp.Or(o.User, noUser)})
	if o.User == "" {
		b.note("/messages/0/content", "the user's message is a placeholder: it does not cross between host and server")
	}
	b.calls(servers)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(&b.body); err != nil {
		return nil, fmt.Errorf("build a request for the MCP connector: %w", err)
	}
	b.r.Body = bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	return b.r, nil
}

type builder struct {
	o    Options
	r    *Request
	body body
}

func (b *builder) note(path, format string, args ...any) {
	b.r.Notes = append(b.r.Notes, Note{path, fmt.Sprintf(format, args...)})
}

func (b *builder) servers(servers []Server) error {
	if len(servers) == 0 {
		return errors.New("there is no server")
	}
	if b.o.Defer {
		b.body.Tools = append(b.body.Tools, known().Search)
		b.note("/tools/0", "a search tool is added: deferred tools are found by it only")
	}
	seen := map[string]bool{}
	for i := range servers {
		s := &servers[i]
		switch {
		case s.Label == "":
			return errors.New("a server has no label")
		case seen[s.Label]:
			return fmt.Errorf("two servers are called %q; each needs a name of its own", s.Label)
		}
		seen[s.Label] = true
		def, err := b.server(s, fmt.Sprintf("/mcp_servers/%d", i))
		if err != nil {
			return err
		}
		b.body.Servers = append(b.body.Servers, def)
		b.body.Tools = append(b.body.Tools, b.toolset(s, fmt.Sprintf("/tools/%d", len(b.body.Tools))))
	}
	return nil
}

func (b *builder) server(s *Server, at string) (serverDef, error) {
	address, hidden, err := safeURL(s.URL)
	if err != nil {
		return serverDef{}, fmt.Errorf("server %s: %w", s.Label, err)
	}
	if hidden {
		b.note(at+"/url", "what may be a credential in the URL of %s is masked", s.Label)
	}
	def := serverDef{Type: "url", URL: address, Name: s.Label}
	if s.Authorized {
		def.Token = noToken
		b.note(at+"/authorization_token", "%s wants credentials, which are not recorded", s.Label)
	}
	return def, nil
}

// safeURL masks the user, and the values of the query.
func safeURL(text string) (address string, hidden bool, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false, errors.New("its address is no URL") // the error would repeat it
	}
	if u.Scheme != "https" || u.Host == "" {
		return "", false, errors.New("the connector reaches servers on https only, and this one is not")
	}
	if u.User != nil {
		u.User, hidden = nil, true
	}
	if u.RawQuery != "" {
		query, err := url.ParseQuery(u.RawQuery)
		for key := range query {
			query.Set(key, masked)
		}
		if err != nil {
			query = url.Values{}
		}
		u.RawQuery, hidden = query.Encode(), true
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String(), hidden, nil
}

func (b *builder) toolset(s *Server, at string) toolset {
	on := true
	set := toolset{Type: "mcp_toolset", Server: s.Label, Default: config{Enabled: &on}}
	if b.o.Defer {
		set.Default.Defer = &on
	}
	for i := range s.Tools {
		t := &s.Tools[i]
		if c, differs := b.override(t); differs {
			if set.Configs == nil {
				set.Configs = map[string]config{}
			}
			set.Configs[t.Name] = c
		}
		if !b.o.Pin {
			continue
		}
		if !isObject(t.Schema) {
			b.note(at+"/tools", "%s is left out of the listing: its input schema is no object", t.Name)
			continue
		}
		set.Tools = append(set.Tools, pinned{t.Name, t.Description, t.Schema})
	}
	if !b.o.Pin {
		b.note(at, "the API asks %s for its tools by itself; what was recorded are %d", s.Label, len(s.Tools))
	}
	return set
}

func (b *builder) override(t *Tool) (c config, differs bool) {
	if t.Off {
		off := false
		c.Enabled = &off
	}
	if t.Defer != nil && *t.Defer != b.o.Defer {
		c.Defer = t.Defer
	}
	return c, c.Enabled != nil || c.Defer != nil
}

func isObject(raw []byte) bool {
	return json.Valid(raw) && strings.HasPrefix(strings.TrimLeft(string(raw), " \t\r\n"), "{")
}

// calls puts all calls into one turn of the assistant, as the API does when it
// calls the server itself.
func (b *builder) calls(servers []Server) {
	type call struct {
		*Call
		server string
		known  bool
	}
	var all []call
	for i := range servers {
		s := &servers[i]
		for k := range s.Calls {
			c := &s.Calls[k]
			all = append(all, call{c, s.Label, slices.ContainsFunc(s.Tools, func(t Tool) bool { return t.Name == c.Tool })})
		}
	}
	slices.SortStableFunc(all, func(x, y call) int { return cmp.Compare(x.Order, y.Order) })
	var blocks []any
	for i, c := range all {
		at := func() string { return fmt.Sprintf("/messages/1/content/%d", len(blocks)) }
		use := toolUse{Type: "mcp_tool_use", ID: c.ID, Name: c.Tool, Server: c.server, Input: json.RawMessage("{}")}
		if use.ID == "" {
			use.ID = fmt.Sprintf("mcptoolu_not_on_this_wire_%d", i+1)
		}
		switch {
		case isObject(c.Arguments):
			use.Input = c.Arguments
		case len(c.Arguments) > 0:
			b.note(at()+"/input", "the arguments of %s are no object, and are left out", c.Tool)
		}
		if !c.known {
			b.note(at()+"/name", "%s was not listed", c.Tool)
		}
		blocks = append(blocks, use)
		if result, ok := b.result(c.Call, use.ID, at()); ok {
			blocks = append(blocks, result)
		}
	}
	if len(blocks) > 0 {
		b.body.Messages = append(b.body.Messages, message{"assistant", blocks})
		b.note("/messages/1/content", "the assistant's text and thinking are not on the wire, nor what came after")
	}
}
