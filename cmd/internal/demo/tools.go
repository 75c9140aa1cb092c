package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tool is a tool definition as tools/list sends it, and what calling it does.
type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`

	run func(*server, arguments) *callToolResult
}

// arguments are bound to the tool's inputSchema; every property of these tools
// is a string.
type arguments map[string]string

// The schemas are written as the Python SDK generates them, title members and
// all: they are what a model pays for on every turn, so a demo with lean ones
// would show too small a rent.
var tools = []tool{{
	Name:         "search_tickets",
	Description:  "Search tickets whose title contains the query (case-insensitive). status: open, closed or any.",
	InputSchema:  json.RawMessage(`{"properties":{"query":{"title":"Query","type":"string"},"status":{"default":"open","title":"Status","type":"string"}},"required":["query"],"title":"search_ticketsArguments","type":"object"}`),
	OutputSchema: json.RawMessage(`{"properties":{"result":{"items":{"additionalProperties":true,"type":"object"},"title":"Result","type":"array"}},"required":["result"],"title":"search_ticketsOutput","type":"object"}`),
	run:          searchTickets,
}, {
	Name:         "add_comment",
	Description:  "Add a comment to a ticket, by its ID (for example T-101).",
	InputSchema:  json.RawMessage(`{"properties":{"ticket_id":{"title":"Ticket Id","type":"string"},"text":{"title":"Text","type":"string"}},"required":["ticket_id","text"],"title":"add_commentArguments","type":"object"}`),
	OutputSchema: json.RawMessage(`{"properties":{"result":{"title":"Result","type":"string"}},"required":["result"],"title":"add_commentOutput","type":"object"}`),
	run:          addComment,
}, {
	Name:        "assign_ticket",
	Description: "Assign a ticket to someone on the team, by the ticket's ID and the person's name.",
	InputSchema: json.RawMessage(`{"properties":{"ticket_id":{"title":"Ticket Id","type":"string"},"assignee":{"title":"Assignee","type":"string"}},"required":["ticket_id","assignee"],"title":"assign_ticketArguments","type":"object"}`),
	run:         assignTicket,
}}

// searchTickets answers with one text block an entry, and the same entries again
// as structured content.
func searchTickets(s *server, args arguments) *callToolResult {
	found := s.desk.search(args["query"], args["status"])
	answer := &callToolResult{Content: []textContent{}, StructuredContent: structured[[]entry]{found}}
	for _, e := range found {
		answer.Content = append(answer.Content, text(pretty(e)))
	}
	return answer
}

func addComment(s *server, args arguments) *callToolResult {
	id := args["ticket_id"]
	t := s.desk.find(id)
	if t == nil {
		return toolError("add_comment", "No ticket "+id)
	}
	t.Comments = append(t.Comments, args["text"])
	s.resourceUpdated(ticketScheme + id)
	said := fmt.Sprintf("Comment added to %s (%d total)", id, len(t.Comments))
	return &callToolResult{
		Content:           []textContent{text(said)},
		StructuredContent: structured[string]{said},
	}
}

// assignTicket is the tool with the fault that nobody sees: it reports its
// failures as data, so that the protocol, the host and every dashboard count a
// success. Servers that return a dict from an except block do this.
func assignTicket(s *server, args arguments) *callToolResult {
	id, person := args["ticket_id"], args["assignee"]
	t := s.desk.find(id)
	switch {
	case t == nil:
		return &callToolResult{Content: []textContent{text(pretty(missing{"No ticket " + id, 404}))}}
	case !s.desk.knows(person):
		return &callToolResult{Content: []textContent{text(pretty(missing{"No user " + person, 404}))}}
	}
	t.Assignee = person
	s.resourceUpdated(ticketScheme + id)
	return &callToolResult{Content: []textContent{text(pretty(entry{id, t}))}}
}

// structured wraps what is not an object into one, as the Python SDK does.
type structured[T any] struct {
	Result T `json:"result"`
}

type missing struct {
	Error  string `json:"error"`
	Status int    `json:"status"`
}

func toolError(name, message string) *callToolResult {
	said := fmt.Sprintf("Error executing tool %s: %s", name, message)
	return &callToolResult{Content: []textContent{text(said)}, IsError: true}
}

func (s *server) listTools(c call) (result, *rpcError) {
	if err := firstPage(c); err != nil {
		return nil, err
	}
	listed := slices.Clone(tools)
	if c.revision < structuredRevision {
		for i := range listed {
			listed[i].OutputSchema = nil
		}
	}
	return &toolsResult{Tools: listed}, nil
}

func (s *server) callTool(c call) (result, *rpcError) {
	name, ok := c.params.text("name")
	if !ok {
		return nil, fail(codeInvalidParams, "Invalid params: name is not a string")
	}
	i := slices.IndexFunc(tools, func(t tool) bool { return t.Name == name })
	if i < 0 {
		return nil, fail(codeInvalidParams, "Unknown tool: %s", name)
	}
	given, ok := c.params.object("arguments")
	if !ok && c.params.has("arguments") {
		return nil, fail(codeInvalidParams, "Invalid params: arguments is not an object")
	}
	args, wrong := tools[i].bind(given)
	if wrong != "" {
		return badArguments(c.revision, name, wrong)
	}
	answer := tools[i].run(s, args)
	if c.revision < structuredRevision {
		answer.StructuredContent = nil
	}
	return answer, nil
}

// badArguments is where the revisions part: until 2025-06-18 wrong values were
// invalid params; since then they are a tool error, so that the model reads what
// it did wrong and can try again.
func badArguments(revision, tool, wrong string) (result, *rpcError) {
	if revision < newestLegacy {
		return nil, fail(codeInvalidParams, "Invalid params: %s", wrong)
	}
	return toolError(tool, wrong), nil
}

// bind checks what was given against the inputSchema itself, the one that the
// client was shown, and fills in its defaults. It returns what is wrong in the
// words of the validator behind the Python SDK, or "".
func (t tool) bind(given object) (arguments, string) {
	var schema struct {
		Title      string
		Properties map[string]struct{ Default string }
		Required   []string
	}
	if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
		return nil, err.Error()
	}
	args, wrong := arguments{}, []string{}
	for _, key := range slices.Sorted(maps.Keys(schema.Properties)) {
		value, ok := given.text(key)
		switch {
		case given.has(key) && !ok:
			wrong = append(wrong, key+"\n  Input should be a valid string")
		case ok:
			args[key] = value
		case slices.Contains(schema.Required, key):
			wrong = append(wrong, key+"\n  Field required")
		default:
			args[key] = schema.Properties[key].Default
		}
	}
	return args, validationErrors(schema.Title, wrong)
}

func validationErrors(title string, wrong []string) string {
	switch len(wrong) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 validation error for %s\n%s", title, wrong[0])
	}
	return fmt.Sprintf("%d validation errors for %s\n%s", len(wrong), title, strings.Join(wrong, "\n"))
}
