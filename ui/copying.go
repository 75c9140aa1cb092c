package ui

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/copytext"
	"github.com/mcptap/mcptap/ui/feed"
)

// copied is what is to be copied: its bytes, and what they are, in a word.
type copied struct {
	what string
	b    []byte
	say  string // what the user has to know of it; may be ""
}

// copy gives the command that makes what an action copies, and puts it on the clipboards.
// It reads files; Update does not.
func (s *session) copy(id string) tea.Cmd {
	if id == "copy" {
		id = map[place]string{inCalls: "copy-frame", inFrame: "copy-value", inSide: "copy-block"}[s.focus]
	}
	s.feed.Lock()
	frame, frames := s.calls.frameAtCursor(), s.feed.Len()
	s.feed.Unlock()
	if frame < 0 {
		return send(noteMsg{"there is nothing to copy here", false})
	}
	f, path := s.feed, s.path
	switch id {
	case "copy-value":
		return s.copyValue(f, frame)
	case "copy-path":
		at := copied{what: "path", b: []byte(s.frame.path())}
		return s.env.copy(func() (copied, error) { return at, nil })
	case "copy-block":
		return s.copyBlock(frame, frames)
	case "copy-request":
		return s.copyRequest(frame, frames)
	case "copy-shell":
		return s.env.copy(func() (copied, error) { return shellCommand(f, path, frame) })
	}
	return s.env.copy(func() (copied, error) { return wholeFrame(f, frame) })
}

// copy puts on the clipboards what is made, and says what, how much, and where it is.
func (e *env) copy(of func() (copied, error)) tea.Cmd {
	put := e.Copy
	return func() tea.Msg {
		c, err := of()
		if err != nil {
			return noteMsg{"copying: " + err.Error(), true}
		}
		if len(c.b) == 0 || put == nil {
			return noteMsg{"there is nothing to copy here", false}
		}
		text := copytext.Of(c.b)
		where, err := put(text.String)
		if err != nil {
			return noteMsg{"copying the " + c.what + ": " + err.Error(), true}
		}
		said := []string{"copied the " + c.what + " (" + size(int64(len(text.String))) + " B) to the clipboard of " + where}
		for _, more := range []string{text.Notice(), c.say} {
			if more != "" {
				said = append(said, more)
			}
		}
		return noteMsg{strings.Join(said, "; "), false}
	}
}

func wholeFrame(f *feed.Feed, frame int) (copied, error) {
	b := f.Look(frame, textWidth(0))
	what := fmt.Sprintf("frame %d", b.Info.N)
	if b.Missing != "" {
		return copied{}, fmt.Errorf("%s: %s", what, b.Missing)
	}
	return copied{what: what, b: b.Bytes}, nil
}

// copyValue copies the value that the frame's cursor is on; of a frame that is no tree,
// all of it.
func (s *session) copyValue(f *feed.Feed, frame int) tea.Cmd {
	if b := s.frame.body; b == nil || b.Frame != frame {
		return send(noteMsg{"the frame is still being read", false})
	}
	t := s.frame.tree()
	if t == nil || t.Len() == 0 {
		return s.env.copy(func() (copied, error) { return wholeFrame(f, frame) })
	}
	value := t.Value(s.frame.list.Cursor()) // nobody changes it
	return s.env.copy(func() (copied, error) { return copied{what: "value", b: value}, nil })
}

// copyBlock copies the block under the cursor of what the model reads.
func (s *session) copyBlock(frame, frames int) tea.Cmd {
	p, ok := s.side.(*modelPane)
	if !ok || p.got == nil || p.list.Len() == 0 {
		return send(noteMsg{"m shows what the model reads: a block of it can be copied there", false})
	}
	path := p.got.rows[p.list.Cursor()].path
	if path == "" {
		return send(noteMsg{"this row sums others up: there is nothing to copy here", false})
	}
	at, reader := p.got.frame, p.reader
	return s.env.copy(func() (copied, error) {
		var c copied
		err := reader.request(at, max(frames, frame), func(q *claude.Request) { c = blockAt(q, path) })
		return c, err
	})
}

// blockAt is a block as the model reads it: a text as text, all else as JSON.
func blockAt(q *claude.Request, path string) copied {
	for p := range q.All() {
		if p.Path != path {
			continue
		}
		c := copied{what: "block " + path, b: p.JSON()}
		switch p.Kind {
		case claude.Tool, claude.ToolUse, claude.ToolResult, claude.Toolset:
		default:
			if text := p.Text(); text != "" {
				c.b = []byte(text)
			}
		}
		if !p.Exact() {
			c.say = "what is not on this wire is a mark in it"
		}
		return c
	}
	return copied{}
}

// copyRequest copies the whole request at the cursor, as 'mcptap request' prints it.
func (s *session) copyRequest(frame, frames int) tea.Cmd {
	reader, own := &requestReader{env: s.env, path: s.path, others: s.others}, true
	if p, ok := s.side.(*modelPane); ok {
		reader, own = p.reader, false
	}
	return s.env.copy(func() (copied, error) {
		if own {
			defer reader.stop()
		}
		var c copied
		err := reader.request(frame, frames, func(q *claude.Request) {
			c.what = fmt.Sprintf("request of turn %d", q.Turn)
			c.b, c.say = decode.Indented(q.JSON()), "what is not on this wire is a mark in it"
		})
		return c, err
	})
}

