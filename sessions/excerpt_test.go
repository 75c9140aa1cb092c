package sessions

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

// varied makes a recording with records of every kind; frames are a second apart.
func varied(t *testing.T, s Store, id string) *Loaded {
	t.Helper()
	r, err := s.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Duration(0)
	w := tap.NewWriter(tap.Header{Session: id, Label: "varied", Start: noon, Transport: "stdio", Command: []string{"server", "--verbose"}, Cwd: "/home/somebody", Env: []string{"HOME"}, PID: 7}, tap.WriterOptions{
		Open:  func() (tap.File, error) { return r, nil },
		Side:  func(suffix string) (tap.File, error) { return r.Side(suffix) },
		Since: func() time.Duration { now += time.Second; return now },
	})
	one := func(f tap.Frame) { w.Record([]tap.Frame{f}) }
	one(tap.Frame{Dir: tap.C2S, JSON: true, Body: []byte(`{"jsonrpc": "2.0","id":1,"method":"tools/call","params":{"name":"login","arguments":{"password":"hunter2-hunter2","n":1234567890123456789}}}`)})
	one(tap.Frame{Dir: tap.Stderr, EOL: tap.CRLF, Body: []byte(`connecting with Bearer abcdef0123456789abcdef`)})
	one(tap.Frame{Dir: tap.S2C, JSON: true, Body: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"access_token\":\"s3cr3t-s3cr3t\",\"ok\":true}"}]}}`)})
	w.Skip(tap.Lost{Frames: 2, Bytes: 20, Reason: "full disk"})
	one(tap.Frame{Dir: tap.S2C, Body: []byte("latin \xe9")})
	w.Event(tap.EventSignal, "SIGINT from the host")
	long := w.Spill(tap.S2C)
	long.Add([]byte(`{"jsonrpc":"2.0","method":"x","params":{"api_key":"` + strings.Repeat("k", 4000) + `"}}`))
	one(tap.Frame{Dir: tap.S2C, JSON: true, Digest: long.Digest()})
	one(tap.Frame{Dir: tap.C2S, JSON: true, Digest: &tap.Digest{Bytes: 5000, SHA256: strings.Repeat("a", 64), Head: `{"token":"half-a-secr`, Tail: `et-and-more"}`, Reason: "full disk"}})
	w.End(tap.End{Exit: 3, Reason: "the server ended"})
	return loadFile(t, s.Path(id))
}

func loadFile(t *testing.T, path string) *Loaded {
	t.Helper()
	x, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	l, err := Load(x, decode.Options{Bytes: true})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// records sums a journal up, a line a record.
func records(t *testing.T, journal []byte) string {
	t.Helper()
	var b strings.Builder
	for _, r := range taptest.Records(t, journal) {
		n, at := r.Position()
		fmt.Fprintf(&b, "%d %v", n, at)
		switch {
		case r.Header != nil:
			fmt.Fprintf(&b, " header %+v", r.Header.Excerpt)
		case r.Frame != nil:
			fmt.Fprintf(&b, " %s %d %.40q", r.Frame.Dir, r.Frame.Len(), r.Frame.Body)
		case r.Event != nil:
			fmt.Fprintf(&b, " %s", r.Event.Name)
		case r.Lost != nil:
			fmt.Fprintf(&b, " lost %+v", *r.Lost)
		case r.End != nil:
			fmt.Fprintf(&b, " end %+v", *r.End)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestSaveExcerpt(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	l := varied(t, s, "a")
	out := filepath.Join(s.Dir, "part.jsonl")
	moved := map[uint64]uint64{}
	n, err := l.Save(out, Excerpt{Selected: func(i int) bool { return i == 2 || i == 4 }, Filter: "x", Moved: func(from, to uint64) { moved[from] = to }})
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	journal := read(t, out)
	taptest.Check(t, journal)
	want := `0 0s header &{Of:a Frames:6 Filter:x Redacted:false}
