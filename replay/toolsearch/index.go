package toolsearch

import (
	"strings"

	"github.com/mcptap/mcptap/replay/internal/jsontree"
)

// A Tool is one tool of the catalogue, as the model is offered it.
type Tool struct {
	Name        string // as assembled by the host, prefix and all
	Bare        string // as the server calls it; empty if that is the same
	Title       string // not searched; obvious queries are made from it
	Description string
	Schema      []byte // the input schema; not kept
}

// document is what is searched of a tool, its fields kept apart.
type document struct {
	name, bare, title, description string
	args, argdesc                  []string // argument names, nested ones included, and their descriptions
	joined                         string   // all fields
	nameLen, restLen               int      // in words
	nameStops, restStops           int      // those of them that say nothing
}

// posting is how often a word is in a document.
type posting struct{ doc, name, rest int }

// An Index is a catalogue made ready for searching.
type Index struct {
	docs   []document
	plural bool
	words  map[string][]posting
	names  map[string]int
}

// New makes an index. The order of the tools is the catalogue's, and counts: it
// is the order in which tools/list gave them. foldPlurals makes "issues" and
// "issue" one word for BM25; it is not known whether the API does so.
func New(tools []Tool, foldPlurals bool) *Index {
	x := &Index{plural: foldPlurals, words: map[string][]posting{}, names: make(map[string]int, len(tools))}
	for i := range tools {
		x.docs = append(x.docs, documentOf(&tools[i]))
		if _, twice := x.names[tools[i].Name]; !twice {
			x.names[tools[i].Name] = i
		}
		x.count(i)
	}
	return x
}

// Len is the number of tools.
func (x *Index) Len() int { return len(x.docs) }

// Name is a tool's name as assembled.
func (x *Index) Name(tool int) string { return x.docs[tool].name }

// Find gives the index of the first tool with that name.
func (x *Index) Find(name string) (tool int, ok bool) {
	tool, ok = x.names[name]
	return tool, ok
}

func documentOf(t *Tool) document {
	d := document{name: t.Name, bare: t.Bare, title: t.Title, description: t.Description}
	if d.bare == "" {
		d.bare = t.Name
	}
	d.args, d.argdesc = arguments(t.Schema)
	d.joined = strings.Join(d.fields(), " ")
	return d
}

// arguments gives the names of all properties, and their descriptions. A schema
// beyond the bounds has none.
func arguments(schema []byte) (names, descriptions []string) {
	root, err := jsontree.Parse(schema)
	if err != nil {
		return nil, nil
	}
	jsontree.Walk(root, func(_ jsontree.Path, s *jsontree.Node) {
		props := s.Get("properties")
		if props == nil {
			return
		}
		for i := range props.Members {
			names = append(names, props.Members[i].Key)
			if text := props.Members[i].Value.Get("description").Text(); text != "" {
				descriptions = append(descriptions, text)
			}
		}
	})
	return names, descriptions
}

// fields are the texts that are searched, the name first.
func (d *document) fields() []string {
	all := make([]string, 0, 2+len(d.args)+len(d.argdesc))
	all = append(all, d.name, d.description)
	return append(append(all, d.args...), d.argdesc...)
}

// count puts a document's words into the index.
func (x *Index) count(i int) {
	d := &x.docs[i]
	at := map[string]*posting{}
	var order []string
	for k, field := range d.fields() {
		for _, w := range Words(field) {
			stop := 0
			if bm25Stop()[w] {
				stop = 1
			}
			w = x.fold(w)
			p := at[w]
			if p == nil {
				p = &posting{doc: i}
				at[w] = p
				order = append(order, w)
			}
			if k == 0 {
				p.name++
				d.nameLen++
				d.nameStops += stop
			} else {
				p.rest++
				d.restLen++
				d.restStops += stop
			}
		}
	}
	for _, w := range order {
		x.words[w] = append(x.words[w], *at[w])
	}
}
