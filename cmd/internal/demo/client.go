package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
)

// Era is one of the two ways to speak the protocol.
type Era string

// The eras: Legacy opens with initialize, Modern names its version in the _meta
// of every request.
const (
	Legacy Era = "legacy"
	Modern Era = "modern"
)

// Step is what the client saw of one call, for a one-line report.
type Step struct {
	Method string // the request's method
	Name   string // the tool, the prompt or the URI that it names, if any
	// Outcome is "ok", "tool error", "protocol error" or "hidden error".
	Outcome string
	// Gist is the answer in a few words, printable and without line breaks.
	Gist string
}

// The values of [Step.Outcome].
const (
	outcomeOK            = "ok"
	outcomeToolError     = "tool error"
	outcomeProtocolError = "protocol error"
	outcomeHiddenError   = "hidden error"
)

var clientInfo = implementation{Name: "lab-client", Version: "0.1"}

// params are the params of every request that the client makes, in the order in
// which its members are written.
type params struct {
	URI       string          `json:"uri,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Meta      *requestMeta    `json:"_meta,omitempty"`
}

func (p params) subject() string {
	if p.URI != "" {
		return p.URI
	}
	return p.Name
}

type requestMeta struct {
	ProtocolVersion    string         `json:"io.modelcontextprotocol/protocolVersion"`
	ClientInfo         implementation `json:"io.modelcontextprotocol/clientInfo"`
	ClientCapabilities struct{}       `json:"io.modelcontextprotocol/clientCapabilities"`
}

type initializeParams struct {
	ProtocolVersion string         `json:"protocolVersion"`
	Capabilities    struct{}       `json:"capabilities"`
	ClientInfo      implementation `json:"clientInfo"`
}

// move is one request of the script.
type move struct {
	method string
	params params
}

func toolCall(name, arguments string) move {
	return move{"tools/call", params{Name: name, Arguments: json.RawMessage(arguments)}}
}

// script follows the opening in both eras. It shows each outcome once, and the
// same calls in both, so that the two sessions differ by the protocol alone.
var script = []move{
	{method: "tools/list"},
	toolCall("search_tickets", `{"query":"login"}`),
	toolCall("add_comment", `{"ticket_id":"T-102","text":"Fix ships in 4.12"}`),
	toolCall("add_comment", `{"ticket_id":"T-999","text":"Any news?"}`),
	toolCall("close_ticket", `{"ticket_id":"T-101"}`),
	toolCall("assign_ticket", `{"ticket_id":"T-101","assignee":"robin"}`),
	{method: "resources/templates/list"},
	{"resources/read", params{URI: "tickets://T-102"}},
	{"prompts/get", params{Name: "triage", Arguments: json.RawMessage(`{"ticket_id":"T-101"}`)}},
}

// Drive plays the client's side of one session on the pipes of a server: in is
// the server's stdout, out its stdin. It closes out at the end, which is how a
// client on stdio says goodbye, reads in to its end, and returns the steps; with
// an error, the ones that were taken until then.
//
// An answer that reports a failure is a step, not an error. An error means that
// the session could not go on: the pipes broke, the server speaks another
// revision, or what came was no answer. When ctx ends, out is closed and Drive
// returns at once; a Read of in that is still waiting ends with the server.
func Drive(ctx context.Context, era Era, in io.Reader, out io.WriteCloser) ([]Step, error) {
	hangUp := sync.OnceValue(out.Close)
	defer func() { _ = hangUp() }() // after an error that says more
	if era != Legacy && era != Modern {
		return nil, fmt.Errorf("unknown era %q", era)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A write into a full pipe waits for a server that may never read; closing
	// the pipe is the only way to end it.
	defer context.AfterFunc(ctx, func() { _ = hangUp() })()

	c := &client{ctx: ctx, era: era, frames: readFrames(ctx, in), out: out}
	err := c.play()
	if err == nil {
		err = c.leave(hangUp)
	}
	if err != nil {
		return c.steps, fmt.Errorf("%s session: %w", era, err)
	}
	return c.steps, nil
}

type client struct {
	ctx    context.Context
	era    Era
	frames <-chan frame
	out    io.Writer
	lastID int
	steps  []Step
}

func (c *client) play() error {
	if err := c.open(); err != nil {
		return err
	}
	for _, m := range script {
		if _, err := c.ask(m); err != nil {
			return err
		}
	}
	return nil
}

// open learns who the server is and that it speaks this era's revision.
func (c *client) open() error {
	if c.era == Modern {
		r, err := c.ask(move{method: "server/discover"})
		if err == nil && !slices.Contains(r.SupportedVersions, modernRevision) {
			err = fmt.Errorf("server/discover: the server does not speak %s", modernRevision)
		}
		return err
	}
	r, err := c.request("initialize", "", initializeParams{ProtocolVersion: newestLegacy, ClientInfo: clientInfo})
	if err != nil {
		return err
	}
	if r.ProtocolVersion != newestLegacy {
		return fmt.Errorf("initialize: the server does not speak %s", newestLegacy)
	}
	return c.write("notifications/initialized", notification{JSONRPC: "2.0", Method: "notifications/initialized"})
}

// ask makes one request of the script as this era spells it.
func (c *client) ask(m move) (reply, error) {
	p := m.params
	if c.era == Modern {
		p.Meta = &requestMeta{ProtocolVersion: modernRevision, ClientInfo: clientInfo}
	}
	if p.Meta == nil && p.subject() == "" {
		return c.request(m.method, "", nil)
	}
	return c.request(m.method, p.subject(), p)
}

// request sends one request, waits for its answer and takes it down as a step.
func (c *client) request(method, name string, params any) (reply, error) {
	c.lastID++
	if err := c.write(method, request{JSONRPC: "2.0", ID: c.lastID, Method: method, Params: params}); err != nil {
		return reply{}, err
	}
	a, err := c.await()
	if err == nil {
		err = a.check(c.era)
	}
	if err != nil {
		return reply{}, fmt.Errorf("waiting for the answer to %s: %w", method, err)
	}
	outcome, gist := a.judge(method)
	c.steps = append(c.steps, Step{Method: method, Name: name, Outcome: outcome, Gist: gist})
	if a.Result == nil {
		return reply{}, nil
	}
	return *a.Result, nil
}

func (c *client) write(method string, v any) error {
	err := writeFrame(c.out, v)
	if err != nil && c.ctx.Err() != nil {
		err = c.ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("sending %s: %w", method, err)
	}
	return nil
}

// await passes over notifications, which a server may send whenever it likes,
// and takes nothing else for the answer than a response with the id it asked with.
func (c *client) await() (answer, error) {
	for {
		line, err := c.next()
		if err != nil {
			return answer{}, err
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			return answer{}, err
		}
		switch {
		case a.Method != "" && a.ID == nil:
		case a.Method != "" || string(a.ID) != strconv.Itoa(c.lastID):
			return answer{}, fmt.Errorf("got a message that is no answer to request %d", c.lastID)
		default:
			return a, nil
		}
	}
}

var errEnded = errors.New("the server's output ended")

func (c *client) next() ([]byte, error) {
	select {
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	case f, open := <-c.frames:
		switch {
		case c.ctx.Err() != nil:
			return nil, c.ctx.Err()
		case !open:
			return nil, errEnded
		case f.err != nil:
			return nil, f.err
		}
		return f.line, nil
	}
}

// leave closes the server's input and waits for its output to end, so that
// whatever the server says last has crossed the tap before the caller goes on.
func (c *client) leave(hangUp func() error) error {
	if err := hangUp(); err != nil {
		return fmt.Errorf("closing the server's input: %w", err)
	}
	for {
		switch _, err := c.next(); {
		case errors.Is(err, errEnded):
			return nil
		case err != nil:
			return fmt.Errorf("waiting for the server to end: %w", err)
		}
	}
}

type frame struct {
	line []byte
	err  error
}

// readFrames reads lines until in ends or ctx does. It has a goroutine of its own
// because a Read cannot be interrupted.
func readFrames(ctx context.Context, in io.Reader) <-chan frame {
	frames := make(chan frame)
	go func() {
		defer close(frames)
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 && !deliver(ctx, frames, frame{line: line}) {
				return
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					deliver(ctx, frames, frame{err: err})
				}
				return
			}
		}
	}()
	return frames
}

func deliver(ctx context.Context, frames chan<- frame, f frame) bool {
	select {
	case frames <- f:
		return true
	case <-ctx.Done():
		return false
	}
}
