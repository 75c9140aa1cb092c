package demo

import (
	"fmt"
	"strings"
)

const ticketScheme = "tickets://"

// listResources answers with an empty list rather than an error: clients ask as
// soon as they see the resources capability, and tickets are a template.
func (s *server) listResources(c call) (result, *rpcError) {
	if err := firstPage(c); err != nil {
		return nil, err
	}
	return &resourcesResult{Resources: []struct{}{}}, nil
}

func (s *server) listTemplates(c call) (result, *rpcError) {
	if err := firstPage(c); err != nil {
		return nil, err
	}
	return &templatesResult{ResourceTemplates: []resourceTemplate{{
		Name:        "ticket",
		URITemplate: ticketScheme + "{ticket_id}",
		Description: "One ticket as JSON.",
		MIMEType:    "text/plain",
	}}}, nil
}

func (s *server) readResource(c call) (result, *rpcError) {
	uri, ok := c.params.text("uri")
	if !ok {
		return nil, fail(codeInvalidParams, "Invalid params: uri is not a string")
	}
	id, ok := strings.CutPrefix(uri, ticketScheme)
	t := s.desk.find(id)
	if !ok || t == nil {
		return nil, resourceNotFound(c.revision, uri)
	}
	return &readResult{Contents: []resourceContents{{URI: uri, MIMEType: "text/plain", Text: pretty(t)}}}, nil
}

// resourceNotFound uses the code of its revision: the legacy one must not be
// sent in 2026-07-28.
func resourceNotFound(revision, uri string) *rpcError {
	code := codeResourceNotFound
	if revision >= modernRevision {
		code = codeInvalidParams
	}
	err := fail(code, "Resource not found")
	err.Data = struct {
		URI string `json:"uri"`
	}{uri}
	return err
}

var triage = prompt{
	Name:        "triage",
	Description: "Ask the model to triage one ticket.",
	Arguments:   []promptArgument{{Name: "ticket_id", Required: true}},
}

func (s *server) listPrompts(c call) (result, *rpcError) {
	if err := firstPage(c); err != nil {
		return nil, err
	}
	return &promptsResult{Prompts: []prompt{triage}}, nil
}

func (s *server) getPrompt(c call) (result, *rpcError) {
	name, ok := c.params.text("name")
	if !ok {
		return nil, fail(codeInvalidParams, "Invalid params: name is not a string")
	}
	if name != triage.Name {
		return nil, fail(codeInvalidParams, "Unknown prompt: %s", name)
	}
	given, _ := c.params.object("arguments")
	id, ok := given.text("ticket_id")
	if !ok {
		return nil, fail(codeInvalidParams, "Invalid params: ticket_id is not a string")
	}
	ask := fmt.Sprintf("Read ticket %s, decide its severity (P1-P3) and suggest an owner.", id)
	return &promptResult{
		Description: triage.Description,
		Messages:    []promptMessage{{Role: "user", Content: text(ask)}},
	}, nil
}
