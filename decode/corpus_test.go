package decode

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcptap/mcptap/tap"
)

// corpusLine is one line of a recorded session in testdata/corpus: what two
// neutral recorders between real clients and servers wrote down.
type corpusLine struct {
	Meta *struct {
		Session   string
		Transport string
		Command   []string
	}
	T      int64
	Dir    string
	Raw    *string
	RawB64 []byte `json:"-"`
	B64    string `json:"raw_b64"`
	NL     *bool
	HTTP   *struct {
		ID      int
		Status  int
		Method  string
		Headers [][2]string
		SSE     bool
		End     bool
	}
	End *struct {
		T        int64
		ExitCode int    `json:"exit_code"`
		Signal   string //
	}
}

// step is one thing to feed a session with.
type step struct {
	frame *tap.Frame
	where Where
	end   *tap.End
}

// loadCorpus reads a recorded session as the frames a tap would have made of it.
func loadCorpus(t testing.TB, file string) []step {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	c := corpus{scopes: map[int]Where{}}
	for in.Scan() {
		var l corpusLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		c.take(&l)
	}
	return c.steps
}

type corpus struct {
	steps  []step
	scopes map[int]Where
	n      uint64
}

func (c *corpus) take(l *corpusLine) {
	switch {
	case l.Meta != nil:
	case l.End != nil:
		c.steps = append(c.steps, step{end: &tap.End{Exit: l.End.ExitCode, Signal: l.End.Signal}})
	case l.Raw != nil || l.B64 != "":
		c.frame(l)
	}
}

func (c *corpus) frame(l *corpusLine) {
	dir, _ := tap.ParseDir(l.Dir)
	raw, _ := base64.StdEncoding.DecodeString(l.B64)
	if l.Raw != nil {
		raw = []byte(*l.Raw)
	}
	var w Where
	if l.HTTP != nil {
		w = c.where(l)
		if l.HTTP.SSE {
			data, ok := strings.CutPrefix(string(raw), "data:")
			if !ok {
				return
			}
			raw = []byte(strings.TrimSpace(data))
		}
		if len(raw) == 0 {
			return
		}
	}
	c.n++
	fr := &tap.Frame{N: c.n, Time: time.Duration(l.T) * time.Microsecond, Dir: dir, Body: raw}
	if body, ok := strings.CutSuffix(string(raw), "\r"); ok && l.HTTP == nil {
		fr.Body, fr.EOL = []byte(body), tap.CRLF
	}
	if l.NL != nil && !*l.NL || l.HTTP != nil {
		fr.EOL = tap.NoEOL
	}
	fr.JSON = dir != tap.Stderr && json.Valid(fr.Body) && utf8.Valid(fr.Body)
	c.steps = append(c.steps, step{frame: fr, where: w})
}

// where gives the scope of an exchange: the MCP session if there is one, the
// exchange itself if it is a modern one.
func (c *corpus) where(l *corpusLine) Where {
	w, ok := c.scopes[l.HTTP.ID]
	if ok {
		return w
	}
	w.Scope, w.Exchange = 1, uint32(l.HTTP.ID)+1
	for _, h := range l.HTTP.Headers {
		switch strings.ToLower(h[0]) {
		case "mcp-protocol-version":
			w.Version = h[1]
		case "mcp-session-id":
			w.MCPSession = true
		}
	}
	if w.Version >= rev2026 {
		w.Scope = Scope(1000 + l.HTTP.ID)
	}
	c.scopes[l.HTTP.ID] = w
	return w
}

func feed(s *Session, steps []step) *Session {
	for _, st := range steps {
		if st.end != nil {
			s.End(st.end)
			continue
		}
		s.AddAt(st.frame, st.where)
	}
	return s
}

// corpusFiles gives the sessions at hand: those in testdata, or a whole folder.
func corpusFiles(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv("MCPTAP_CORPUS")
	if dir == "" {
		dir = filepath.Join("testdata", "corpus")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions in %s: %v", dir, err)
	}
	slices.Sort(files)
	return files
}

// TestCorpus asks of every recorded session that nothing is lost: each frame is a
// message that belongs somewhere, or says why it does not.
func TestCorpus(t *testing.T) {
	sessions, frames := 0, 0
	kinds, outcomes := map[Kind]int{}, map[Outcome]int{}
	for _, file := range corpusFiles(t) {
		s := feed(New(Options{Bytes: true}), loadCorpus(t, file))
		sessions++
		frames += s.Len()
		checkInvariants(t, s)
		for i := range s.Len() {
			f := s.Frame(i)
			kinds[f.Kind]++
			isAnswer := f.Kind == Result || f.Kind == Error
			switch {
			case (f.Kind == Request || isAnswer && !f.Orphan) && f.Call < 0:
				t.Errorf("%s: frame %d belongs to no call", file, i)
			case (f.Kind == Malformed || f.Kind == Stray) && f.Faults == 0:
				t.Errorf("%s: frame %d breaks no rule", file, i)
			case f.Orphan || f.Unjoined || f.WrongID || f.Second:
				t.Logf("%s: frame %d %s %s: orphan %v unjoined %v wrong id %v second %v", filepath.Base(file), i, f.Kind, f.Method, f.Orphan, f.Unjoined, f.WrongID, f.Second)
			}
		}
		for i := range s.Calls() {
			c := s.Call(i)
			outcomes[c.Outcome]++
			if c.Hidden != nil {
				t.Logf("%s: call %d %s: %v %s", filepath.Base(file), i, c.Name, c.Hidden.Level, c.Hidden.Reason)
			}
		}
		for _, o := range s.Operations() {
			if o.Doubt != "" {
				t.Logf("%s: %s %s: %s", filepath.Base(file), o.Method, o.Name, o.Doubt)
			}
		}
	}
	t.Logf("%d sessions, %d frames, kinds %v, outcomes %v", sessions, frames, kinds, outcomes)
}
