package tap_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/taptest"
)

// disk is a file on a disk of a certain size.
type disk struct {
	bytes.Buffer
	size       int // 0: without end
	noTruncate bool
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(b []byte) (int, error) {
	if room := d.size - d.Len(); d.size > 0 && room < len(b) {
		n, _ := d.Buffer.Write(b[:max(0, room)])
		return n, errFull
	}
	return d.Buffer.Write(b)
}

func (d *disk) Truncate(size int64) error {
	if d.noTruncate {
		return errors.New("not now")
	}
	d.Buffer.Truncate(int(size))
	return nil
}

func (d *disk) Close() error { return nil }

// clock moves on by a microsecond each time somebody looks.
func clock() func() time.Duration {
	t := time.Duration(0)
	return func() time.Duration { t += time.Microsecond; return t }
}

var header = tap.Header{Session: "20261130T131502Z-x-0000", Start: time.Date(2026, 11, 30, 13, 15, 2, 1, time.UTC), Transport: "stdio", Command: []string{"x"}, PID: 1}

type sides map[string]*disk

func writer(d *disk, change func(*tap.WriterOptions)) (*tap.Writer, *[]string, sides) {
	var warnings []string
	side := sides{}
	opt := tap.WriterOptions{
		Open:  func() (tap.File, error) { return d, nil },
		Since: clock(),
		Warn:  func(s string) { warnings = append(warnings, s) },
		Side: func(suffix string) (tap.File, error) {
			side[suffix] = &disk{}
			return side[suffix], nil
		},
	}
	if change != nil {
		change(&opt)
	}
	return tap.NewWriter(header, opt), &warnings, side
}

func frame(dir tap.Dir, body string, eol tap.EOL) tap.Frame {
	b := []byte(body)
	return tap.Frame{Dir: dir, Body: b, EOL: eol, JSON: json.Valid(b) && !bytes.ContainsAny(b, "\r\n") && strings.ToValidUTF8(body, "") == body}
}

var shelf = []tap.Frame{
	frame(tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, tap.LF),
	frame(tap.S2C, ` { "id" : 9007199254740993 ,	"a":1,"a":1.0e400 } `, tap.CRLF),
	frame(tap.S2C, "{\"s\":\"\u2028\U0001F469\u200d\U0001F4BB\\ud800\"}", tap.LF),
	frame(tap.Stderr, "Traceback \x1b[31m\"quoted\" \\ \t", tap.LF),
	frame(tap.S2C, "", tap.LF),
	frame(tap.S2C, "", tap.CRLF),
	frame(tap.S2C, "\xff\xfe\x00bad", tap.LF),
	frame(tap.S2C, "{\"a\":\r1}", tap.LF),
	frame(tap.S2C, "\xef\xbb\xbf{}", tap.LF),
	frame(tap.C2S, strings.Repeat(`{"long":"`, 1)+strings.Repeat("x", 50_000)+`"}`, tap.LF),
	frame(tap.C2S, strings.Repeat("\x01é", 30_000), tap.LF),
	frame(tap.C2S, strings.Repeat("\xff", 50_001), tap.LF),
	frame(tap.C2S, `"last, without end"`, tap.NoEOL),
}

// carried puts frames of the shelf on HTTP, in every way that a carriage has.
func carried() []tap.Frame {
	id, noID := "1_2", ""
	web := []tap.Frame{
		frame(tap.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, tap.NoEOL),
		{Dir: tap.C2S, Body: []byte("{\n  \"id\": 1,\r\n  \"s\": \"é\\n\"\n}"), JSON: true, EOL: tap.LF},
		{Dir: tap.S2C, Body: []byte("\xff\n{}"), EOL: tap.NoEOL},
		frame(tap.S2C, `{"a":1}`, tap.NoEOL),
		frame(tap.S2C, `{"a":2}`, tap.NoEOL),
		frame(tap.S2C, "<p>no</p>", tap.NoEOL),
	}
	for i := range web {
		web[i].HTTP = &tap.Carriage{Exchange: uint32(i + 1)}
	}
	web[3].HTTP.Wire, web[3].SSE = 30, &tap.SSE{Event: "message", ID: &id, Retry: "3000", Comments: 2}
	web[4].SSE = &tap.SSE{ID: &noID, Event: `br{ace} "quote" \n`}
	web[5].HTTP.Encoding, web[5].HTTP.Masked = "gzip, br", true
	return web
}

func TestWhatGoesInComesOut(t *testing.T) {
	for _, batch := range []int{1, 3, len(shelf)} {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			var d disk
			w, warnings, _ := writer(&d, nil)
			frames := append(carried(), shelf...)
			for i := 0; i < len(frames); i += batch {
				w.Record(frames[i:min(len(frames), i+batch)])
			}
			w.Event(tap.EventStdinEnd, "")
			w.End(tap.End{Exit: 143, Signal: "SIGTERM", Reason: "the host sent SIGTERM"})

			taptest.Check(t, d.Bytes())
			var got []tap.Frame
			for _, r := range taptest.Records(t, d.Bytes()) {
				if r.Frame != nil {
					got = append(got, *r.Frame)
				}
			}
			if diff := cmp.Diff(frames, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if len(*warnings) > 0 {
				t.Errorf("warnings: %q", *warnings)
			}
		})
	}
}

