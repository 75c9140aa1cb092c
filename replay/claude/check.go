package claude

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/replay/internal/wire"
)

// A Problem is something in a request that the API refuses.
type Problem struct {
	Path string // JSON pointer into the request
	Text string // what is wrong; may hold text from the outside
}

func (p Problem) String() string { return strings.TrimPrefix(p.Path+": "+p.Text, ": ") }

// Limits of the API.
const (
	maxBody     = 32 << 20
	maxMessages = 100_000
)

// What the API asks of names, as its error messages quote it.
var (
	toolName     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	useID        = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
)

// Check tells what in the body of a Messages request the API would refuse, as far as
// its rules are known: shapes, names, schemas, and that every tool use is answered
// in the next message, first thing, once. A request without problems can be sent.
func Check(request []byte) []Problem {
	c := checker{uses: map[string]bool{}, isOpen: map[string]bool{}}
	switch {
	case !gjson.ValidBytes(request):
		return []Problem{{"", "it is not valid JSON"}}
	case !utf8.Valid(request):
		return []Problem{{"", "it is not valid UTF-8"}}
	case loneSurrogate(string(request)):
		c.fault("", "it holds half a character (a lone surrogate)")
	case len(request) > maxBody:
		c.fault("", "it has %d bytes; the API takes %d", len(request), maxBody)
	}
	root := wire.Root(request)
	c.top(root)
	c.tools(root.Get("tools"))
	c.system(root.Get("system"))
	c.messages(root.Get("messages"))
	return c.found
}

type checker struct {
	found  []Problem
	uses   map[string]bool // ids so far
	open   []string        // ids that the next message has to answer, in order
	isOpen map[string]bool // the same ids: one message may have tens of thousands
}

func (c *checker) fault(path, format string, args ...any) {
	c.found = append(c.found, Problem{path, fmt.Sprintf(format, args...)})
}

func (c *checker) top(root wire.Value) {
	if root.Get("model").Text() == "" {
		c.fault("/model", "it is missing or no text")
	}
	if n := root.Get("max_tokens"); n.Type != gjson.Number || n.Num < 0 || n.Num != float64(int64(n.Num)) {
		c.fault("/max_tokens", "it is missing or no whole number")
	}
	if used := root.Get("messages"); strings.Contains(used.Raw, `"tool_use"`) && len(root.Get("tools").Items()) == 0 {
		c.fault("/tools", "a request with tool uses has to define tools")
	}
}

func (c *checker) tools(tools wire.Value) {
	if tools.Exists() && !tools.IsArray() {
		c.fault(tools.Path, "it is no array")
	}
	names, loaded := map[string]bool{}, 0
	for _, t := range tools.Items() {
		if t.Get("defer_loading").Type != gjson.True {
			loaded++
		}
		if kind := t.Get("type").Text(); kind != "" && kind != "custom" {
			continue // the API's own tools have shapes of their own
		}
		c.tool(t, names)
	}
	if n := len(tools.Items()); n > 0 && loaded == 0 {
		c.fault(tools.Path, "all of its tools are deferred: one has to be loaded")
	}
}

func (c *checker) tool(t wire.Value, names map[string]bool) {
	name := t.Get("name").Text()
	switch {
	case !toolName.MatchString(name):
		c.fault(t.Path+"/name", "it should match %s", toolName)
	case names[name]:
		c.fault(t.Path+"/name", "another tool has it")
	}
	names[name] = true
	if d := t.Get("description"); d.Exists() && d.Type != gjson.String {
		c.fault(d.Path, "it is no text")
	}
	if why := schemaRefused(t.Get("input_schema")); why != "" {
		c.fault(t.Path+"/input_schema", "%s", why)
	}
	if t.Get("defer_loading").Type == gjson.True && t.Get("cache_control").There() {
		c.fault(t.Path, "a deferred tool can't have cache_control")
	}
}

func (c *checker) system(v wire.Value) {
	if v.Exists() && v.Type != gjson.String && !v.IsArray() {
		c.fault(v.Path, "it is neither a text nor an array")
	}
	for _, b := range v.Items() {
		if b.Get("type").Text() != "text" {
			c.fault(b.Path, "a system prompt has texts only")
		}
		c.text(b)
	}
}

func (c *checker) text(b wire.Value) {
	switch {
	case b.Get("text").Type != gjson.String || b.Get("text").Str == "":
		c.fault(b.Path+"/text", "text content blocks must be non-empty")
	case blank(b.Get("text").Text()):
		c.fault(b.Path+"/text", "text content blocks must contain non-whitespace text")
	}
}

func (c *checker) messages(v wire.Value) {
	all := v.Items()
	switch {
	case len(all) == 0:
		c.fault("/messages", "there is no message")
		return
	case len(all) > maxMessages:
		c.fault("/messages", "there are %d messages; the API takes %d", len(all), maxMessages)
	case all[0].Get("role").Text() != "user":
		c.fault("/messages/0/role", "the first message has to be the user's")
	}
	for _, m := range all {
		c.message(m)
	}
	if len(c.open) > 0 {
		c.fault("/messages/"+strconv.Itoa(len(all)-1), "tool uses without results: %s", strings.Join(c.open, ", "))
	}
}