1 3s lost {Frames:2 Bytes:188 Reason:left out of this excerpt}
2 4s s2c 122 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"conte"
3 5s lost {Frames:2 Bytes:20 Reason:full disk}
4 6s lost {Frames:1 Bytes:8 Reason:left out of this excerpt}
5 7s signal
6 8s s2c 4055 ""
7 9s lost {Frames:1 Bytes:5001 Reason:left out of this excerpt}
8 10s end {Exit:3 Signal: Reason:the server ended Frames:2 Lost:6}
`
	if diff := cmp.Diff(want, records(t, journal)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[uint64]uint64{3: 2, 7: 6}, moved); diff != "" {
		t.Error(diff)
	}
	again := loadFile(t, out)
	if !bytes.Equal(again.Body(0), l.Body(2)) || !bytes.Equal(again.Body(1), l.Body(4)) || len(again.Body(1)) < 4000 {
		t.Error("bytes differ")
	}
	if infos, err := s.List(); err != nil || len(infos) != 2 {
		t.Error(infos, err)
	}
}

// TestSaveAll: an excerpt of everything has all frames as they are, and so has an
// excerpt of that.
func TestSaveAll(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	l := varied(t, s, "a")
	all := func(int) bool { return true }
	for _, name := range []string{"b", "c"} {
		if _, err := l.Save(s.Path(name), Excerpt{Selected: all}); err != nil {
			t.Fatal(err)
		}
		taptest.Check(t, read(t, s.Path(name)))
		l = loadFile(t, s.Path(name))
	}
	original := loadFile(t, s.Path("a"))
	_, was, _ := strings.Cut(records(t, read(t, s.Path("a"))), "\n")
	_, is, _ := strings.Cut(records(t, read(t, s.Path("c"))), "\n")
	if diff := cmp.Diff(was, is); diff != "" {
		t.Error(diff)
	}
	if l.Header.Excerpt.Of != "a" || l.Header.Session != "a" || l.Len() != original.Len() {
		t.Errorf("%+v", l.Header)
	}
}

func TestSaveNeverOverwrites(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	l := varied(t, s, "a")
	before := read(t, s.Path("a"))
	_, err := l.Save(s.Path("a"), Excerpt{Selected: func(int) bool { return true }})
	if err == nil || !strings.Contains(err.Error(), "file already exists; choose another name") || !bytes.Equal(before, read(t, s.Path("a"))) {
		t.Error(err)
	}
	if _, err := l.Save(filepath.Join(s.Dir, "no", "b.jsonl"), Excerpt{Selected: func(int) bool { return true }}); err == nil {
		t.Error("saved into a folder that is not there")
	}
}

// TestSaveInTheWay: what is left of another recording of that name stops an excerpt before
// anything is written.
func TestSaveInTheWay(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	l := varied(t, s, "a")
	for name, stops := range map[string]bool{"b.s2c-1.bin": true, "b.stderr-12.bin": true, "b.marks.json": true, "b.txt": false, "b.s2c-x.bin": false, "bb.s2c-1.bin": false} {
		foreign := filepath.Join(s.Dir, name)
		if err := os.WriteFile(foreign, []byte("not ours"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := l.Save(s.Path("b"), Excerpt{Selected: func(int) bool { return true }})
		if stops != (err != nil) || stops && !strings.Contains(err.Error(), foreign+" is in the way") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(s.Path("b")); os.IsNotExist(err) != stops {
			t.Errorf("%s: of the excerpt: %v", name, err)
		}
		if b := read(t, foreign); string(b) != "not ours" {
			t.Errorf("%s is %q now", name, b)
		}
		for _, left := range []string{foreign, s.Path("b"), filepath.Join(s.Dir, "b.s2c-1.bin")} {
			_ = os.Remove(left)
		}
	}
}

// TestSaveNothing: what is no recording is not saved, and what is one without frames is.
func TestSaveNothing(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	for text, want := range map[string]string{
		"":                                  "the file is empty",
		"words\n":                           "its first line is not JSON",
		`{"mcptap":1`:                       "its first line has no end",
		`{"mcptap":2,"session":"x"}` + "\n": "the journal has format version 2, this mcptap reads versions up to 1",
		`{"mcptap":1,"session":"x","transport":"stdio"}` + "\n": "",
	} {
		path := s.Path("a")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stream, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		piped, err := Load(stream, decode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []*Loaded{loadFile(t, path), piped} {
			_, err := l.Save(s.Path("b"), Excerpt{Selected: func(int) bool { return true }})
			if want == "" != (err == nil) || err != nil && !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%q: %v, want %s", text, err, want)
			}
			if err := os.Remove(s.Path("b")); (err == nil) != (want == "") {
				t.Errorf("%q: of the excerpt: %v", text, err)
			}
		}
	}
}

func TestSaveRedacted(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	l := varied(t, s, "a")
	if _, err := l.Save(s.Path("b"), Excerpt{Selected: func(int) bool { return true }, Redact: true}); err != nil {
		t.Fatal(err)
	}
	journal := read(t, s.Path("b"))
	taptest.Check(t, journal)
	for _, secret := range []string{"hunter2", "abcdef0123456789", "s3cr3t", "kkkk", "half-a", "more", "/home/somebody"} {
		if bytes.Contains(journal, []byte(secret)) {
			t.Errorf("%q is in the excerpt", secret)
		}
	}
	again := loadFile(t, s.Path("b"))
	if got := string(again.Body(0)); got != `{"jsonrpc": "2.0","id":1,"method":"tools/call","params":{"name":"login","arguments":{"password":"***","n":1234567890123456789}}}` {
		t.Error(got)
	}
	if got := string(again.Body(2)); !strings.Contains(got, `{\"access_token\":\"***\",\"ok\":true}`) {
		t.Error(got)
	}
	if got := string(again.Body(4)); got != `{"jsonrpc":"2.0","method":"x","params":{"api_key":"***"}}` {
		t.Error(got)
	}
	if h := again.Header; !h.Excerpt.Redacted || h.PID != 0 || len(h.Env) > 0 {
		t.Errorf("%+v", h)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "b.*.bin")); len(left) > 0 {
		t.Error(left)
	}
}

