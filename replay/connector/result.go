package connector

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

type toolUse struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Server string          `json:"server_name"`
	Input  json.RawMessage `json:"input"`
}

type toolResult struct {
	Type    string      `json:"type"`
	Use     string      `json:"tool_use_id"`
	IsError bool        `json:"is_error"`
	Content []textBlock `json:"content"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// result writes a call's result: the block's type has room for text only.
func (b *builder) result(c *Call, id, at string) (toolResult, bool) {
	r := toolResult{Type: "mcp_tool_result", Use: id, Content: []textBlock{}}
	switch {
	case c.Error != "":
		r.IsError = true
		r.Content = append(r.Content, textBlock{"text", c.Error})
		b.note(at+"/content", "an error of the protocol: the words that the API puts there are not known")
		return r, true
	case !isObject(c.Result):
		b.note("", "%s has no result: the API would not send such a turn on", c.Tool)
		return r, false
	}
	result := gjson.ParseBytes(c.Result)
	r.IsError = result.Get("isError").Type == gjson.True
	for _, block := range result.Get("content").Array() {
		kind, text := block.Get("type").String(), block.Get("text")
		if kind == "text" && text.Type == gjson.String {
			r.Content = append(r.Content, textBlock{"text", text.String()})
			continue
		}
		b.note(at+"/content", "a block of type %q has no place in mcp_tool_result", kind)
	}
	if result.Get("structuredContent").Exists() {
		b.note(at, "structuredContent has no place in mcp_tool_result")
	}
	return r, true
}
