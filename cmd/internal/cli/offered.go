package cli

import (
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
)

// offered is the newest list of tools that a session has, one that was read to its
// end if there is any; nil if there is none.
func offered(l *sessions.Loaded) (newest *decode.List) {
	lists := l.Catalogue().Lists
	for i := range lists {
		t := &lists[i]
		if t.Kind == decode.Tools && (newest == nil || t.Complete || !newest.Complete) {
			newest = t
		}
	}
	return newest
}

// definitionParts are the members of a tool's definition that a model may read.
func definitionParts(definition []byte) (title, description string, schema []byte) {
	d := gjson.ParseBytes(definition)
	if s := d.Get("inputSchema"); s.Exists() {
		schema = []byte(s.Raw)
	}
	return d.Get("title").String(), d.Get("description").String(), schema
}
