package demo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

const instructions = "Ticket tracker for the Acme web app."

var serverInfo = implementation{Name: "acme-tickets", Version: "1.0.0"}

// Serve runs the ticket server on stdio until in ends, which is how an MCP
// session on stdio is over, and returns nil then. It speaks 2026-07-28 to every
// request whose _meta names a version, and after initialize the legacy
// revisions, both on one pipe if the client likes. A line may have any length,
// and a last line without its line feed counts.
//
// stderr gets one line at the start, as servers do; it is never part of the
// protocol.
func Serve(in io.Reader, out, stderr io.Writer) error {
	fmt.Fprintf(stderr, "%s: serving on stdio\n", serverInfo.Name)
	s := &server{out: out, desk: newDesk()}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: reading standard input: %w", serverInfo.Name, err)
		}
		if s.line(line); s.lost != nil {
			return fmt.Errorf("%s: %w", serverInfo.Name, s.lost)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// server is one connection. It works on one message at a time, so that answers
// come in the order of their requests on every run.
type server struct {
	out  io.Writer
	desk *desk
	// lost is the first failure to write. Nothing can be said after it, so it is
	// kept here and ends Serve instead of passing through every handler.
	lost error
	// revision is the one that initialize settled on, "" before that.
	revision string
	// modern tells how to read a request that names no version on a connection
	// without a handshake: as one whose _meta is incomplete, or as one too early.
	modern  bool
	listens []listen
}

func (s *server) send(v any) {
	if s.lost == nil {
		s.lost = writeFrame(s.out, v)
	}
}

func (s *server) line(line []byte) {
	line = bytes.Trim(line, " \t\r\n")
	switch {
	case len(line) == 0:
	case !utf8.Valid(line) || !json.Valid(line):
		s.send(failure(nil, fail(codeParseError, "Parse error")))
	case line[0] == '[':
		s.batch(line)
	default:
		if answer := s.answer(line); answer != nil {
			s.send(answer)
		}
	}
}

// batch serves an array of messages where the revision has them, and refuses it
// as a whole everywhere else.
func (s *server) batch(line []byte) {
	var elements []json.RawMessage
	if err := json.Unmarshal(line, &elements); err != nil || len(elements) == 0 || s.revision != batchRevision {
		s.send(failure(nil, fail(codeInvalidRequest, "Invalid Request: unexpected array")))
		return
	}
	var answers []*response
	for _, element := range elements {
		if answer := s.answer(element); answer != nil {
			answers = append(answers, answer)
		}
	}
	if answers != nil {
		s.send(answers)
	}
}

// answer returns nil for what must not be answered: notifications, responses,
// and the requests that stay open.
func (s *server) answer(raw []byte) *response {
	m, invalid := parseMessage(raw)
	switch {
	case invalid != nil:
		return failure(m.id, invalid)
	case m.kind == kindNotification:
		s.notified(m)
		return nil
	case m.kind == kindResponse:
		return nil
	}
	switch result, err := s.serve(m); {
	case err != nil:
		return failure(m.id, err)
	case result != nil:
		return &response{JSONRPC: "2.0", ID: m.id, Result: result}
	}
	return nil
}

// notified acts on the one notification that concerns this server; the others
// say nothing that it needs to know.
func (s *server) notified(m message) {
	if m.method == "notifications/cancelled" {
		s.endListen(m.params["requestId"])
	}
}

// call is one request with the revision whose rules it is answered by.
type call struct {
	message
	revision string
}

// handler serves one method. A nil result without an error leaves the request open.
type handler func(*server, call) (result, *rpcError)

var (
	// handlers are the methods of both eras.
	handlers = map[string]handler{
		"tools/list":               (*server).listTools,
		"tools/call":               (*server).callTool,
		"resources/list":           (*server).listResources,
		"resources/templates/list": (*server).listTemplates,
		"resources/read":           (*server).readResource,
		"prompts/list":             (*server).listPrompts,
		"prompts/get":              (*server).getPrompt,
	}
	legacyHandlers = map[string]handler{
		"initialize": (*server).initialize,
		"ping":       (*server).ping,
	}
	modernHandlers = map[string]handler{
		"server/discover":      (*server).discover,
		"subscriptions/listen": (*server).listen,
	}
)

func (s *server) serve(m message) (result, *rpcError) {
	meta, _ := m.params.object("_meta")
	if s.isModern(m.method, meta) {
		return s.serveModern(m, meta)
	}
	return s.serveLegacy(m)
}

// isModern decides the era of one request: by what it carries, else by its
// method, else by what the connection has been used for so far.
func (s *server) isModern(method string, meta object) bool {
	if meta.has(metaVersion) || meta.has(metaClientInfo) || meta.has(metaCapabilities) {
		return true
	}
	if modernHandlers[method] != nil {
		return true
	}
	return s.modern && s.revision == "" && method != "initialize"
}

func (s *server) serveModern(m message, meta object) (result, *rpcError) {
	if err := checkMeta(meta); err != nil {
		return nil, err
	}
	s.modern = true
	answer, err := s.dispatch(modernHandlers, call{m, modernRevision})
	if answer == nil || err != nil {
		return nil, err
	}
	answer.seal(m.method)
	return answer, nil
}

// checkMeta looks at the version before the rest: what else is required depends
// on it.
func checkMeta(meta object) *rpcError {
	version, ok := meta.text(metaVersion)
	if !ok {
		return fail(codeInvalidParams, "Invalid params: _meta lacks %s, a string", metaVersion)
	}
	if version != modernRevision {
		err := fail(codeUnsupportedVersion, "Unsupported protocol version")
		err.Data = versionsData{Supported: []string{modernRevision}, Requested: version}
		return err
	}
	if _, ok := meta.object(metaCapabilities); !ok {
		return fail(codeInvalidParams, "Invalid params: _meta lacks %s, an object", metaCapabilities)
	}
	return nil
}

type versionsData struct {
	Supported []string `json:"supported"`
	Requested string   `json:"requested"`
}

func (s *server) serveLegacy(m message) (result, *rpcError) {
	if s.revision == "" && legacyHandlers[m.method] == nil {
		return nil, fail(codeInvalidRequest, "Received request before initialization was complete")
	}
	return s.dispatch(legacyHandlers, call{m, s.revision})
}

func (s *server) dispatch(own map[string]handler, c call) (result, *rpcError) {
	handle := own[c.method]
	if handle == nil {
		handle = handlers[c.method]
	}
	if handle == nil {
		return nil, fail(codeMethodNotFound, "Method not found: %s", c.method)
	}
	return handle(s, c)
}

// initialize settles the revision: the one that was asked for if the server
// speaks it, else its newest.
func (s *server) initialize(c call) (result, *rpcError) {
	if s.revision != "" {
		return nil, fail(codeInvalidRequest, "Invalid Request: already initialized")
	}
	asked, ok := c.params.text("protocolVersion")
	if !ok {
		return nil, fail(codeInvalidParams, "Invalid params: protocolVersion is not a string")
	}
	for _, key := range []string{"capabilities", "clientInfo"} {
		if _, ok := c.params.object(key); !ok {
			return nil, fail(codeInvalidParams, "Invalid params: %s is not an object", key)
		}
	}
	s.revision = newestLegacy
	if slices.Contains(legacyRevisions, asked) {
		s.revision = asked
	}
	return &initializeResult{
		ProtocolVersion: s.revision,
		Capabilities:    capabilitiesWith(false),
		ServerInfo:      serverInfo,
		Instructions:    instructions,
	}, nil
}

func (s *server) ping(call) (result, *rpcError) { return &emptyResult{}, nil }

func (s *server) discover(call) (result, *rpcError) {
	return &discoverResult{
		SupportedVersions: []string{modernRevision},
		Capabilities:      capabilitiesWith(true),
		Instructions:      instructions,
	}, nil
}

// firstPage refuses a cursor, since every list of this server is one page and no
// cursor was ever given out.
func firstPage(c call) *rpcError {
	if c.params.has("cursor") {
		return fail(codeInvalidParams, "Invalid params: unknown cursor")
	}
	return nil
}