func TestExchangesComeBack(t *testing.T) {
	empty := ""
	moments := []tap.Exchange{
		{Exchange: 7, Phase: tap.PhaseRequest, Method: "POST", Target: "/mcp?x=1", Proto: "HTTP/1.1", Client: "127.0.0.1:5000", Headers: [][2]string{{"Accept", "*/*"}}, Bytes: 40},
		{Exchange: 7, Phase: tap.PhaseResponse, Status: 200, Headers: [][2]string{{"X-A", "\xff\n"}}},
		{Exchange: 7, Phase: tap.PhaseEvent, SSE: &tap.SSE{ID: &empty, Comments: 1}, Wire: 12, Data: "/sse"},
		{Exchange: 7, Phase: tap.PhaseEnd, By: tap.EndBroken, Error: "unexpected EOF", Up: 1, Down: 2, Rewrites: []tap.Rewrite{{What: "resource", From: "a", To: "b"}}},
	}
	var d disk
	w, _, _ := writer(&d, nil)
	w.RecordHTTP(&moments[0], nil, &moments[1])
	w.RecordHTTP(nil, nil, &moments[2])
	w.RecordHTTP(&moments[3], nil, nil)
	w.End(tap.End{})
	if w.RecordHTTP(&moments[0], nil, nil) {
		t.Error("recorded after the end")
	}
	taptest.Check(t, d.Bytes())
	moments[1].Headers[0][1] = "\uFFFD\n"
	var got []tap.Exchange
	for i, r := range taptest.Records(t, d.Bytes()) {
		if r.HTTP != nil { // and RecordHTTP has told us the same
			if r.HTTP.N != uint64(i) {
				t.Errorf("moment %d has number %d", i, r.HTTP.N)
			}
			got = append(got, *r.HTTP)
		}
	}
	if diff := cmp.Diff(moments, got); diff != "" {
		t.Error(diff)
	}
}

