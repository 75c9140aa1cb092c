package sessions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/neutral"
	"github.com/mcptap/mcptap/tap"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// record puts a recording into a store: with its end, or without.
func record(t *testing.T, s Store, id, label string, start time.Time, ended bool, bodies ...string) {
	t.Helper()
	r, err := s.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	w := tap.NewWriter(tap.Header{Session: id, Label: label, Start: start, Transport: "stdio"}, tap.WriterOptions{
		Open:  func() (tap.File, error) { return r, nil },
		Since: func() time.Duration { return time.Second },
	})
	for _, b := range bodies {
		w.Record([]tap.Frame{{Dir: tap.C2S, Body: []byte(b)}})
	}
	if ended {
		w.End(tap.End{Exit: 3})
		return
	}
	_ = r.Close()
}

// age makes a store's files old enough to be removed, in the order of their names.
func age(t *testing.T, s Store) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		then := noon.Add(time.Duration(i-1000) * time.Minute)
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

func ids(infos []Info) (all []string) {
	for _, i := range infos {
		all = append(all, i.ID)
	}
	return all
}

func listIDs(t *testing.T, s Store) []string {
	t.Helper()
	infos, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	return ids(infos)
}

func TestList(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	record(t, s, "20261130T120000Z-old-0001", "old", noon, true, "a", strings.Repeat("long", 50_000))
	record(t, s, "20261130T120001Z-crashed-0002", "crashed", noon.Add(time.Second), false, "a")
	live, err := s.Create("20261130T120002Z-live-0003")
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	for name, content := range map[string]string{"notes.txt": "x", "20261130T120000Z-old-0001.keep": "", "20261130T120000Z-old-0001.s2c-1.bin": "12345", "20261130T120000Z-old-0001.other-1.bin": "123"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	infos, err := s.List()
	if err != nil || len(infos) != 3 {
		t.Fatalf("%v, %v", infos, err)
	}
	byID := map[string]Info{}
	for _, i := range infos {
		byID[i.ID] = i
	}
	old, crashed := byID["20261130T120000Z-old-0001"], byID["20261130T120001Z-crashed-0002"]
	if old.State != Ended || !old.Kept || old.End.Exit != 3 || old.Records != 3 || old.Length != time.Second || old.Label() != "old" {
		t.Errorf("%+v", old)
	}
	if stat, err := os.Stat(old.Path); err != nil || old.Size != stat.Size()+5 {
		t.Errorf("size %d, of the journal %d", old.Size, stat.Size())
	}
	if crashed.State != Crashed || crashed.Kept || crashed.End != nil || crashed.Records != 1 {
		t.Errorf("%+v", crashed)
	}
	if i := byID["20261130T120002Z-live-0003"]; i.State != Live || i.Header != nil {
		t.Errorf("%+v", i)
	}
}

// TestForeign: a recording of another program has the name, the start and the length that
// can be known of it.
func TestForeign(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	const meta = `{"meta":{"session":"legacy-errors","transport":"stdio"}}` + "\n"
	for id, lines := range map[string]string{
		"20261115T101500Z-other-0015":  meta + `{"t":1500000,"dir":"c2s","raw":"{}"}` + "\n" + `{"t":2500000,"dir":"s2c","raw":"` + strings.Repeat("x", 100_000) + `"}` + "\n",
		"mine":                         meta,
		"20261115T101501Z-noname-0016": `{"meta":{}}` + "\n" + `{"t":1,"dir":"c2s","raw":"{}"}` + "\n" + `{"end":{"t":3000000}}` + "\n",
	} {
		if err := os.WriteFile(s.Path(id), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(s.Path(id), noon, noon); err != nil {
			t.Fatal(err)
		}
	}
	infos, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range infos {
		in := &infos[i]
		got = append(got, fmt.Sprint(in.ID, " ", in.Label(), " ", in.Start.UTC().Format(time.RFC3339), " ", in.Length, " ", in.HasLength()))
	}
	want := []string{
		"mine legacy-errors 2026-11-30T12:00:00Z 0s false",
		"20261115T101501Z-noname-0016 noname 2026-11-15T10:15:01Z 3s true",
		"20261115T101500Z-other-0015 legacy-errors 2026-11-15T10:15:00Z 2.5s true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestListOfNothing(t *testing.T) {
	infos, err := Store{Dir: filepath.Join(t.TempDir(), "none")}.List()
	if err != nil || len(infos) != 0 {
		t.Errorf("%v, %v", infos, err)
	}
}

func TestTornLastLine(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	record(t, s, "20261130T120000Z-x-0001", "x", noon, false, "a", "b")
	path := s.Path("20261130T120000Z-x-0001")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"n":3,"t":7,"dir":"c2s","msg":{"half`)
	f.Close()
	infos, err := s.List()
	if err != nil || infos[0].Records != 2 || infos[0].State != Crashed {
		t.Errorf("%+v, %v", infos, err)
	}
}

func TestResolve(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	record(t, s, "20261130T120000Z-tickets-0a01", "tickets", noon, true)
	record(t, s, "20261130T120100Z-tickets-0b02", "tickets", noon.Add(time.Minute), true)
	record(t, s, "20261130T120200Z-last-0b02", "last", noon.Add(2*time.Minute), true)
	foreign := `{"meta":{"session":"gotickets-ts-legacy-errors","transport":"stdio"}}` + "\n"
	if err := os.WriteFile(s.Path("20261129T120000Z-other-name-0c03"), []byte(foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "any name")
	if err := os.WriteFile(outside, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"last":                                   "20261130T120200Z-last-0b02",
		"tickets":                                "20261130T120100Z-tickets-0b02",
		"20261130T120000Z-tickets-0a01":          "20261130T120000Z-tickets-0a01",
		"20261130T1201":                          "20261130T120100Z-tickets-0b02",
		"0a01":                                   "20261130T120000Z-tickets-0a01",
		outside:                                  "any name",
		"0b02":                                   "error: fits the ids of 2 sessions",
		"2026":                                   "error: fits the ids of 4 sessions",
		"legacy-errors":                          "20261129T120000Z-other-name-0c03",
		"Other-Name":                             "20261129T120000Z-other-name-0c03",
		"gotickets-ts-legacy-errors":             "20261129T120000Z-other-name-0c03",
		"20261129T120000Z-other-name-0c03.jsonl": "20261129T120000Z-other-name-0c03",
		"icket":                                  `error: "icket" is part of the id or label of 3 sessions: 20261130T120100Z-tickets-0b02, 20261130T120000Z-tickets-0a01, 20261129T120000Z-other-name-0c03; write more of it`,
		"legasy-errors":                          "error: did you mean gotickets-ts-legacy-errors?",
		"tiketts":                                "error: did you mean one of tickets, gotickets-ts-legacy-errors?",
		"":                                       "error: no such session",
		"nothing":                                "error: \"nothing\" is no path, no id, no label and no part of one in " + s.Dir + "; 'mcptap ls' lists what there is",
		s.Dir:                                    "error: is not a file",
		"tickets ":                               "20261130T120100Z-tickets-0b02",
	} {
		i, err := s.Resolve(name)
		if wrong, ok := strings.CutPrefix(want, "error: "); ok {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%q: %v, %v", name, i.ID, err)
			}
		} else if err != nil || i.ID != want {
			t.Errorf("%q: %v, %v; want %s", name, i.ID, err, want)
		}
	}
}

func TestPrune(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	body := strings.Repeat("x", 1000)
	for _, name := range []string{"a-kept", "b", "c", "d", "e"} {
		record(t, s, name, name, noon, true, body)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "b.s2c-1.bin"), []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := s.Resolve("a-kept")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Keep(kept, true); err != nil {
		t.Fatal(err)
	}
	age(t, s)
	live, err := s.Create("0-live")
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	old := noon.Add(-100 * time.Hour)
	if err := os.Chtimes(s.Path("0-live"), old, old); err != nil {
		t.Fatal(err)
	}

	if err := s.Prune(0, noon); err != nil || len(listIDs(t, s)) != 6 {
		t.Fatalf("no limit: %v, %v", listIDs(t, s), err)
	}
	if err := s.Prune(4000, noon); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"e", "d", "a-kept", "0-live"}, sortedDown(listIDs(t, s))); diff != "" {
		t.Error(diff)
	}
	if p := s.Pruned(); p.Sessions != 2 || p.Bytes < 3000 || !p.Last.Equal(noon) {
		t.Errorf("%+v", p)
	}
	if err := s.Prune(1, noon); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a-kept", "0-live"}, sortedDown(listIDs(t, s))); diff != "" {
		t.Error(diff)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "*.bin")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if p := s.Pruned(); p.Sessions != 4 {
		t.Errorf("%+v", p)
	}
}

func sortedDown(names []string) []string {
	slices.Sort(names)
	slices.Reverse(names)
	return names
}

func TestYoungRecordingsAreNotPruned(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	record(t, s, "x", "x", noon, true, "a")
	if err := s.Prune(1, time.Now()); err != nil || len(listIDs(t, s)) != 1 {
		t.Errorf("%v, %v", listIDs(t, s), err)
	}
}

func TestBody(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	record(t, s, "x", "x", noon, true, "a")
	for name, content := range map[string]string{"x.s2c-1.bin": "12345", "x.s2c-2.bin": "1234", "secret": "12345"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x, err := Open(s.Path("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for file, want := range map[string]string{
		"s2c-1.bin":    "12345",
		"s2c-2.bin":    "error: does not hold the 5 bytes",
		"s2c-3.bin":    "error: no such file",
		"../x/secret":  "error: is not the name of a side file",
		"s2c-1.bin/..": "error: is not the name of a side file",
		"":             "error: were not kept: full disk",
	} {
		body, err := x.Body(&tap.Frame{N: 1, Digest: &tap.Digest{File: file, Bytes: 5, Reason: "full disk"}})
		if wrong, ok := strings.CutPrefix(want, "error: "); ok {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%q: %v", file, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", file, err)
			continue
		}
		if b, err := io.ReadAll(body); err != nil || string(b) != want {
			t.Errorf("%q: %q, %v", file, b, err)
		}
		body.Close()
	}
}

func TestCreateFileNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "log.jsonl")
	for n, want := range []string{"log.jsonl", "log.2.jsonl", "log.3.jsonl"} {
		r, err := CreateFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(r.Name()) != want {
			t.Errorf("file %d is %s, want %s", n, r.Name(), want)
		}
		r.Close()
	}
	s := Store{Dir: filepath.Dir(path)}
	if _, err := s.Create("log"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a taken name: %v", err)
	}
}

