package cli

import (
	"encoding/json"
	"strings"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/tokens"
)

// The objects of request --changes and --links. Their shape is described in 'mcptap
// help json' and only ever grows.
type linksJSON struct {
	Turn         int                  `json:"turn"`
	Turns        int                  `json:"turns"`
	Tokens       sumJSON              `json:"tokens"`
	Host         hostJSON             `json:"host"`
	Model        string               `json:"model"`
	Loading      string               `json:"loading"`
	Sessions     []playedJSON         `json:"sessions"`
	Blocks       []blockJSON          `json:"blocks"`
	Placeholders []claude.Placeholder `json:"placeholders"`
	LeftOut      []leftJSON           `json:"left_out"`
	Ended        []int                `json:"ended"` // sessions whose tools are not in it any more
	Groups       []groupJSON          `json:"groups"`
	Apart        []apartJSON          `json:"apart"`
}

// sumJSON is the tokens of a request. What is not on this wire is in none of them.
type sumJSON struct {
	Model    string       `json:"model"`
	Total    tokens.Count `json:"total"`
	Preamble tokens.Count `json:"preamble"`
	Tools    tokens.Count `json:"tools"`
	System   tokens.Count `json:"system"`
	Messages tokens.Count `json:"messages"`
	AtLeast  bool         `json:"at_least"`
	Images   int          `json:"images_not_counted,omitempty"`
}

func sumObject(m *ledger.Meter, r *claude.Request) sumJSON {
	s := m.Request(r)
	return sumJSON{m.Estimator().Model().ID, s.Total, s.Preamble, s.Tools, s.System, s.Messages, s.AtLeast, s.Images}
}

type hostJSON struct {
	ID         string   `json:"id"`
	Why        string   `json:"why"`
	Confidence string   `json:"confidence"`
	Date       string   `json:"date"`
	Assumed    []string `json:"assumed"`
}

type playedJSON struct {
	Name  string `json:"name"`
	Probe bool   `json:"probe,omitempty"`
}

// fromJSON is where something comes from: the index of a session, the number of a
// frame, and a JSON pointer into it.
type fromJSON struct {
	Session int    `json:"session"`
	Frame   uint64 `json:"frame"`
	Path    string `json:"path"`
}

type noteObject struct {
	Kind  claude.NoteKind `json:"kind"`
	Words string          `json:"words"`
}

type cutJSON struct {
	From      fromJSON `json:"from"`
	Unit      string   `json:"unit"`
	Limit     int      `json:"limit"`
	Size      int      `json:"size"`
	Estimated bool     `json:"estimated"`
	Lost      string   `json:"lost"` // its first bytes
	LostBytes int      `json:"lost_bytes"`
}

// maxLost bounds how much is printed of a text that a host cuts off: all of it is in
// the recording.
const maxLost = 2000

type blockJSON struct {
	Path   string          `json:"path"`
	Kind   claude.Kind     `json:"kind"`
	New    bool            `json:"new"`
	Bytes  int             `json:"bytes"`
	Exact  bool            `json:"exact"` // nothing of it is a placeholder
	Tokens *tokens.Count   `json:"tokens,omitempty"`
	Held   *bool           `json:"held,omitempty"` // of a tool: the model has the definition
	Name   string          `json:"name,omitempty"`
	Tool   string          `json:"tool,omitempty"`
	Server string          `json:"server,omitempty"`
	From   []fromJSON      `json:"from"`
	Notes  []noteObject    `json:"notes,omitempty"`
	Cuts   []cutJSON       `json:"cuts,omitempty"`
	Block  json.RawMessage `json:"block,omitempty"`
}

type leftJSON struct {
	Tool string     `json:"tool"`
	From []fromJSON `json:"from"`
	Why  string     `json:"why"`
}

type groupJSON struct {
	Turn     int             `json:"turn"`
	Frames   []fromJSON      `json:"calls"`
	Rule     replay.Rule     `json:"rule"`
	Strength replay.Strength `json:"strength"`
	Why      string          `json:"why"`
	Joins    []joinJSON      `json:"joins,omitempty"`
}

type joinJSON struct {
	Call     fromJSON        `json:"call"`
	Rule     replay.Rule     `json:"rule"`
	Strength replay.Strength `json:"strength"`
	Why      string          `json:"why"`
}

type apartJSON struct {
	Call fromJSON `json:"call"`
	Tool string   `json:"tool"`
	Why  string   `json:"why"`
}

