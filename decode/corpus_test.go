package decode

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcptap/mcptap/sessions/neutral"
	"github.com/mcptap/mcptap/tap"
)

// loadCorpus reads a recorded session as the records that a tap would have made of it.
func loadCorpus(t testing.TB, file string) (records []tap.Record) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var in neutral.Translator
	for line := range bytes.Lines(raw) {
		for _, rec := range in.Line(bytes.TrimSuffix(line, []byte("\n")), tap.Record{}) {
			if rec.Bad != nil {
				t.Fatalf("%s: %v", file, rec.Bad)
			}
			records = append(records, rec)
		}
	}
	return records
}

func feed(s *Session, records []tap.Record) *Session {
	for i := range records {
		s.Record(&records[i])
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
