package ui

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/draw"
)

// peerRow is a line of the page on peers: a heading, or a name with what was said. All
// may be text from the outside.
type peerRow struct {
	head, name, value, note string
	at                      int // frame it was said in, -1 if none
}

// peersOf tells who spoke in a session and what each declared, as far as it is known.
func peersOf(l *sessions.Loaded) []peerRow {
	e := l.Eras()
	rows := []peerRow{{head: "client", at: -1}}
	rows = append(rows, identities(l.Clients(), l.ClientSDK())...)
	rows = append(rows, capabilities(l, true, &e)...)
	rows = append(rows, peerRow{at: -1}, peerRow{head: "server", at: -1})
	rows = append(rows, identities(l.Servers(), l.ServerSDK())...)
	rows = append(rows, capabilities(l, false, &e)...)
	rows = append(rows, offers(l.Catalogue())...)
	rows = append(rows, peerRow{at: -1}, peerRow{head: "how they came together", at: -1})
	return append(rows, opening(l, &e)...)
}

func identities(peers []decode.Peer, sdk decode.Guess) (rows []peerRow) {
	for _, p := range peers {
		name := strings.TrimSpace(p.Name + " " + p.Version)
		rows = append(rows, peerRow{name: "calls itself", value: name, note: p.Title, at: p.Frame})
	}
	if len(peers) == 0 {
		rows = append(rows, peerRow{name: "calls itself", note: "it did not say", at: -1})
	}
	if sdk.Value != "" {
		rows = append(rows, peerRow{name: "written with", value: "~" + sdk.Value, note: sdk.Reason, at: -1})
	}
	return rows
}

// capabilities are what an end declared: the client in initialize or in the _meta of
// its requests, the server in what it answers to initialize or to discovery.
func capabilities(l *sessions.Loaded, client bool, e *decode.Eras) []peerRow {
	type source struct {
		call int
		path string
	}
	var sources []source
	if client {
		sources = append(sources, source{e.InitCall, "params.capabilities"}, source{e.ProbeCall, `params._meta.io\.modelcontextprotocol/clientCapabilities`})
		if l.Calls() > 0 {
			sources = append(sources, source{0, `params._meta.io\.modelcontextprotocol/clientCapabilities`})
		}
	} else {
		sources = append(sources, source{e.InitCall, "result.capabilities"}, source{e.ProbeCall, "result.capabilities"})
	}
	for _, s := range sources {
		if s.call < 0 {
			continue
		}
		frame := l.Call(s.call).Request
		if !client {
			frame = l.Call(s.call).Response
		}
		if c := gjson.GetBytes(l.Body(frame), s.path); c.IsObject() {
			return capabilityRows(c, frame)
		}
	}
	return []peerRow{{name: "can", note: "not declared in this session", at: -1}}
}

// maxCapabilities bounds what a peer can fill the page with.
const maxCapabilities = 200

func capabilityRows(c gjson.Result, frame int) (rows []peerRow) {
	c.ForEach(func(name, v gjson.Result) bool {
		var parts []string
		v.ForEach(func(k, v gjson.Result) bool {
			parts = append(parts, k.String()+" "+cutBytes(v.Raw, 120))
			return len(parts) < 12
		})
		rows = append(rows, peerRow{name: "can", value: cutBytes(name.String(), 120), note: strings.Join(parts, ", "), at: frame})
		return len(rows) < maxCapabilities
	})
	if len(rows) == 0 {
		rows = append(rows, peerRow{name: "can", note: "nothing beyond the minimum", at: frame})
	}
	return rows
}