func linksObject(rd *reading, r *claude.Request) linksJSON {
	b := rd.book
	host, reason := b.Profile()
	o := linksJSON{
		Turn: r.Turn, Turns: b.Turns(), Tokens: sumObject(rd.meter, r), Model: b.Model(), Loading: b.Loading(),
		Host:         hostJSON{host.ID, reason, host.Confidence, host.Date, append([]string{}, host.Assumed...)},
		Placeholders: r.Placeholders(), LeftOut: []leftJSON{}, Ended: append([]int{}, r.Ended()...), Groups: []groupJSON{}, Apart: []apartJSON{},
	}
	line := b.Timeline()
	for i, s := range line.Sessions {
		o.Sessions = append(o.Sessions, playedJSON{s.Name, line.IsProbe(i)})
	}
	for p := range r.All() {
		o.Blocks = append(o.Blocks, blockObject(rd.meter, r, p, false)...)
	}
	for _, t := range r.LeftOut {
		o.LeftOut = append(o.LeftOut, leftJSON{t.Name.Tool, froms(t.Links()), lastNote(t)})
	}
	for i := range line.Turns[:r.Turn] {
		o.Groups = append(o.Groups, groupObject(line, i))
	}
	for i := range line.Apart {
		c := &line.Apart[i]
		o.Apart = append(o.Apart, apartJSON{frameOf(line, c.Request), c.Tool, c.Reason})
	}
	return o
}

func lastNote(t *claude.Block) string {
	if len(t.Notes) == 0 {
		return ""
	}
	return t.Notes[len(t.Notes)-1].Words
}

func frameOf(line *replay.Timeline, f replay.Ref) fromJSON {
	return fromJSON{f.Session, line.Number(f), ""}
}

func froms(links []claude.Link) []fromJSON {
	out := []fromJSON{}
	for _, l := range links {
		out = append(out, fromJSON{l.Session, l.N, l.Path})
	}
	return out
}

// blockObject gives the objects of a block; of a result also those of its parts.
func blockObject(m *ledger.Meter, r *claude.Request, p claude.Placed, body bool) []blockJSON {
	raw := p.JSON()
	o := blockJSON{
		Path: p.Path, Kind: p.Kind, New: p.New, Bytes: len(raw), Exact: p.Exact(), Name: p.Name.Sent, Tool: p.Name.Tool, Server: p.Name.Server,
		From: froms(p.Links()), Notes: noteObjects(p.Notes), Cuts: cutObjects(p.Cuts()),
	}
	if w := m.Block(p.Block); !w.Tokens.IsZero() {
		o.Tokens = &w.Tokens
	}
	if p.Kind == claude.Tool {
		held := ledger.Held(p.Block, r.Turn)
		o.Held = &held
	}
	if body {
		o.Block = raw
	}
	if p.Kind != claude.ToolResult {
		return []blockJSON{o}
	}
	c := p.Content()
	o.Notes = append(o.Notes, noteObjects(c.Notes)...)
	o.Cuts = append(o.Cuts, cutObjects(c.Cuts)...)
	return append([]blockJSON{o}, partObjects(&p, c)...)
}

// partObjects gives an object for each block within a result.
func partObjects(p *claude.Placed, c *claude.Content) (out []blockJSON) {
	for i := range c.Parts {
		path := p.Path + "/content"
		if !c.Joined {
			path += "/" + itoa(i)
		}
		out = append(out, blockJSON{Path: path, Kind: "part", New: p.New, Bytes: len(c.Parts[i].JSON), Exact: c.Parts[i].Placeholder == "", From: froms(c.Parts[i].Links)})
	}
	return out
}

func noteObjects(notes []claude.Note) (out []noteObject) {
	for _, n := range notes {
		out = append(out, noteObject{n.Kind, n.Words})
	}
	return out
}

func cutObjects(cuts []claude.Cut) (out []cutJSON) {
	for _, c := range cuts {
		out = append(out, cutJSON{froms([]claude.Link{c.Link})[0], c.Unit, c.Limit, c.Size, c.Estimated, strings.ToValidUTF8(c.Lost[:min(len(c.Lost), maxLost)], ""), len(c.Lost)})
	}
	return out
}

func groupObject(line *replay.Timeline, turn int) groupJSON {
	t := &line.Turns[turn]
	g := groupJSON{Turn: turn + 1, Rule: t.Reason.Rule, Strength: t.Reason.Strength, Why: t.Reason.Words}
	for i, c := range t.Calls {
		call := &line.Calls[c]
		g.Frames = append(g.Frames, frameOf(line, call.Request))
		if i > 0 {
			g.Joins = append(g.Joins, joinJSON{frameOf(line, call.Request), call.Join.Rule, call.Join.Strength, call.Join.Words})
		}
	}
	return g
}

type changesJSON struct {
	Turn      int         `json:"turn"`
	New       []blockJSON `json:"new"`
	Gone      []goneJSON  `json:"gone"`
	Resent    int         `json:"resent"`
	Reordered bool        `json:"reordered"`
}

type goneJSON struct {
	Kind  claude.Kind     `json:"kind"`
	Name  string          `json:"name,omitempty"`
	Block json.RawMessage `json:"block"`
}

func changesObject(rd *reading, r *claude.Request) changesJSON {
	c := r.Changes()
	o := changesJSON{Turn: r.Turn, New: []blockJSON{}, Gone: []goneJSON{}, Resent: c.Resent, Reordered: c.Reordered}
	for _, p := range c.New {
		o.New = append(o.New, blockObject(rd.meter, r, p, true)[0])
	}
	for _, t := range c.Gone {
		o.Gone = append(o.Gone, goneJSON{t.Kind, t.Name.Sent, t.JSON()})
	}
	return o
}
