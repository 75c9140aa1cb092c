package rules

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

var update = flag.Bool("update", false, "write the golden files anew")

// corpusLine is one line of a recorded session: what two neutral recorders between
// real clients and servers wrote down.
type corpusLine struct {
	Meta *struct{ Transport string }
	T    int64
	Dir  string
	Raw  *string
	B64  []byte `json:"raw_b64"`
	NL   *bool
	HTTP *struct {
		ID      int
		Headers [][2]string
		SSE     bool
	}
	End *struct {
		T      int64
		Exit   int    `json:"exit_code"`
		Signal string `json:"signal"`
		Asked  string `json:"asked_by_client"`
	}
}

func loadSession(t testing.TB, file string) *script {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := &script{s: decode.New(decode.Options{})}
	wheres := map[int]decode.Where{}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var l corpusLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := sc.corpusLine(&l, wheres); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return sc
}

func (sc *script) corpusLine(l *corpusLine, wheres map[int]decode.Where) error {
	sc.now = time.Duration(l.T) * time.Microsecond
	switch {
	case l.Meta != nil && l.Meta.Transport != "stdio":
		return sc.record([]string{"http"})
	case l.Meta != nil:
	case l.End != nil:
		return sc.corpusEnd(l)
	case l.Raw != nil || l.B64 != nil:
		sc.corpusFrame(l, wheres)
	}
	return nil
}

// corpusEnd makes of a signal that the client sent what the tap would record.
func (sc *script) corpusEnd(l *corpusLine) error {
	sc.now = time.Duration(l.End.T) * time.Microsecond
	if l.End.Asked != "" {
		if err := sc.record([]string{"signal"}); err != nil {
			return err
		}
	}
	if l.End.Signal == "" && l.End.Exit == 0 {
		if err := sc.record([]string{"stdin-end"}); err != nil {
			return err
		}
	}
	words := []string{fmt.Sprintf("exit=%d", l.End.Exit)}
	if l.End.Signal != "" {
		words = append(words, "signal="+l.End.Signal)
	}
	return sc.end(words)
}

func (sc *script) corpusFrame(l *corpusLine, wheres map[int]decode.Where) {
	dir, _ := tap.ParseDir(l.Dir)
	f := tap.Frame{Dir: dir, Time: sc.now, Body: l.B64}
	if l.Raw != nil {
		f.Body = []byte(*l.Raw)
	}
	if l.HTTP != nil {
		f.EOL = tap.NoEOL
		if l.HTTP.SSE {
			data, _ := strings.CutPrefix(string(f.Body), "data:")
			if len(data) == len(f.Body) {
				return
			}
			f.Body = []byte(strings.TrimSpace(data))
		}
		if len(f.Body) > 0 {
			sc.add(&f, whereOf(l, wheres))
		}
		return
	}
	if body, ok := strings.CutSuffix(string(f.Body), "\r"); ok {
		f.Body, f.EOL = []byte(body), tap.CRLF
	}
	if l.NL != nil && !*l.NL {
		f.EOL = tap.NoEOL
	}
	sc.add(&f, decode.Where{})
}

// whereOf gives the scope of an exchange: the MCP session if there is one, the
// exchange itself if it is a modern one.
func whereOf(l *corpusLine, wheres map[int]decode.Where) decode.Where {
	w, ok := wheres[l.HTTP.ID]
	if ok {
		return w
	}
	w = decode.Where{Scope: 1, Exchange: uint32(l.HTTP.ID) + 1}
	for _, h := range l.HTTP.Headers {
		switch strings.ToLower(h[0]) {
		case "mcp-protocol-version":
			w.Version = h[1]
		case "mcp-session-id":
			w.MCPSession = true
		}
	}
	if w.Version >= Modern.From {
		w.Scope = decode.Scope(1000 + l.HTTP.ID)
	}
	wheres[l.HTTP.ID] = w
	return w
}

// TestCorpus compares the findings in recorded sessions with those that were read
// and found right. MCPTAP_CORPUS names a folder with more sessions than testdata.
func TestCorpus(t *testing.T) {
	dir, golden := os.Getenv("MCPTAP_CORPUS"), filepath.Join("testdata", "corpus.golden")
	if dir == "" {
		dir, golden = filepath.Join("..", "testdata", "corpus"), filepath.Join("testdata", "corpus-small.golden")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions in %s: %v", dir, err)
	}
	slices.Sort(files)
	var got strings.Builder
	for _, file := range files {
		fmt.Fprintf(&got, "%s\n", strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		for _, f := range loadSession(t, file).findings() {
			fmt.Fprintf(&got, "  %s\n", strings.ToValidUTF8(describe(&f), "?"))
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}
