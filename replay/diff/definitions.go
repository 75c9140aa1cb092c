package diff

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
)

// A Definition is a change of what a server offers: of a tool, a prompt, a resource
// or a template.
type Definition struct {
	Kind    decode.ListKind
	Name    string // text from the outside; empty if the order changed
	What    decode.ChangeKind
	Changes []Difference // of a changed one, by path within the definition
	More    int
	Model   bool // a model would read the change: of a tool's name, description or input schema
	Times   int  // in how many of the lists that both walked
}

// definitions compares the lists that both sides walked, pair by pair. A change that
// several pairs show is told once.
func (w *work) definitions() {
	found := map[string]int{} // what was found -> its place
	for _, l := range w.lists {
		a, okA := w.a.items(l.kind, l.a)
		b, okB := w.b.items(l.kind, l.b)
		if !okA || !okB {
			continue
		}
		for _, d := range w.compareItems(l.kind, a, b) {
			key := d.Kind.String() + "\x00" + d.Name + "\x00" + string(d.What)
			for _, c := range d.Changes {
				key += "\x00" + c.Path + "\x00" + c.A + "\x00" + c.B
			}
			if at, ok := found[key]; ok {
				w.d.Definitions[at].Times++
				continue
			}
			d.Times = 1
			found[key] = len(w.d.Definitions)
			w.d.Definitions = append(w.d.Definitions, d)
		}
	}
}

// item is one definition.
type item struct {
	name string
	raw  string
}

var (
	listMembers = map[decode.ListKind]string{decode.Tools: "tools", decode.Prompts: "prompts", decode.Resources: "resources", decode.Templates: "resourceTemplates"}
	itemNames   = map[decode.ListKind]string{decode.Tools: "name", decode.Prompts: "name", decode.Resources: "uri", decode.Templates: "uriTemplate"}
)

// items gives the definitions of all pages of one walk; ok is false if a page is not
// at hand.
func (s *source) items(kind decode.ListKind, o *decode.Operation) (all []item, ok bool) {
	for _, leg := range o.Legs {
		c := s.Session.Call(leg.Call)
		if c.Response < 0 || c.Outcome != decode.OK {
			return nil, false
		}
		list := gjson.GetBytes(s.answerBytes(leg.Call), "result."+listMembers[kind])
		if !list.IsArray() {
			return nil, false
		}
		for _, e := range list.Array() {
			all = append(all, item{e.Get(itemNames[kind]).String(), e.Raw})
		}
	}
	return all, true
}

// answerBytes is the response to a call as it stands, that within a batch included.
func (s *source) answerBytes(call int) []byte {
	c := s.Session.Call(call)
	if c.Response < 0 {
		return nil
	}
	body := s.Body(c.Response)
	for i, m := range s.Session.Frame(c.Response).Batch {
		if isAnswer := m.Kind == decode.Result || m.Kind == decode.Error; isAnswer && m.Call == call {
			return []byte(gjson.GetBytes(body, itoa64(i)).Raw)
		}
	}
	return body
}

// named gives the items by name, an n-th of the same name apart, and their names in
// order.
func named(items []item) (by map[string]string, order []string) {
	by = make(map[string]string, len(items))
	seen := map[string]int{}
	for _, it := range items {
		name := it.name
		if seen[it.name]++; seen[it.name] > 1 {
			name += " (" + itoa64(seen[it.name]) + ")"
		}
		by[name] = it.raw
		order = append(order, name)
	}
	return by, order
}

func (w *work) compareItems(kind decode.ListKind, a, b []item) (out []Definition) {
	ba, oa := named(a)
	bb, ob := named(b)
	isTool := kind == decode.Tools
	for _, name := range oa {
		rb, both := bb[name]
		if !both {
			out = append(out, Definition{Kind: kind, Name: name, What: decode.Removed, Model: isTool})
		} else if d, changed := w.compareItem(kind, name, ba[name], rb); changed {
			out = append(out, d)
		}
	}
	for _, name := range ob {
		if _, both := ba[name]; !both {
			out = append(out, Definition{Kind: kind, Name: name, What: decode.Added, Model: isTool})
		}
	}
	if !slices.Equal(common(oa, bb), common(ob, ba)) {
		out = append(out, Definition{Kind: kind, What: decode.Reordered, Model: isTool})
	}
	return out
}