func TestMessagesAreVerbatimForOtherReadersToo(t *testing.T) {
	var d disk
	w, _, _ := writer(&d, nil)
	w.Record([]tap.Frame{frame(tap.C2S, `{"n":1e400,"n":{"x":"é\u00e9"}}`, tap.LF)})
	lines := bytes.Split(d.Bytes(), []byte("\n"))
	want := `{"n":1,"t":2000,"dir":"c2s","msg":{"n":1e400,"n":{"x":"é\u00e9"}}}`
	if got := string(lines[1]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	var d disk
	writer(&d, nil)
	want := header
	want.Version = tap.Version
	if diff := cmp.Diff(&want, taptest.Records(t, d.Bytes())[0].Header); diff != "" {
		t.Error(diff)
	}
}

func TestNothingIsRecordedAfterTheEnd(t *testing.T) {
	var d disk
	w, _, _ := writer(&d, nil)
	w.End(tap.End{})
	before := d.Len()
	if w.Record([]tap.Frame{shelf[0]}) {
		t.Error("Record reports true after End")
	}
	w.Event(tap.EventSignal, "SIGTERM")
	w.End(tap.End{})
	if d.Len() != before {
		t.Errorf("%q was written after the end", d.Bytes()[before:])
	}
}

func TestFullDisk(t *testing.T) {
	for _, noTruncate := range []bool{false, true} {
		t.Run(fmt.Sprintf("noTruncate=%v", noTruncate), func(t *testing.T) {
			d := disk{noTruncate: noTruncate}
			w, warnings, _ := writer(&d, nil)
			w.Record([]tap.Frame{shelf[0]})
			d.size = d.Len() + 20
			w.Record([]tap.Frame{shelf[1], shelf[3]})
			w.Record([]tap.Frame{shelf[0]})
			w.Event(tap.EventSignal, "SIGHUP")
			d.size = 0
			w.Record([]tap.Frame{shelf[4]})
			end := w.End(tap.End{})

			if end.Frames != 2 || end.Lost != 3 {
				t.Errorf("end: %d frames, %d lost; want 2 and 3", end.Frames, end.Lost)
			}
			if len(*warnings) != 1 || !strings.Contains((*warnings)[0], "no space") {
				t.Errorf("warnings: %q", *warnings)
			}
			checkLoss(t, d.Bytes(), noTruncate)
		})
	}
}

// checkLoss expects frame, loss, frame, end; and before the loss the torn line
// that could not be taken out again.
func checkLoss(t *testing.T, journal []byte, torn bool) {
	t.Helper()
	if !torn {
		taptest.Check(t, journal)
	}
	r, kinds := tap.NewReader(bytes.NewReader(journal)), ""
	for {
		rec, err := r.Next()
		if err != nil {
			break
		}
		switch {
		case rec.Bad != nil:
			kinds += "bad "
		case rec.Frame != nil:
			kinds += "frame "
		case rec.Lost != nil:
			kinds += fmt.Sprintf("lost:%d,%d ", rec.Lost.Frames, rec.Lost.Bytes)
		case rec.End != nil:
			kinds += "end"
		}
		if rec.Missing > 0 {
			t.Errorf("line %d: %d numbers missing", rec.Line, rec.Missing)
		}
	}
	bytesLost := shelf[1].Len() + shelf[3].Len() + shelf[0].Len()
	want := fmt.Sprintf("frame lost:3,%d frame end", bytesLost)
	if torn {
		want = fmt.Sprintf("frame bad lost:3,%d frame end", bytesLost)
	}
	if kinds != want {
		t.Errorf("got  %s\nwant %s", kinds, want)
	}
}

func TestJournalThatOpensLate(t *testing.T) {
	var d disk
	now, tries := time.Duration(0), 0
	w, warnings, _ := writer(&d, func(o *tap.WriterOptions) {
		o.Since = func() time.Duration { return now }
		o.Open = func() (tap.File, error) {
			if tries++; tries < 3 {
				return nil, errors.New("read-only file system")
			}
			return &d, nil
		}
	})
	for now = 100 * time.Millisecond; now < 3*time.Second; now += 100 * time.Millisecond {
		if !w.Record([]tap.Frame{shelf[0]}) {
			t.Fatal("a frame was refused")
		}
	}
	end := w.End(tap.End{})
	taptest.Check(t, d.Bytes())
	if end.Frames+end.Lost != 29 || end.Lost != 19 {
		t.Errorf("%d frames and %d lost, want 10 and 19", end.Frames, end.Lost)
	}
	if tries != 3 || len(*warnings) != 1 {
		t.Errorf("opened %d times, warnings %q", tries, *warnings)
	}
}

func TestSessionLimit(t *testing.T) {
	var d disk
	w, warnings, _ := writer(&d, func(o *tap.WriterOptions) { o.MaxBytes = 1000 })
	long := frame(tap.S2C, `"`+strings.Repeat("x", 200)+`"`, tap.LF)
	for range 10 {
		w.Record([]tap.Frame{shelf[0], long})
	}
	w.End(tap.End{})
	taptest.Check(t, d.Bytes())
	if len(*warnings) != 1 {
		t.Errorf("warnings: %q", *warnings)
	}
	kept, capped := 0, 0
	for _, r := range taptest.Records(t, d.Bytes()) {
		switch {
		case r.Event != nil && r.Event.Name == tap.EventCapped:
			capped++
		case r.Frame != nil && r.Frame.Digest == nil:
			kept++
			if capped > 0 && len(r.Frame.Body) > 160 {
				t.Errorf("line %d has its bytes, after the limit", r.Line)
			}
		case r.Frame != nil && r.Frame.Digest.Bytes != int64(len(long.Body)):
			t.Errorf("line %d: %d bytes", r.Line, r.Frame.Digest.Bytes)
		}
	}
	if capped != 1 || kept < 12 {
		t.Errorf("%d frames kept, then said %d times that no more are", kept, capped)
	}
}

// TestSessionLimitOnAFullDisk has the record of the limit in a batch that fails: it
// is still owed then.
func TestSessionLimitOnAFullDisk(t *testing.T) {
	var d disk
	w, _, _ := writer(&d, func(o *tap.WriterOptions) { o.MaxBytes = 300 })
	long := frame(tap.S2C, `"`+strings.Repeat("x", 500)+`"`, tap.LF)
	d.size = d.Len() + 10
	w.Record([]tap.Frame{long})
	d.size = 0
	w.Record([]tap.Frame{long, long})
	w.End(tap.End{})
	taptest.Check(t, d.Bytes())
	said := 0
	for _, r := range taptest.Records(t, d.Bytes()) {
		if r.Event != nil && r.Event.Name == tap.EventCapped {
			said++
		}
	}
	if said != 1 {
		t.Errorf("the limit is recorded %d times", said)
	}
}

func TestSpill(t *testing.T) {
	body := strings.Repeat("0123456789abcdé\xff", 1<<10)
	for name, c := range map[string]struct {
		change func(*tap.WriterOptions)
		file   string
		reason string
	}{
		"side file":    {nil, "s2c-1.bin", ""},
		"no side file": {func(o *tap.WriterOptions) { o.Side = nil }, "", "no place for a side file"},
		"not created": {func(o *tap.WriterOptions) {
			o.Side = func(string) (tap.File, error) { return nil, errFull }
		}, "", errFull.Error()},
		"disk fills up": {func(o *tap.WriterOptions) {
			o.Side = func(string) (tap.File, error) { return &disk{size: 5000}, nil }
		}, "", errFull.Error()},
		"limit": {func(o *tap.WriterOptions) { o.MaxBytes = 1000 }, "", "the session reached its size limit"},
	} {
		t.Run(name, func(t *testing.T) {
			var d disk
			w, _, side := writer(&d, c.change)
			s := w.Spill(tap.S2C)
			for piece := range slices(body, 1000) {
				s.Add([]byte(piece))
			}
			got := s.Digest()
			w.Record([]tap.Frame{{Dir: tap.S2C, Digest: got}})
			taptest.Check(t, d.Bytes())
			if got.File != c.file || got.Reason != c.reason || got.Bytes != int64(len(body)) {
				t.Errorf("%+v", got)
			}
			if c.file != "" && side[c.file].String() != body {
				t.Error("the side file does not hold the body")
			}
			if !strings.HasPrefix(got.Head, "0123456789abcdé\uFFFD0123") || !strings.HasSuffix(got.Tail, "0123456789abcdé\uFFFD") {
				t.Errorf("head %.40q, tail %.40q", got.Head, got.Tail)
			}
			all := taptest.Records(t, d.Bytes())
			if diff := cmp.Diff(got, all[len(all)-1].Frame.Digest); diff != "" {
				t.Error(diff)
			}
			if said := len(all) == 3 && all[1].Event.Name == tap.EventCapped; said != (name == "limit") {
				t.Errorf("the limit is recorded: %v", said)
			}
		})
	}
}

func slices(s string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for ; len(s) > n; s = s[n:] {
			if !yield(s[:n]) {
				return
			}
		}
		yield(s)
	}
}