// TestSaveHTTP: the moments of an exchange go along with its frames, and those of
// others do not.
func TestSaveHTTP(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	r, err := s.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	w := tap.NewWriter(tap.Header{Session: "a", Transport: "http", URL: "http://127.0.0.1:3001/mcp", Start: noon}, tap.WriterOptions{
		Open: func() (tap.File, error) { return r, nil }, Since: func() time.Duration { return time.Second },
	})
	for n := range uint32(2) {
		one := func(dir tap.Dir, body string) []tap.Frame {
			return []tap.Frame{{Dir: dir, EOL: tap.NoEOL, JSON: true, Body: []byte(body), HTTP: &tap.Carriage{Exchange: n + 1, Wire: 40}}}
		}
		w.RecordHTTP(&tap.Exchange{Exchange: n + 1, Phase: tap.PhaseRequest, Method: "POST", Target: "/mcp"}, one(tap.C2S, fmt.Sprintf("{\n \"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\",\"params\":{\"token\":\"s3cr3t\"}}", n)), nil)
		w.RecordHTTP(&tap.Exchange{Exchange: n + 1, Phase: tap.PhaseResponse, Status: 200}, one(tap.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, n)),
			&tap.Exchange{Exchange: n + 1, Phase: tap.PhaseEnd, By: tap.EndServer})
	}
	w.End(tap.End{})
	l := loadFile(t, s.Path("a"))
	if n, err := l.Save(s.Path("b"), Excerpt{Selected: func(i int) bool { return i >= 2 }, Redact: true}); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	journal := read(t, s.Path("b"))
	taptest.Check(t, journal)
	var got []string
	for _, r := range taptest.Records(t, journal) {
		switch {
		case r.HTTP != nil:
			got = append(got, fmt.Sprint(r.HTTP.Exchange, " ", r.HTTP.Phase))
		case r.Frame != nil:
			got = append(got, fmt.Sprint(r.Frame.Dir, " ", string(r.Frame.Body)))
		case r.Lost != nil:
			got = append(got, fmt.Sprint("lost ", r.Lost.Frames))
		}
	}
	want := []string{"lost 2", "2 request", "c2s {\n \"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"token\":\"***\"}}",
		"2 response", `s2c {"jsonrpc":"2.0","id":1,"result":{}}`, "2 end"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again := loadFile(t, s.Path("b"))
	if c := again.TapFrame(0).HTTP; c == nil || !c.Masked || c.Wire != 40 {
		t.Errorf("%+v", c)
	}
	if c := again.TapFrame(1).HTTP; c == nil || c.Masked {
		t.Errorf("%+v", c)
	}
}

