// Package schema checks messages against the official JSON Schemas of the
// specification's revisions.
//
// It promises to say nothing where the schemas are known to be stricter than the
// specification (see loosen), and to stay bounded: a value that is too large, too
// deep or holds numbers beyond any reader is not checked.
//
// The files are those of github.com/modelcontextprotocol/modelcontextprotocol,
// schema/<revision>/schema.json, without white space and descriptions.
package schema

import (
	"embed"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcptap/mcptap/decode"
)

//go:embed *.json
var files embed.FS

// MaxBody is the longest value that is checked, in bytes.
const MaxBody = 1 << 20

// maxDepth is how deep arrays and objects may lie in each other.
const maxDepth = 128

// A Mismatch is a place in a value that does not fit.
type Mismatch struct {
	At   string // JSON pointer; empty for the whole
	Text string // what is wrong; may hold text from the outside
}

// revision is the schema of one revision. Its definitions are compiled when they
// are first asked for: a session uses a few of some hundred.
type revision struct {
	mu       sync.Mutex
	root     string // member that holds the definitions
	defs     map[string]any
	methods  map[string]string // method -> definition of its request or notification
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// revisions are read when they are first asked for.
var revisions = map[string]func() *revision{}

func init() {
	for _, name := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		revisions[name] = sync.OnceValue(func() *revision { return read(name) })
	}
}

// of gives nil for a revision that is not known.
func of(name string) *revision {
	if load := revisions[name]; load != nil {
		return load()
	}
	return nil
}

func read(name string) *revision {
	raw, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil
	}
	r := &revision{root: "$defs", methods: map[string]string{}, compiled: map[string]*jsonschema.Schema{}}
	if doc[r.root] == nil {
		r.root = "definitions"
	}
	r.defs, _ = doc[r.root].(map[string]any)
	r.index()
	r.loosen()
	delete(doc, "$schema") // draft 7 would take format for more than a note
	r.compiler = jsonschema.NewCompiler()
	r.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := r.compiler.AddResource(url, doc); err != nil {
		return nil
	}
	return r
}

const url = "mcp:schema"

// index finds the definition of each method. Unions have no constant for it, but
// one that is no union any more after its other members were dropped has.
func (r *revision) index() {
	for name, def := range r.defs {
		method, ok := path(def, "properties", "method", "const").(string)
		if ok && name != "ClientNotification" {
			r.methods[method] = name
		}
	}
}

// loosen repairs what is narrower than the TypeScript source that the files were
// made from: numbers of forms typed as integers, JSON values without null and
// fractions, and boolean subschemas of a tool's properties.
func (r *revision) loosen() {
	for _, name := range []string{"JSONValue", "JSONObject"} {
		if r.defs[name] != nil {
			r.defs[name] = map[string]any{}
		}
	}
	set(path(r.defs["ElicitResult"], "properties", "content"), "additionalProperties", true)
	for _, name := range []string{"inputSchema", "outputSchema"} {
		set(path(r.defs["Tool"], "properties", name, "properties", "properties"), "additionalProperties", true)
	}
}

func path(v any, names ...string) any {
	for _, n := range names {
		m, _ := v.(map[string]any)
		v = m[n]
	}
	return v
}

func set(v any, name string, to any) {
	if m, ok := v.(map[string]any); ok {
		m[name] = to
	}
}

// Message gives the definition of a request or notification, "" if the revision
// has none.
func Message(rev, method string) string {
	if r := of(rev); r != nil {
		return r.methods[method]
	}
	return ""
}

// Result gives the definition of the result of a method, "" if there is none.
func Result(rev, method string) string {
	r := of(rev)
	if r == nil {
		return ""
	}
	name, ok := strings.CutSuffix(r.methods[method], "Request")
	if _, known := r.defs[name+"Result"]; ok && known {
		return name + "Result"
	}
	return ""
}

// Check checks a value against a definition of a revision. It says nothing about
// values beyond the bounds, and of definitions that it does not know.
func Check(rev, def string, value []byte) []Mismatch {
	r := of(rev)
	if r == nil || len(value) > MaxBody || decode.Depth(value) > maxDepth {
		return nil
	}
	s := r.compile(def)
	var v any
	if s == nil || json.Unmarshal(value, &v) != nil { // numbers beyond float64 end here
		return nil
	}
	var failed *jsonschema.ValidationError
	if !errors.As(s.Validate(v), &failed) {
		return nil
	}
	return collect(nil, failed)
}

func (r *revision) compile(def string) *jsonschema.Schema {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, done := r.compiled[def]
	if !done && r.defs[def] != nil {
		s, _ = r.compiler.Compile(url + "#/" + r.root + "/" + def)
		r.compiled[def] = s
	}
	return s
}

// maxMismatches is enough to see what is wrong.
const maxMismatches = 32

// collect takes the innermost causes. Of a union it takes the branch that came
// furthest, since the others only say that the value is something else.
func collect(out []Mismatch, e *jsonschema.ValidationError) []Mismatch {
	if len(e.Causes) == 0 {
		if len(out) < maxMismatches {
			out = append(out, Mismatch{pointer(e.InstanceLocation), e.ErrorKind.LocalizedString(english)})
		}
		return out
	}
	if isUnion(e) {
		return collect(out, nearest(e.Causes))
	}
	for _, c := range e.Causes {
		out = collect(out, c)
	}
	return out
}

func isUnion(e *jsonschema.ValidationError) bool {
	at := e.ErrorKind.KeywordPath()
	return len(at) > 0 && (at[len(at)-1] == "anyOf" || at[len(at)-1] == "oneOf")
}

// nearest gives the branch whose constants fit, such as the type of a content
// block, or the one with the fewest complaints.
func nearest(branches []*jsonschema.ValidationError) *jsonschema.ValidationError {
	best, least := branches[0], weight(branches[0])
	for _, b := range branches[1:] {
		if w := weight(b); w < least {
			best, least = b, w
		}
	}
	return best
}

func weight(e *jsonschema.ValidationError) (n int) {
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			n += weight(c)
		}
		return n
	}
	if at := e.ErrorKind.KeywordPath(); len(at) > 0 && at[len(at)-1] == "const" {
		return 100
	}
	return 1
}

var english = message.NewPrinter(language.English)

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + escape.Replace(t))
	}
	return b.String()
}