func TestSideName(t *testing.T) {
	for name, want := range map[string]bool{
		"s2c-1.bin": true, "c2s-12.bin": true, "stderr-3.bin": true,
		"": false, "s2c-0.bin": false, "../s2c-1.bin": false, "s2c-1.bin/x": false, "x-1.bin": false, "s2c-1.bin\n": false, "s2c-9999999999.bin": false,
	} {
		if got := tap.SideName(name); got != want {
			t.Errorf("SideName(%q) = %v", name, got)
		}
	}
}

func TestReaderPassesOverWhatIsNoRecord(t *testing.T) {
	good := `{"n":1,"t":5,"dir":"c2s","msg":{"a":1}}`
	for name, c := range map[string]struct{ lines, want string }{
		"torn, then on":     {`{"n":1,"t":5,"dir":"c2s","msg":{"a` + "\n" + `{"n":2,"t":5,"dir":"c2s","msg":{}}`, "bad+frame2(1)"},
		"glued":             {good + good, "bad"},
		"glued to a torn":   {`{"n":1,"t":5,"dir":"c2s","msg":{"a` + good, "bad"},
		"padded":            {"\x00\x00\x00" + good, "bad"},
		"foreign":           {`{"level":"info"}`, "bad"},
		"prose":             {"hello", "bad"},
		"empty line":        {"\n" + good, "bad+frame1(0)"},
		"array":             {"[1]", "bad"},
		"no body":           {`{"n":1,"t":5,"dir":"c2s"}`, "bad"},
		"bad direction":     {`{"n":1,"t":5,"dir":"up","msg":1}`, "bad"},
		"bad end of line":   {`{"n":1,"t":5,"dir":"c2s","eol":"x","msg":1}`, "bad"},
		"negative time":     {`{"n":1,"t":-5,"dir":"c2s","msg":1}`, "bad"},
		"number too large":  {`{"n":99999999999999999999,"t":5,"dir":"c2s","msg":1}`, "bad"},
		"n is zero":         {`{"n":0,"t":5,"dir":"c2s","msg":1}`, "bad"},
		"bad base64":        {`{"n":1,"t":5,"dir":"c2s","b64":"???"}`, "bad"},
		"unknown kind":      {`{"n":1,"t":5,"future":{}}`, "bad"},
		"newer format":      {`{"mcptap":2,"session":"x"}`, "bad"},
		"a gap":             {good + "\n" + `{"n":4,"t":5,"dir":"c2s","msg":{}}`, "frame1(0)+frame4(2)"},
		"another layout":    {`{ "dir" : "s2c", "msg" : { "a" : 1 } , "t" : 7, "n" : 1 }`, "frame1(0)"},
		"escaped text":      {`{"n":1,"t":5,"dir":"stderr","text":"a\u001bb"}`, "frame1(0)"},
		"binary":            {`{"n":1,"t":5,"dir":"s2c","b64":"/w=="}`, "frame1(0)"},
		"unfinished at end": {good + "\n" + `{"n":2,"t"`, "frame1(0)+unfinished"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(name, "unfinished") {
				c.lines += "\n"
			}
			if got := outline(c.lines); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func outline(journal string) string {
	var parts []string
	r := tap.NewReader(strings.NewReader(journal))
	for {
		rec, err := r.Next()
		if err != nil {
			break
		}
		if rec.Bad != nil {
			parts = append(parts, "bad")
		} else if rec.Frame != nil {
			parts = append(parts, fmt.Sprintf("frame%d(%d)", rec.Frame.N, rec.Missing))
		}
	}
	if _, ok := r.Unfinished(); ok {
		parts = append(parts, "unfinished")
	}
	return strings.Join(parts, "+")
}

func TestReaderGoesOnWhenTheFileGrows(t *testing.T) {
	line := `{"n":1,"t":5,"dir":"c2s","msg":{"a":1}}` + "\n"
	var file bytes.Buffer
	r := tap.NewReader(&file)
	for i := range len(line) {
		if rec, err := r.Next(); err == nil {
			t.Fatalf("a record after %d bytes: %+v", i, rec)
		}
		file.WriteByte(line[i])
	}
	rec, err := r.Next()
	if err != nil || rec.Frame == nil || string(rec.Frame.Body) != `{"a":1}` || rec.Offset != 0 || rec.Size != int64(len(line)) {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestReaderIsBoundedByNoLine(t *testing.T) {
	long := strings.Repeat("x", 100<<20) + "\n" + `{"n":1,"t":5,"dir":"c2s","msg":{}}` + "\n"
	if got := outline(long); got != "bad+frame1(0)" {
		t.Error(got)
	}
}

func FuzzReader(f *testing.F) {
	var d disk
	w, _, _ := writer(&d, nil)
	w.Record(append([]tap.Frame(nil), shelf[:9]...))
	w.End(tap.End{})
	f.Add(d.Bytes())
	f.Add([]byte("\x00\x00{\"n\":1"))
	f.Add([]byte(`{"n":1,"t":5,"dir":"c2s","file":"../../etc/passwd","bytes":5,"sha256":"x"}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, offset, lines := tap.NewReader(bytes.NewReader(b)), int64(0), 0
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			lines++
			if rec.Offset != offset || rec.Line != lines {
				t.Fatalf("line %d at %d, want line %d at %d", rec.Line, rec.Offset, lines, offset)
			}
			offset += rec.Size
		}
		if rec, ok := r.Unfinished(); ok {
			offset += rec.Size
		}
		if offset != int64(len(b)) || lines != bytes.Count(b, []byte("\n")) {
			t.Fatalf("read %d of %d bytes, %d lines", offset, len(b), lines)
		}
	})
}

func FuzzWriter(f *testing.F) {
	f.Add([]byte(`{"a":1}`), uint8(0), true)
	f.Add([]byte("\xff\x00"), uint8(2), false)
	f.Fuzz(func(t *testing.T, body []byte, eol uint8, twice bool) {
		if bytes.ContainsRune(body, '\n') {
			return
		}
		var d disk
		w, _, _ := writer(&d, nil)
		frames := []tap.Frame{frame(tap.S2C, string(body), tap.EOL(eol%3))}
		if twice {
			frames = append(frames, frames[0])
		}
		w.Record(frames)
		taptest.Check(t, d.Bytes())
		want := bytes.Repeat([]byte(string(body)+frames[0].EOL.String()), len(frames))
		if got := taptest.Raw(t, d.Bytes(), tap.S2C); !bytes.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