func cutBytes(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// offers are the lists that the server gave, the newest of each kind.
func offers(c *decode.Catalogue) (rows []peerRow) {
	for kind := decode.Tools; kind <= decode.Templates; kind++ {
		for i := len(c.Lists) - 1; i >= 0; i-- {
			if list := &c.Lists[i]; list.Kind == kind {
				note := ""
				if !list.Complete {
					note = "the list was not read to its end"
				}
				rows = append(rows, peerRow{name: "offers", value: plural(len(list.Items), strings.TrimSuffix(kind.String(), "s")), note: note, at: list.From})
				break
			}
		}
	}
	return rows
}

func opening(l *sessions.Loaded, e *decode.Eras) (rows []peerRow) {
	frame := func(call int) int {
		if call < 0 {
			return -1
		}
		return l.Call(call).Request
	}
	revision := e.Revision
	if revision == "" && e.AtLeast != "" {
		revision = "at least " + e.AtLeast
	}
	rows = append(rows, peerRow{name: "era", value: e.Era.String(), note: revision, at: -1})
	if e.Probe != decode.ProbeNone {
		rows = append(rows, peerRow{name: "discovery", value: string(e.Probe), note: strings.Join(e.Supported, ", "), at: frame(e.ProbeCall)})
	}
	if e.InitCall >= 0 {
		note := "refused or not answered"
		if e.InitOK {
			note = "accepted"
		}
		if e.Fallback {
			note += ", after the probe"
		}
		rows = append(rows, peerRow{name: "initialize", value: note, at: frame(e.InitCall)})
	}
	if e.NoOpening {
		rows = append(rows, peerRow{name: "opening", note: "not in this recording: another process was probed, or the capture began late", at: -1})
	}
	return rows
}

// peersPage shows them.
type peersPage struct {
	env  *env
	rows []peerRow
}

func (p *peersPage) load(r *review) { p.rows = r.peers }
func (p *peersPage) len() int       { return len(p.rows) }
func (p *peersPage) reorder()       {}

func (p *peersPage) frame(i int) int { return p.rows[i].at }

// key: a peer says a thing at one place, but for lists, which it may give anew.
func (p *peersPage) key(i int) rowKey {
	r := &p.rows[i]
	if r.name == "offers" {
		_, noun, _ := strings.Cut(r.value, " ")
		return rowKey{a: r.name, b: strings.TrimSuffix(noun, "s")}
	}
	if r.name == "" {
		return rowKey{kind: "head", a: r.head}
	}
	return rowKey{a: r.name, b: r.value, n: r.at}
}

func (p *peersPage) head(w, _ int) []string {
	return []string{draw.NewLine(w, "").Gap(1).Raw(p.env.th.Faint, draw.Cut("~ is a guess; enter shows the frame in which it was said", w-2)).String()}
}

func (p *peersPage) row(i, w int, base draw.Style) string {
	th := p.env.th
	r := &p.rows[i]
	l := draw.NewLine(w, base).Gap(1)
	if r.name == "" {
		return l.Raw(th.Strong, r.head).String()
	}
	l.Gap(2).Raw(th.Dim, draw.Cell(r.name, 13, false))
	if r.value != "" {
		l.Text("", r.value).Gap(2)
	}
	return l.Text(th.Dim, r.note).String()
}

// peerBelow is how many lines the row with the cursor has, whichever it is.
const peerBelow = 5

func (p *peersPage) below(i, w, h int) []string {
	if h < 3 || p.fits(w) {
		return nil
	}
	return clip(p.env.th, p.tell(i, w), w, min(h, peerBelow))
}

// fits reports that no row is cut, so that none has to be told.
func (p *peersPage) fits(w int) bool {
	for i := range p.rows {
		if r := &p.rows[i]; len(r.value)+len(r.note) > 2*w || draw.Width(draw.Safe(r.value, w))+draw.Width(draw.Safe(r.note, w)) > w-18 {
			return false
		}
	}
	return true
}

func (p *peersPage) tell(i, w int) []string {
	th, r := p.env.th, &p.rows[i]
	if r.name == "" {
		return []string{rule(th, w, th.Dim, r.head, "")}
	}
	lines := []string{rule(th, w, th.Dim, r.name, "")}
	if r.value != "" {
		lines = append(lines, paragraph(w, 0, "", r.value)...)
	}
	if r.note != "" {
		lines = append(lines, paragraph(w, 0, th.Dim, r.note)...)
	}
	return lines
}