func common(order []string, other map[string]string) (out []string) {
	for _, name := range order {
		if _, ok := other[name]; ok {
			out = append(out, name)
		}
	}
	return out
}

// compareItem compares two definitions of one name. Ignore patterns see them as what
// they are in their message: result.tools[*].description.
func (w *work) compareItem(kind decode.ListKind, name, a, b string) (d Definition, changed bool) {
	if a == b {
		return d, false
	}
	va, okA := parse([]byte(a))
	vb, okB := parse([]byte(b))
	if !okA || !okB {
		return d, false
	}
	at := Path{}.member("result").member(listMembers[kind]).element(anyIndex)
	c := comparer{ignore: w.options.Ignore}
	c.compare(at, va, vb)
	d = Definition{Kind: kind, Name: name, What: decode.Changed, More: c.more}
	for i := range c.leaves {
		l := &c.leaves[i]
		inside := l.path[len(at):]
		wa, wb := l.words()
		d.Changes = append(d.Changes, Difference{What: WhatResult, Path: inside.String(), A: wa, B: wb})
		d.Model = d.Model || kind == decode.Tools && len(inside) > 0 && modelReads(inside[0].name)
	}
	return d, len(d.Changes) > 0
}

// modelReads reports the members of a tool that become part of a model's request.
func modelReads(member string) bool {
	return member == "name" || member == "description" || member == "inputSchema"
}

// A Model is what a model gets to read of the tools, and whether its cache of that
// would hold.
type Model struct {
	Known  bool // both sessions listed their tools to the end
	A, B   Tools
	Same   bool   // byte for byte what the model reads, in the same order
	Broken string // the first tool whose text or place differs; empty if Same
	At     int    // its place, from 0
}

// Tools is what one list of tools costs a model on every turn.
type Tools struct {
	Count          int
	Bytes          int // of name, description and input schema
	Low, Mid, High int // tokens, estimated; 0 without an estimator
}

// model compares the newest whole list of tools of both sides, as a host hands it
// on: the names, descriptions and input schemas in their order. The prompt cache of
// a model holds as long as that begins with the same bytes.
func (w *work) model() {
	a, okA := w.a.newestTools()
	b, okB := w.b.newestTools()
	if !okA || !okB {
		return
	}
	ta, tb := readable(a), readable(b)
	m := Model{Known: true, Same: slices.Equal(ta, tb), A: w.weigh(ta), B: w.weigh(tb)}
	if !m.Same {
		m.At = firstDifference(ta, tb)
		m.Broken = nameAt(b, m.At)
		if m.At >= len(b) {
			m.Broken = nameAt(a, m.At)
		}
	}
	w.d.Model = m
}

func firstDifference(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func nameAt(items []decode.Item, i int) string {
	if i < len(items) {
		return cmp.Or(items[i].Name, "#"+itoa64(i+1))
	}
	return ""
}

func (s *source) newestTools() ([]decode.Item, bool) {
	lists := s.Session.Catalogue().Lists
	for i := range slices.Backward(lists) {
		if l := &lists[i]; l.Kind == decode.Tools && l.Complete && !l.Orphan && !l.Missing {
			return l.Items, true
		}
	}
	return nil, false
}

// readable gives what a model reads of each tool. White space and the other members
// of a definition do not get there; the order of members does.
func readable(items []decode.Item) []string {
	out := make([]string, len(items))
	for i := range items {
		var text []byte
		for _, m := range []string{"name", "description", "inputSchema"} {
			if v := gjson.GetBytes(items[i].Definition, m); v.Exists() {
				text = append(text, m+":"+compact(v)+","...)
			}
		}
		out[i] = string(text)
	}
	return out
}

func compact(v gjson.Result) string {
	if c := v.Get("@ugly"); c.Exists() {
		return c.Raw
	}
	return v.Raw
}

func (w *work) weigh(tools []string) (t Tools) {
	t.Count = len(tools)
	for _, text := range tools {
		t.Bytes += len(text)
		if w.options.Tokens != nil {
			low, mid, high := w.options.Tokens([]byte(text))
			t.Low, t.Mid, t.High = t.Low+low, t.Mid+mid, t.High+high
		}
	}
	return t
}