// TestForeignExcerpts saves what the corpus has, masked: every journal is valid, and
// every JSON frame stays JSON.
func TestForeignExcerpts(t *testing.T) {
	files, err := filepath.Glob("../decode/testdata/corpus/*.jsonl")
	if dir := os.Getenv("MCPTAP_CORPUS"); dir != "" {
		files, err = filepath.Glob(filepath.Join(dir, "*.jsonl"))
	}
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	saved := 0
	for _, file := range files {
		l := loadFile(t, file)
		path := filepath.Join(t.TempDir(), "x.jsonl")
		_, err := l.Save(path, Excerpt{Selected: func(i int) bool { return i%3 > 0 }, Redact: true})
		if l.Header.Transport != "stdio" {
			if err == nil || !strings.Contains(err.Error(), "over http") {
				t.Errorf("%s: %v", file, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		saved++
		taptest.Check(t, read(t, path))
		again := loadFile(t, path)
		for i, k := 0, 0; i < l.Len(); i++ {
			if i%3 == 0 {
				continue
			}
			if was, is := l.Frame(i), again.Frame(k); was.Kind != is.Kind || was.Time != is.Time || was.Dir != is.Dir {
				t.Errorf("%s: frame %d: %+v became %+v", file, i, was, is)
			}
			k++
		}
	}
	if saved == 0 {
		t.Error("nothing was saved")
	}
}

// TestBodies: one after the other, backwards or by chance, the bytes are those of Body.
func TestBodies(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	id := "long"
	lines := []string{"short", strings.Repeat("x", window+5), strings.Repeat("y", window-50), "z"}
	record(t, s, id, id, noon, true, append(lines, strings.Repeat("a", 300_000), strings.Repeat("b", 300_000), strings.Repeat("c", 600_000))...)
	foreign, err := filepath.Glob("../decode/testdata/corpus/features-ts-*.jsonl")
	if err != nil || len(foreign) == 0 {
		t.Fatal(err)
	}
	for _, l := range []*Loaded{loadFile(t, s.Path(id)), varied(t, s, "a"), loadFile(t, foreign[0])} {
		body := l.Bodies()
		for k := range 4 * l.Len() {
			i := k * k % l.Len()
			switch {
			case k < l.Len():
				i = k
			case k < 2*l.Len():
				i = 2*l.Len() - 1 - k
			}
			if got := body(i); !bytes.Equal(got, l.Body(i)) {
				t.Fatalf("frame %d: %d bytes, want %d", i, len(got), len(l.Body(i)))
			}
		}
		if body(-1) != nil || body(l.Len()) != nil {
			t.Error("bytes of no frame")
		}
	}
}

func TestTotalsOf(t *testing.T) {
	l := varied(t, Store{Dir: t.TempDir()}, "a")
	all := l.TotalsOf(func(int) bool { return true })
	if diff := cmp.Diff(l.Totals(), all); diff != "" {
		t.Error(diff)
	}
	if got := l.TotalsOf(func(i int) bool { return i == 3 }); got.All.Total() != l.Frame(3).Size {
		t.Errorf("%+v", got)
	}
}

// TestMarksGoWithTheRecording: they are removed with it, by hand or to make room.
func TestMarksGoWithTheRecording(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	for _, id := range []string{"a", "b"} {
		record(t, s, id, id, noon, true, "x")
		var m marks.Marks
		if err := m.Set(1, "note"); err != nil {
			t.Fatal(err)
		}
		if err := m.Save(marks.Path(s.Path(id))); err != nil {
			t.Fatal(err)
		}
	}
	if infos, err := s.List(); err != nil || len(infos) != 2 || infos[0].Size != int64(len(read(t, infos[0].Path))) {
		t.Fatal(infos, err)
	}
	a, err := s.Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(a); err != nil {
		t.Fatal(err)
	}
	age(t, s)
	if err := s.Prune(1, noon); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(s.Dir, "*.marks.json"))
	if len(listIDs(t, s)) != 0 || len(left) > 0 {
		t.Error(listIDs(t, s), left)
	}
}

// BenchmarkBodies reads the bodies of all frames of a recording in order.
func BenchmarkBodies(b *testing.B) {
	s := Store{Dir: b.TempDir()}
	r, err := s.Create("x")
	if err != nil {
		b.Fatal(err)
	}
	w := tap.NewWriter(tap.Header{Session: "x", Transport: "stdio"}, tap.WriterOptions{Open: func() (tap.File, error) { return r, nil }, Since: func() time.Duration { return 0 }})
	for i := range 100_000 {
		w.Record([]tap.Frame{{Dir: tap.S2C, JSON: true, Body: fmt.Appendf(nil, `{"result":{"content":[{"type":"text","text":"T-%d: Login button does nothing on Safari"}]},"jsonrpc":"2.0","id":%d}`, i, i)}})
	}
	w.End(tap.End{})
	x, err := Open(s.Path("x"))
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	l, err := Load(x, decode.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for name, body := range map[string]func(int) []byte{"one by one": l.Body, "in a row": l.Bodies()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i := range l.Len() {
					body(i)
				}
			}
		})
	}
}