// request gives the request after a frame to somebody who looks at it.
func (r *requestReader) request(frame, frames int, look func(*claude.Request)) error {
	if m := r.at(frame, frames); m.err != nil { // reads the session if it has not been
		return m.err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading == nil {
		return errors.New("it was closed meanwhile")
	}
	look(r.book.RequestAt(r.line.After(replay.Ref{Frame: min(frame, r.frames-1)})))
	return nil
}

// shellCommand makes a command that sends a frame's message again; of an answer, that
// of its request.
func shellCommand(f *feed.Feed, path string, frame int) (copied, error) {
	f.Lock()
	header := f.Header
	if k := f.Frame(frame); k.Dir == tap.S2C && (k.Kind == decode.Result || k.Kind == decode.Error) {
		frame = max(f.Counterpart(frame), 0)
	}
	t := f.TapFrame(frame)
	var carriage *tap.Carriage
	if t != nil && t.HTTP != nil {
		own := *t.HTTP
		carriage = &own
	}
	f.Unlock()
	switch {
	case t == nil:
		return copied{}, errors.New("the frame can't be read from the recording any more")
	case header == nil:
		return copied{}, errors.New("the recording does not say how the server was started")
	case carriage != nil:
		return curlCommand(path, header.URL, carriage.Exchange)
	}
	return pipeCommand(f, header, frame)
}

// pipeCommand starts the server anew. One of the handshake's era is given the handshake
// first: it answers nothing before.
func pipeCommand(f *feed.Feed, header *tap.Header, frame int) (copied, error) {
	f.Lock()
	n, dir := f.Frame(frame).N, f.Frame(frame).Dir
	before := handshake(f, frame)
	f.Unlock()
	if dir != tap.C2S {
		return copied{}, fmt.Errorf("frame %d came from the server: there is no message to send", n)
	}
	var lines []string
	for _, at := range append(before, frame) {
		b := f.Look(at, textWidth(0))
		if b.Missing != "" {
			return copied{}, fmt.Errorf("frame %d: %s", b.Info.N, b.Missing)
		}
		lines = append(lines, string(b.Bytes))
	}
	command, err := copytext.Pipe(lines, header.Cwd, header.Command)
	c := copied{what: "shell command", b: []byte(command), say: maskedWords(command)}
	if len(before) > 0 {
		c.what = "shell command, with the handshake"
	}
	return c, err
}

// handshake are the frames that have to come before a frame.
func handshake(f *feed.Feed, frame int) (frames []int) {
	for i := range min(frame, handshakeFrames) {
		switch at := f.Frame(i); {
		case at.Dir == tap.C2S && (at.Method == "initialize" || at.Method == "notifications/initialized"):
			frames = append(frames, i)
		}
	}
	return frames
}

// handshakeFrames is how far from its beginning a session's handshake is looked for.
const handshakeFrames = 1000

// curlCommand sends the request of an exchange again. Its headers are in no index: the
// recording is read up to them.
func curlCommand(path, server string, exchange uint32) (copied, error) {
	in, err := sessions.Open(path)
	if err != nil {
		return copied{}, err
	}
	defer in.Close()
	h, err := requestOf(in, exchange)
	if err != nil {
		return copied{}, err
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return copied{}, errors.New("the recording does not say where the server is")
	}
	h.URL = u.Scheme + "://" + u.Host + h.URL
	command, err := copytext.Curl(h)
	return copied{what: "curl command", b: []byte(command), say: maskedWords(command)}, err
}

// requestOf reads an exchange's request: its head, and its body if it has one.
func requestOf(in *sessions.Session, exchange uint32) (h copytext.HTTP, err error) {
	for {
		rec, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return h, whole(&h, exchange)
		case err != nil:
			return h, err
		case rec.HTTP != nil && rec.HTTP.Exchange == exchange:
			switch rec.HTTP.Phase {
			case tap.PhaseRequest:
				h.Method, h.URL = rec.HTTP.Method, rec.HTTP.Target
				h.Headers = append(h.Headers, rec.HTTP.Headers...)
			case tap.PhaseEnd:
				return h, whole(&h, exchange)
			}
		case rec.Frame != nil && rec.Frame.HTTP != nil && rec.Frame.HTTP.Exchange == exchange && rec.Frame.Dir == tap.C2S:
			body, err := in.Body(rec.Frame)
			if err != nil {
				return h, err
			}
			h.Body, err = io.ReadAll(body)
			_ = body.Close()
			if err != nil {
				return h, err
			}
		}
	}
}

func whole(h *copytext.HTTP, exchange uint32) error {
	if h.Method == "" {
		return fmt.Errorf("the head of exchange x%d is not in the recording", exchange)
	}
	return nil
}

// maskedWords says that something has to be put in for a mask before a command works.
func maskedWords(command string) string {
	if strings.Contains(command, "«redacted") || strings.Contains(command, "***") {
		return "put your own secrets in place of its masks"
	}
	return ""
}