func TestDefaultDir(t *testing.T) {
	if got := DefaultDir(func(string) string { return "/x" }); got != "/x" {
		t.Error(got)
	}
	got := DefaultDir(func(string) string { return "" })
	if !filepath.IsAbs(got) || !strings.HasSuffix(got, filepath.Join("mcptap", "sessions")) {
		t.Error(got)
	}
}

func TestNewID(t *testing.T) {
	id := NewID("x", time.Date(2026, 11, 30, 13, 15, 2, 999, time.FixedZone("", 3600)))
	if !strings.HasPrefix(id, "20261130T121502Z-x-") || len(id) != len("20261130T121502Z-x-0000") {
		t.Error(id)
	}
}

// FuzzNeutral opens arbitrary bytes as a neutral recording: nothing panics, and the
// reading ends.
func FuzzNeutral(f *testing.F) {
	f.Add([]byte(`{"t":1,"dir":"c2s","raw":"{}"}` + "\n" + `{"end":{"t":5,"exit_code":0}}` + "\n"))
	f.Add([]byte(`{"t":1,"dir":"s2c","raw_b64":"/w==","nl":false}` + "\n" + `{"t":2,"dir":"s2c","raw":"data: {}","http":{"id":1,"sse":true}}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Read(strings.NewReader(neutral.Start + `{"session":"x"}}` + "\n" + string(b)))
		if err != nil {
			t.Fatal(err)
		}
		l, err := Load(s, decode.Options{Bytes: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Len() {
			l.Body(i)
		}
	})
}

// TestLoadReadsSideFiles has a result in a side file that says only at its end that
// it is an error.
func TestLoadReadsSideFiles(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	r, err := s.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	w := tap.NewWriter(tap.Header{Session: "x", Transport: "stdio"}, tap.WriterOptions{
		Open:  func() (tap.File, error) { return r, nil },
		Side:  func(suffix string) (tap.File, error) { return r.Side(suffix) },
		Since: func() time.Duration { return time.Second },
	})
	w.Record([]tap.Frame{{Dir: tap.C2S, JSON: true, Body: []byte(`{"jsonrpc":"2.0","id":"caf\u00e9","method":"tools/call","params":{"name":"big"}}`)}})
	long := w.Spill(tap.S2C)
	long.Add([]byte(`{"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 5000)))
	long.Add([]byte(`"}],"isError":true},"jsonrpc":"2.0","id":"café"}`))
	w.Record([]tap.Frame{{Dir: tap.S2C, JSON: true, Digest: long.Digest()}})
	w.End(tap.End{})

	x, err := Open(s.Path("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	l, err := Load(x, decode.Options{Bytes: true})
	if err != nil {
		t.Fatal(err)
	}
	if c := l.Call(0); c.Outcome != decode.ToolError || c.Response != 1 {
		t.Errorf("%+v", c)
	}
	totals := l.Totals()
	if got := totals.All.Total(); got != l.Frame(0).Size+l.Frame(1).Size || totals.Unparsed != 0 {
		t.Errorf("%d bytes in the account, %d not", got, totals.Unparsed)
	}
}

// TestListLength: a tap may wait long for a client before it ends a session.
func TestListLength(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	for _, body := range []string{"a", strings.Repeat("long", 50_000)} {
		r, err := s.Create(NewID("x", noon))
		if err != nil {
			t.Fatal(err)
		}
		now := time.Second
		w := tap.NewWriter(tap.Header{Session: "x", Start: noon}, tap.WriterOptions{
			Open:  func() (tap.File, error) { return r, nil },
			Since: func() time.Duration { return now },
		})
		w.Record([]tap.Frame{{Dir: tap.C2S, Body: []byte(body)}})
		now = time.Minute
		w.End(tap.End{Exit: 0})
	}
	infos, err := s.List()
	if err != nil || len(infos) != 2 {
		t.Fatal(infos, err)
	}
	for _, i := range infos {
		if i.Length != time.Second || i.Records != 2 || i.State != Ended {
			t.Errorf("length %v, %d records, %s", i.Length, i.Records, i.State)
		}
	}
}

// TestEmptyRecordings have their label from the id, but a label names what can be read.
func TestEmptyRecordings(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	record(t, s, "20261130T120000Z-my-tickets-0001", "my-tickets", noon, true, "a")
	for _, id := range []string{"20261130T120001Z-my-tickets-0002", "strange", "a-b"} {
		if err := os.WriteFile(s.Path(id), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	infos, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, i := range infos {
		if i.Empty {
			got[i.ID] = i.Label()
		}
	}
	if diff := cmp.Diff(map[string]string{"20261130T120001Z-my-tickets-0002": "my-tickets", "strange": "", "a-b": ""}, got); diff != "" {
		t.Error(diff)
	}
	if i, err := s.Resolve("my-tickets"); err != nil || i.Empty {
		t.Errorf("%v, %v", i.ID, err)
	}
}

func TestNotKept(t *testing.T) {
	for body, want := range map[string]bool{`«not kept: 9 bytes, "text/html"»`: true, `{"a":"«redacted:1»"}`: false, "«not kept: ": false} {
		if got := NotKept(&tap.Frame{Body: []byte(body), HTTP: &tap.Carriage{Masked: true}}); got != want {
			t.Errorf("%q: %v", body, got)
		}
		if NotKept(&tap.Frame{Body: []byte(body), HTTP: &tap.Carriage{}}) {
			t.Errorf("%q, as it crossed", body)
		}
	}
	if !NotKept(&tap.Frame{Digest: &tap.Digest{Reason: "x"}}) || NotKept(&tap.Frame{Digest: &tap.Digest{File: "s2c-1.bin"}}) {
		t.Error("digests")
	}
}

// TestProblem: a file that is no recording says why, and has the time of its file; what
// is one, or may become one, has no problem.
func TestProblem(t *testing.T) {
	store := Store{Dir: t.TempDir()}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ text, want string }{
		"empty":    {"", "the file is empty"},
		"words":    {"this is no recording\n", "its first line is not JSON"},
		"torn":     {`{"mcptap":1`, "its first line has no end"},
		"array":    {"[1,2]\n", "its first line is JSON, but no record of mcptap"},
		"future":   {`{"mcptap":99}` + "\n", "the journal has format version 99, this mcptap reads versions up to 1"},
		"nostart":  {`{"mcptap":1,"session":"x","transport":"stdio"}` + "\n", ""},
		"headless": {"torn line\n" + `{"n":7,"t":5,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}` + "\n", ""},
		"foreign":  {neutral.Start + "{}}\n", ""},
	} {
		path := store.Path(name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		i, err := Inspect(path)
		if err != nil || i.Problem != c.want || !i.Start.Equal(at) {
			t.Errorf("%s: %q at %v (%v), want %q", name, i.Problem, i.Start, err, c.want)
		}
	}
	rec, err := store.Create("live")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rec.Close() }()
	if i, err := Inspect(store.Path("live")); err != nil || i.Problem != "" || i.State != Live {
		t.Errorf("a session that has just begun: %+v (%v)", i, err)
	}
}

// TestFate: what becomes of a file while it is open is told.
func TestFate(t *testing.T) {
	for want, harm := range map[Fate]func(path string) error{
		There:   func(string) error { return nil },
		Deleted: os.Remove,
		Replaced: func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("{}\n"), 0o600))
		},
		Cut: func(path string) error { return os.Truncate(path, 3) },
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		if err := os.WriteFile(path, []byte(`{"mcptap":1,"session":"x","transport":"stdio"}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		if got := s.Fate(); got != There {
			t.Errorf("nothing has happened, and it is %d", got)
		}
		if err := harm(path); err != nil {
			t.Fatal(err)
		}
		if got := s.Fate(); got != want {
			t.Errorf("fate %d, want %d", got, want)
		}
		_ = s.Close()
	}
}

// TestMoreComesToAnEnd: a recording that grows as fast as it is read is read as far as it
// went at first.
func TestMoreComesToAnEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fast.jsonl")
	line := func(n int) string {
		return fmt.Sprintf(`{"n":%d,"t":%d,"dir":"c2s","msg":{"jsonrpc":"2.0","method":"a"}}`+"\n", n, n)
	}
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	n := 0
	grow := func() {
		for range 1000 {
			n++
			if _, err := out.WriteString(line(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	grow()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.in = tap.NewReader(reader(func(b []byte) (int, error) {
		grow()
		return s.file.(io.Reader).Read(b)
	}))
	l := Begin(s, decode.Options{})
	for range 3 {
		had := n
		if err := l.More(); err != nil || l.Len() < had || l.Len() > had+morePiece {
			t.Fatalf("%d frames, there were %d at first: %v", l.Len(), had, err)
		}
	}
}

type reader func(b []byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }

// TestMoreFromAnywhere: wherever reading stopped before, More brings the rest, also where
// one line of a foreign recording stands for several records.
func TestMoreFromAnywhere(t *testing.T) {
	files, err := filepath.Glob("../decode/testdata/corpus/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		read := func(records int) (frames, passed, all int) {
			s, err := Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			l := Begin(s, decode.Options{NoListings: true})
			if _, err := l.Some(records); err != nil {
				t.Fatal(err)
			}
			if err := l.More(); err != nil {
				t.Fatal(err)
			}
			return l.Len(), l.Passed, l.Records
		}
		frames, passed, all := read(1 << 30)
		for records := max(0, all-40); records <= all; records++ {
			if f, p, r := read(records); f != frames || p != passed || r != all {
				t.Errorf("%s, after %d records: %d frames, %d records; want %d and %d", filepath.Base(file), records, f, r, frames, all)
				break
			}
		}
	}
}
