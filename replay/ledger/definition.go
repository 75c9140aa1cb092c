package ledger

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/claude"
)

// A Definition is a tool as the model is offered it. Its texts are from the outside.
type Definition struct {
	Session     int         // index in Timeline.Sessions
	Server      string      // as the host calls it
	Name        string      // as the model reads it
	Bare        string      // as the server calls it
	Title       string      // which the model does not read
	Description string      // after the host's cuts
	Schema      []byte      // JSON of input_schema
	Raw         []byte      // the whole definition, as it was listed
	From        claude.Link // where it was listed
	Deferred    bool        // the model has it only once a search found it
}

// Definitions gives the definitions that a request offers, in its order. What the
// wire does not tell (the host's own tools, tools that were never listed) is not among
// them. Of the API's connector they are what the server listed to somebody else.
func Definitions(b *claude.Book, r *claude.Request) (out []Definition) {
	for _, t := range r.Tools {
		switch {
		case t.Kind == claude.Toolset:
			out = append(out, listed(b, r, t)...)
		case t.Definition() != nil:
			out = append(out, definition(t))
		}
	}
	return out
}

func definition(t *claude.Block) Definition {
	sent := gjson.ParseBytes(t.JSON())
	d := Definition{
		Session: t.Session, Server: t.Name.Server, Name: t.Name.Sent, Bare: t.Name.Tool, Deferred: t.Deferred,
		Description: sent.Get("description").String(), Schema: []byte(sent.Get("input_schema").Raw),
		Title: gjson.GetBytes(t.Definition(), "title").String(), Raw: t.Definition(),
	}
	for _, l := range t.Links() {
		d.From = l
	}
	return d
}

// listed are the tools behind a toolset.
func listed(b *claude.Book, r *claude.Request, t *claude.Block) (out []Definition) {
	line := b.Timeline()
	if t.Session < 0 {
		return nil
	}
	l := line.List(t.Session, decode.Tools, r.Moment)
	if l == nil {
		return nil
	}
	ref := replay.Ref{Session: t.Session, Frame: l.From}
	for i := range l.Items {
		it := &l.Items[i]
		def := gjson.ParseBytes(it.Definition)
		out = append(out, Definition{
			Session: t.Session, Server: t.Name.Server, Name: it.Name, Bare: it.Name, Raw: it.Definition,
			Title: def.Get("title").String(), Description: def.Get("description").String(), Schema: []byte(def.Get("inputSchema").Raw),
			From: claude.Link{Ref: ref, N: line.Number(ref), Path: "/result/tools/" + strconv.Itoa(i)},
		})
	}
	return out
}

// Catalogue gives what each session offered last, session by session, as long as it
// lasted: sessions that did not run at the same time are in no one request together.
// leftOut are definitions that the host does not send.
func Catalogue(b *claude.Book) (all []Definition, leftOut []*claude.Block) {
	line := b.Timeline()
	for i := range line.Sessions {
		if line.IsProbe(i) {
			continue
		}
		r := b.RequestAt(lastMoment(line, i))
		for _, d := range Definitions(b, r) {
			if d.Session == i {
				all = append(all, d)
			}
		}
		for _, t := range r.LeftOut {
			if t.Session == i {
				leftOut = append(leftOut, t)
			}
		}
	}
	return all, leftOut
}

// lastMoment is when the last frame of a session had crossed.
func lastMoment(line *replay.Timeline, session int) replay.Moment {
	n := line.Sessions[session].Len()
	if n == 0 {
		return 0
	}
	return line.After(replay.Ref{Session: session, Frame: n - 1})
}
