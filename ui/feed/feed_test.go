package feed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcptap/mcptap/decode"
)

// read opens a session and reads it to its end, a small piece at a time.
func read(t *testing.T, path string) *Feed {
	t.Helper()
	f, err := Open(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	clock := time.Time{}
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	for {
		st := f.Advance(now, 0)
		if st.Err != nil {
			t.Fatal(st.Err)
		}
		if !st.More {
			return f
		}
	}
}

func corpus(t *testing.T) []string {
	files, err := filepath.Glob("../../decode/testdata/corpus/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	if more := os.Getenv("MCPTAP_CORPUS"); more != "" {
		others, _ := filepath.Glob(filepath.Join(more, "*.jsonl"))
		files = append(files, others...)
	}
	return files
}

// TestRows: each call that leads and each frame without a call has one row, rows come
// in the order of their first frames, and each frame leads back to the row it is in.
func TestRows(t *testing.T) {
	for _, path := range corpus(t) {
		f := read(t, path)
		rows := map[Row]int{}
		last := -1
		for i, r := range f.Rows {
			rows[r]++
			if first := f.First(r); first < last {
				t.Errorf("%s: row %d begins with frame %d, after frame %d", path, i, first, last)
			} else {
				last = first
			}
			if main := f.Main(r); main < 0 || main >= f.Len() {
				t.Errorf("%s: row %d is about frame %d", path, i, main)
			}
		}
		leads := 0
		for c := range f.Calls() {
			if f.Leads(c) {
				leads++
				if rows[Row(c)] != 1 {
					t.Errorf("%s: call %d has %d rows", path, c, rows[Row(c)])
				}
				for _, p := range f.Parts(c) {
					if got := f.Rows[f.RowOf(p.Frame)]; got.Call() != c && f.Loaded.Frame(p.Frame).Call >= 0 {
						t.Errorf("%s: frame %d (%s) of call %d leads to row %v", path, p.Frame, p.Role, c, got)
					}
				}
			}
		}
		if leads == 0 {
			t.Errorf("%s has no calls", path)
		}
	}
}

// TestLook: what is looked into is what crossed.
func TestLook(t *testing.T) {
	for _, path := range corpus(t) {
		f := read(t, path)
		for i := range f.Len() {
			b := f.Look(i, 60)
			if b.Missing == "" && int64(len(b.Bytes)+len(b.Info.EOL.String())) != b.Info.Size {
				t.Errorf("%s: frame %d has %d bytes, not %d", path, i, len(b.Bytes), b.Info.Size)
			}
			if account := b.Weigh(); b.Tree != nil && account.Total() != b.Info.Size {
				t.Errorf("%s: the account of frame %d adds up to %d, not %d", path, i, account.Total(), b.Info.Size)
			}
			if other := f.Counterpart(i); other >= 0 && b.Info.Kind != decode.Notification && f.Counterpart(other) < 0 {
				t.Errorf("%s: frame %d belongs to %d, but not the reverse", path, i, other)
			}
		}
	}
	f := read(t, corpus(t)[0])
	if b := f.Look(f.Len(), 60); b.Missing == "" {
		t.Error("a frame that does not exist is there")
	}
}

// TestBatch: the calls of one frame have a row each, and each answer leads to its own.
func TestBatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "batch.jsonl")
	if err := os.WriteFile(path, []byte(`{"mcptap":1,"session":"x","start":"2026-11-30T13:00:00Z","transport":"stdio"}
{"n":1,"t":1,"dir":"c2s","msg":[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]}
{"n":2,"t":2,"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"result":{}}}
{"n":3,"t":3,"dir":"s2c","msg":{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := read(t, path)
	if len(f.Rows) != 2 || f.RowOf(1) != 0 || f.RowOf(2) != 1 || f.RowOf(0) != 0 {
		t.Errorf("rows %v; the frames lead to %d, %d, %d", f.Rows, f.RowOf(0), f.RowOf(1), f.RowOf(2))
	}
	if f.Counterpart(0) != 1 || f.Counterpart(2) != 0 {
		t.Errorf("the batch is answered by %d, the last answer is to %d", f.Counterpart(0), f.Counterpart(2))
	}
}

func TestDetail(t *testing.T) {
	f := read(t, "../testdata/store/20261130T125130Z-tickets-modern-3c4d.jsonl")
	got := map[string]Detail{}
	for _, r := range f.Rows {
		if c := r.Call(); c >= 0 {
			o := f.Operation(c)
			got[o.Name+" "+o.Outcome.String()] = f.Detail(r)
		}
	}
	for name, want := range map[string]Detail{
		"search_tickets ok":           {Gist: `query="login"`},
		"add_comment tool error":      {Gist: `ticket_id="T-999"  text="Any news?"`, Why: "Error executing tool add_comment: No ticket T-999"},
		"close_ticket protocol error": {Gist: `ticket_id="T-101"`, Why: "Unknown tool: close_ticket (-32602 invalid params)"},
	} {
		if got[name] != want {
			t.Errorf("%s: %+v, want %+v", name, got[name], want)
		}
	}
}

// TestStarting: a recording that is opened before its tap has come to locking it is
// followed all the same; one that stayed empty is not.
func TestStarting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "20261130T120000Z-new-0001.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if st := f.Advance(time.Now, time.Second); !st.Live || st.More || st.Err != nil {
		t.Errorf("just created: %+v", st)
	}
	if st := f.Advance(func() time.Time { return time.Now().Add(time.Minute) }, time.Second); st.Live {
		t.Errorf("empty for a minute: %+v", st)
	}
	const journal = `{"mcptap":1,"session":"x","start":"2026-11-30T12:00:00Z","transport":"stdio","label":"new"}
{"n":1,"t":1,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}
`
	if err := os.WriteFile(path, []byte(journal), 0o600); err != nil {
		t.Fatal(err)
	}
	if st := f.Advance(time.Now, time.Second); st.Live || st.Err != nil || f.Len() != 1 {
		t.Errorf("with a frame, and no tap: %+v, %d frames", st, f.Len())
	}
}

// TestLongWhy: of an error as long as a book, a row says the beginning.
func TestLongWhy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, []byte(`{"mcptap":1,"session":"x","start":"2026-11-30T13:00:00Z","transport":"stdio"}
{"n":1,"t":1,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}}
{"n":2,"t":2,"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no `+strings.Repeat(`ü\n`, 1<<20)+`"}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := read(t, path)
	d := f.Detail(f.Rows[0])
	if len(d.Why) > maxWhy+len("…") || !strings.Contains(d.Why, "no ü\nü\n") || !strings.HasSuffix(d.Why, "…") {
		t.Errorf("%d bytes: %.80q", len(d.Why), d.Why)
	}
}
