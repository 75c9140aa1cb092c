package claude

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/sessions"
)

var update = flag.Bool("update", false, "write the golden files anew")

// corpusFiles gives the sessions at hand: those in testdata, or a whole folder.
func corpusFiles(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv("MCPTAP_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "decode", "testdata", "corpus")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions in %s: %v", dir, err)
	}
	own, _ := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	return append(files, own...)
}

// play reads recordings as one timeline.
func play(t testing.TB, files ...string) *replay.Timeline {
	t.Helper()
	var all []*replay.Session
	for _, f := range files {
		s, err := sessions.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		l, err := sessions.Load(s, decode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		one := &replay.Session{Session: l.Session, Body: l.Body, Name: strings.TrimSuffix(filepath.Base(f), ".jsonl")}
		if l.Header != nil {
			one.Start = l.Header.Start
			if l.Header.Label != "" && l.Header.Label != l.Header.Session {
				one.Name = l.Header.Label
			}
		}
		all = append(all, one)
	}
	return replay.New(replay.Options{}, all...)
}

func profile(t testing.TB, id string) *Profile {
	t.Helper()
	p, err := Builtin().Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEveryTurnIsValid asks of every turn of every session, as every host would send
// it, whether the API would take it, and whether links and places are right.
func TestEveryTurnIsValid(t *testing.T) {
	requests := 0
	for _, file := range corpusFiles(t) {
		line := play(t, file)
		for _, id := range Builtin().IDs() {
			b := NewBook(line, Options{Profile: profile(t, id)})
			for turn := range b.Turns() + 1 {
				requests++
				checkRequest(t, filepath.Base(file)+" "+id, b.Request(turn))
			}
		}
	}
	t.Logf("%d requests", requests)
}

func checkRequest(t *testing.T, name string, r *Request) {
	t.Helper()
	body := r.JSON()
	if found := Check(body); len(found) > 0 {
		t.Errorf("%s turn %d: %v", name, r.Turn, found)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	for p := range r.All() {
		at, ok := lookup(v, p.Path)
		var block any
		if err := json.Unmarshal(p.JSON(), &block); err != nil || !ok {
			t.Fatalf("%s turn %d: %s is not in the request (%v)", name, r.Turn, p.Path, err)
		}
		a, _ := json.Marshal(at)
		b, _ := json.Marshal(block)
		if string(a) != string(b) {
			t.Errorf("%s turn %d: %s holds %.200s, not %.200s", name, r.Turn, p.Path, a, b)
		}
		for _, l := range p.Links() {
			checkLink(t, name, r, p, l)
		}
	}
	for _, gap := range r.Placeholders() {
		if _, ok := lookup(v, gap.Path); !ok {
			t.Errorf("%s turn %d: the placeholder %s is not in the request", name, r.Turn, gap.Path)
		}
	}
}

// checkLink follows a link to its frame and back.
func checkLink(t *testing.T, name string, r *Request, p Placed, l Link) {
	t.Helper()
	line := r.book.Timeline()
	if line.Number(l.Ref) != l.N {
		t.Errorf("%s: %s has the wrong number", name, p.Path)
	}
	var frame any
	if err := json.Unmarshal(line.Sessions[l.Session].Body(l.Frame), &frame); err != nil {
		t.Errorf("%s turn %d: %s comes from frame %d, which is no JSON", name, r.Turn, p.Path, l.N)
		return
	}
	if _, ok := lookup(frame, l.Path); !ok && l.Path != "/params/arguments" {
		t.Errorf("%s turn %d: %s comes from %s of frame %d, which is not there", name, r.Turn, p.Path, l.Path, l.N)
	}
	if p.Kind != DeferredNames && !slices.ContainsFunc(r.Find(l.Ref), func(o Placed) bool { return o.Path == p.Path }) {
		t.Errorf("%s turn %d: frame %d does not lead to %s", name, r.Turn, l.N, p.Path)
	}
}

// lookup follows a JSON pointer.
func lookup(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	for _, name := range strings.Split(pointer[1:], "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch x := v.(type) {
		case map[string]any:
			m, ok := x[name]
			if !ok {
				return nil, false
			}
			v = m
		case []any:
			i := -1
			for k := range x {
				if itoa(k) == name {
					i = k
				}
			}
			if i < 0 {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// TestEveryMoment assembles the request at every frame of every session.
func TestEveryMoment(t *testing.T) {
	for _, file := range corpusFiles(t) {
		line := play(t, file)
		for _, id := range []string{"claude-code", "generic", "mcp-connector"} {
			b := NewBook(line, Options{Profile: profile(t, id)})
			for m := range line.Len() + 1 {
				r := b.RequestAt(m)
				if found := Check(r.JSON()); len(found) > 0 {
					t.Errorf("%s %s at %d: %v", filepath.Base(file), id, m, found)
				}
			}
		}
	}
}

// TestReachIsConsistent asks that what a frame is said to reach is there.
func TestReachIsConsistent(t *testing.T) {
	for _, file := range corpusFiles(t) {
		line := play(t, file)
		for _, id := range Builtin().IDs() {
			b := NewBook(line, Options{Profile: profile(t, id)})
			for i := range line.Len() {
				checkReach(t, b, line.Frame(i), filepath.Base(file)+" "+id)
			}
		}
	}
}

func checkReach(t *testing.T, b *Book, f replay.Ref, name string) {
	t.Helper()
	r := b.Reach(f)
	body := b.line.Sessions[f.Session].Body(f.Frame)
	var v any
	isJSON := json.Unmarshal(body, &v) == nil
	for _, p := range r.Parts {
		if p.Why == "" {
			t.Errorf("%s frame %d: %s has no reason", name, f.Frame, p.Path)
		}
		if _, there := lookup(v, p.Path); isJSON && !there {
			t.Errorf("%s frame %d: there is no %s", name, f.Frame, p.Path)
		}
		if got := r.At(p.Path + "/deeper"); got != r.At(p.Path) {
			t.Errorf("%s frame %d: %s and what is below it differ", name, f.Frame, p.Path)
		}
	}
	if r.Turn >= 0 && r.Verdict() == Reads && len(b.Request(r.Turn).Find(f)) == 0 {
		if !strings.Contains(string(body), `"tools"`) { // a listing that says what an earlier one said
			t.Errorf("%s frame %d reaches turn %d, which does not know of it", name, f.Frame, r.Turn)
		}
	}
}
