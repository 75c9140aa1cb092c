package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// answer is a message from the server, with the members of every result that the
// script leads to.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result *reply          `json:"result"`
	Error  *rpcError       `json:"error"`
}

type reply struct {
	ResultType        string             `json:"resultType"`
	ProtocolVersion   string             `json:"protocolVersion"`
	ServerInfo        implementation     `json:"serverInfo"`
	SupportedVersions []string           `json:"supportedVersions"`
	Tools             []tool             `json:"tools"`
	ResourceTemplates []resourceTemplate `json:"resourceTemplates"`
	Content           []textContent      `json:"content"`
	IsError           bool               `json:"isError"`
	Contents          []resourceContents `json:"contents"`
	Messages          []promptMessage    `json:"messages"`
	Meta              struct {
		ServerInfo implementation `json:"io.modelcontextprotocol/serverInfo"`
	} `json:"_meta"`
}

// check tells whether the answer can be judged at all. A resultType that the
// client does not know makes a modern result invalid, whatever else it holds.
func (a answer) check(era Era) error {
	switch {
	case (a.Result == nil) == (a.Error == nil):
		return errors.New("the response has not one of result and error")
	case a.Result != nil && era == Modern && a.Result.ResultType != "complete":
		return fmt.Errorf("unexpected resultType %q", a.Result.ResultType)
	}
	return nil
}

// judge names the outcome of a call, and its gist.
func (a answer) judge(method string) (outcome, gist string) {
	if a.Error != nil {
		return outcomeProtocolError, oneLine(a.Error.Error())
	}
	gist = oneLine(a.Result.gist(method))
	if method != "tools/call" {
		return outcomeOK, gist
	}
	if a.Result.IsError {
		return outcomeToolError, gist
	}
	if told, hidden := a.Result.hiddenError(); hidden {
		return outcomeHiddenError, oneLine(told)
	}
	return outcomeOK, gist
}

// hiddenError finds a failure inside a success: a text that is a JSON object
// with an error member. This is only as much as the demo's own traffic needs, to
// say what it is about to show; the detector for the traffic of others, with its
// reasons and its exceptions, is part of package decode.
func (r reply) hiddenError() (told string, found bool) {
	for _, block := range r.Content {
		said, err := parseObject([]byte(block.Text))
		if err != nil || !said.has("error") {
			continue
		}
		if told, ok := said.text("error"); ok {
			return told, true
		}
		return string(said["error"]), true
	}
	return "", false
}

func (r reply) gist(method string) string {
	switch method {
	case "initialize":
		return fmt.Sprintf("%s %s speaks %s", r.ServerInfo.Name, r.ServerInfo.Version, r.ProtocolVersion)
	case "server/discover":
		who := r.Meta.ServerInfo
		return fmt.Sprintf("%s %s speaks %s", who.Name, who.Version, strings.Join(r.SupportedVersions, ", "))
	case "tools/list":
		return list(r.Tools, func(t tool) string { return t.Name })
	case "resources/templates/list":
		return list(r.ResourceTemplates, func(t resourceTemplate) string { return t.URITemplate })
	case "resources/read":
		return list(r.Contents, func(c resourceContents) string { return c.Text })
	case "prompts/get":
		return list(r.Messages, func(m promptMessage) string { return m.Content.Text })
	}
	return list(r.Content, func(c textContent) string { return c.Text })
}

func list[T any](items []T, name func(T) string) string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = name(item)
	}
	return strings.Join(names, ", ")
}

// gistWidth leaves room for the method and the name beside it on 120 columns.
const gistWidth = 72

// oneLine makes a text from the wire safe to print in a report: nothing that
// moves the cursor, and no more than fits. JSON loses its spaces first, since
// servers indent it for the model.
func oneLine(s string) string {
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(s)) == nil {
		s = compact.String()
	}
	s = strings.Join(strings.Fields(s), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
	if runes := []rune(s); len(runes) > gistWidth {
		return string(runes[:gistWidth-1]) + "…"
	}
	return s
}