func (c *checker) message(m wire.Value) {
	role, content := m.Get("role").Text(), m.Get("content")
	if role != "user" && role != "assistant" && role != "system" {
		c.fault(m.Path+"/role", "it should be user or assistant")
	}
	if content.Type == gjson.String {
		if content.Str == "" {
			c.fault(content.Path, "it is empty")
		}
		c.unanswered(m, nil)
		return
	}
	blocks := content.Items()
	if len(blocks) == 0 {
		c.fault(content.Path, "it holds nothing")
	}
	if role == "user" {
		c.user(m, blocks)
		return
	}
	c.unanswered(m, nil)
	c.assistant(blocks)
}

// unanswered tells of tool uses of the message before that this one does not answer.
func (c *checker) unanswered(m wire.Value, answered map[string]bool) {
	var left []string
	for _, id := range c.open {
		if !answered[id] {
			left = append(left, id)
		}
	}
	if len(left) > 0 {
		c.fault(m.Path, "tool_use ids without tool_result blocks immediately after: %s", strings.Join(left, ", "))
	}
	c.open = nil
	clear(c.isOpen)
}

func (c *checker) user(m wire.Value, blocks []wire.Value) {
	answered := map[string]bool{}
	other := false
	for _, b := range blocks {
		switch kind := b.Get("type").Text(); kind {
		case "tool_result":
			if other {
				c.fault(b.Path, "results come before everything else in a message")
			}
			c.result(b, answered)
		case "text":
			other = true
			c.text(b)
		case "image", "document", "search_result":
			other = true
			c.source(b)
		default:
			c.fault(b.Path+"/type", "a user's message has no block %q", kind)
		}
	}
	c.unanswered(m, answered)
}

func (c *checker) result(b wire.Value, answered map[string]bool) {
	id := b.Get("tool_use_id").Text()
	switch {
	case !c.isOpen[id]:
		c.fault(b.Path+"/tool_use_id", "unexpected: no tool_use of the previous message has it")
	case answered[id]:
		c.fault(b.Path+"/tool_use_id", "the tool use has a result already")
	}
	c.resultContent(b, false)
	answered[id] = true
}

// resultContent checks what a result holds.
func (c *checker) resultContent(b wire.Value, textsOnly bool) {
	content := b.Get("content")
	failed := b.Get("is_error").Type == gjson.True
	if failed && (content.Type == gjson.String && content.Str == "" || content.Type != gjson.String && len(content.Items()) == 0) {
		c.fault(content.Path, "content cannot be empty if is_error is true")
	}
	for _, part := range content.Items() {
		kind := part.Get("type").Text()
		switch {
		case kind == "text":
			c.text(part)
		case failed && kind != "tool_reference":
			c.fault(part.Path+"/type", "a failed result may hold texts only")
		case textsOnly:
			c.fault(part.Path+"/type", "only texts may stand here")
		case kind == "image", kind == "document", kind == "search_result":
			c.source(part)
		case kind == "tool_reference":
		default:
			c.fault(part.Path+"/type", "a tool result has no block %q", kind)
		}
	}
}

// source checks where an image or a document comes from.
func (c *checker) source(b wire.Value) {
	s := b.Get("source")
	kind := s.Get("type").Text()
	if b.Get("type").Text() == "search_result" {
		return
	}
	if kind == "base64" || kind == "text" {
		if s.Get("data").Text() == "" {
			c.fault(s.Path+"/data", "it is empty")
		}
		if kind == "base64" && !isBase64(s.Get("data").Text()) {
			c.fault(s.Path+"/data", "it is no base64")
		}
		if s.Get("media_type").Text() == "" {
			c.fault(s.Path+"/media_type", "it is missing")
		}
	}
	if b.Get("type").Text() == "image" && kind == "base64" && !slices.Contains(Builtin().Defaults.ImageTypes, s.Get("media_type").Text()) {
		c.fault(s.Path+"/media_type", "the API takes %s", strings.Join(Builtin().Defaults.ImageTypes, ", "))
	}
	if !slices.Contains([]string{"base64", "url", "file", "text", "content"}, kind) {
		c.fault(s.Path+"/type", "there is no source %q", kind)
	}
}

func (c *checker) assistant(blocks []wire.Value) {
	open := map[string]bool{} // of the connector, within the message
	for _, b := range blocks {
		switch b.Get("type").Text() {
		case "tool_use":
			c.use(b)
			id := b.Get("id").Text()
			c.open, c.isOpen[id] = append(c.open, id), true
		case "mcp_tool_use":
			c.use(b)
			open[b.Get("id").Text()] = true
		case "mcp_tool_result":
			id := b.Get("tool_use_id").Text()
			if !open[id] {
				c.fault(b.Path+"/tool_use_id", "no open mcp_tool_use of this message has it")
			}
			delete(open, id)
			c.resultContent(b, true)
		case "text":
			c.text(b)
		}
	}
	for id := range open {
		c.fault(blocks[0].Path, "an mcp_tool_use without a result: %s", id)
	}
}

func (c *checker) use(b wire.Value) {
	id := b.Get("id").Text()
	switch {
	case !useID.MatchString(id):
		c.fault(b.Path+"/id", "it should match %s", useID)
	case c.uses[id]:
		c.fault(b.Path+"/id", "tool_use ids must be unique")
	}
	c.uses[id] = true
	if name := b.Get("name").Text(); b.Get("type").Text() == "tool_use" && !toolName.MatchString(name) {
		c.fault(b.Path+"/name", "it should match %s", toolName)
	}
	if !b.Get("input").IsObject() {
		c.fault(b.Path+"/input", "it should be an object")
	}
}
