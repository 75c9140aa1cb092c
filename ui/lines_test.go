package ui

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/sessions"
)

const linesID = "20261130T120000Z-lines-0001"

// linesStore has a session in which a tool gives a text of so many lines.
func linesStore(t testing.TB, answer, line string, n int) sessions.Store {
	t.Helper()
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	if err := os.Mkdir(store.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	escaped := gjson.AppendJSONString(nil, line)
	text := bytes.Repeat(escaped[1:len(escaped)-1], n)
	frames := []string{
		`"dir":"c2s","msg":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`"dir":"s2c","msg":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`,
		`"dir":"c2s","msg":{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{"a":1}}}`,
		`"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,` + strings.Replace(answer, "TEXT", `"`+string(text)+`the last line"`, 1) + `}`,
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"mcptap":1,"session":%q,"start":"2026-11-30T12:00:00Z","transport":"stdio","command":["s"],"label":"lines"}`+"\n", linesID)
	for i, f := range frames {
		fmt.Fprintf(&b, `{"n":%d,"t":%d,%s}`+"\n", i+1, (i+1)*1000000, f)
	}
	fmt.Fprintf(&b, `{"n":6,"t":6000000,"end":{"exit":0,"reason":"x","frames":5,"lost":0}}`+"\n")
	if err := os.WriteFile(store.Path(linesID), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return store
}

// A stage runs the program as bubbletea does: commands at the same time as it takes
// keys, and a picture after each message.
type stage struct {
	t     testing.TB
	app   *app
	msgs  chan tea.Msg
	out   int // commands that run
	worst time.Duration
}

func newStage(t testing.TB, store sessions.Store) *stage {
	t.Helper()
	s := &stage{t: t, msgs: make(chan tea.Msg, 1000)}
	s.app = newApp(Options{Store: store, Open: store.Path(linesID), Zone: time.UTC, Dir: t.TempDir(), Now: time.Now}, colorprofile.TrueColor, true)
	s.app.env.tick = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	s.start(s.app.Init())
	s.take(tea.WindowSizeMsg{Width: 160, Height: 50})
	return s
}

func (s *stage) start(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	s.out++
	go func() { s.msgs <- cmd() }()
}

// take gives the program a message, and says how long it took to the next picture.
func (s *stage) take(msg tea.Msg) time.Duration {
	begin := time.Now()
	_, cmd := s.app.Update(msg)
	s.app.View()
	took := time.Since(begin)
	s.worst = max(s.worst, took)
	s.start(cmd)
	return took
}

// settle waits for all commands, and presses a key every few milliseconds meanwhile.
func (s *stage) settle() (all time.Duration) {
	begin := time.Now()
	keys := time.NewTicker(5 * time.Millisecond)
	defer keys.Stop()
	for s.out > 0 {
		select {
		case <-keys.C:
			s.take(tea.KeyMsg{Type: tea.KeyF20})
		case msg := <-s.msgs:
			s.out--
			switch msg := msg.(type) {
			case nil:
			case tea.BatchMsg:
				for _, cmd := range msg {
					s.start(cmd)
				}
			default:
				s.take(msg)
			}
		}
	}
	return time.Since(begin)
}

// The shapes of answers that have a long text, and lines to fill it with.
const (
	answerText       = `"result":{"content":[{"type":"text","text":TEXT}]}`
	answerToolError  = `"result":{"isError":true,"content":[{"type":"text","text":TEXT}]}`
	answerError      = `"error":{"code":-32000,"message":TEXT}`
	answerStructured = `"result":{"content":[{"type":"text","text":"x"}],"structuredContent":{"error":TEXT}}`

	lineLatin = "line of text, ü\n"
)

// BenchmarkLines presses keys on a frame with a text of very many lines: how long a key
// takes to its picture at the worst, on the frame and while commands are at work, how long
// until the frame is there, and until the longest command of the keys has ended.
func BenchmarkLines(b *testing.B) {
	for _, c := range []struct {
		name, answer, line string
		lines              int
	}{
		{"20k", answerText, lineLatin, 20000},
		{"100k", answerText, lineLatin, 100000},
		{"1M5", answerText, lineLatin, 1500000},
		{"ascii", answerText, "line of text, u\n", 1500000},
		{"cjk", answerText, "漢字漢字漢字\n", 1000000},
		{"wrapped", answerText, "漢字漢字漢字\n", 45000},
		{"code", answerText, "\tfunc foo(int a, char *b) { return \"bar\"; }\n", 1000000},
		{"json", answerText, "{\"a\": [1, 2]}\n", 1000000},
		{"error", answerError, lineLatin, 1500000},
		{"tool-error", answerToolError, lineLatin, 1500000},
		{"structured", answerStructured, lineLatin, 1500000},
	} {
		b.Run(c.name, func(b *testing.B) {
			store := linesStore(b, c.answer, c.line, c.lines)
			for b.Loop() {
				pressKeys(b, newStage(b, store))
			}
		})
	}
}

func pressKeys(b *testing.B, s *stage) {
	report := func(d time.Duration, unit string) { b.ReportMetric(float64(d.Microseconds())/1000, unit) }
	s.settle()
	report(s.worst, "ms/reading-worst")
	s.worst = 0
	s.take(keyMsg(b, "G"))
	report(s.settle(), "ms/frame")
	report(s.worst, "ms/frame-worst")
	s.worst = 0
	var key, command time.Duration
	for _, k := range strings.Fields("tab j k j k l j k G g G z g E z G C g E x h tab f G f m k m j v k v j v s k j s G tab / n o w h enter n / ctrl+u l a s t enter n G z g z tab q") {
		key = max(key, s.take(keyMsg(b, k)))
		command = max(command, s.settle())
	}
	report(key, "ms/key")
	report(s.worst, "ms/key-busy")
	report(command, "ms/command")
}

// onLines is a session whose cursor is in a frame with a text of many lines, which is
// closed.
func onLines(t *testing.T, line string, n int) *driver {
	store := linesStore(t, answerText, line, n)
	d := driveOn(t, store, store.Path(linesID), colorprofile.NoTTY, 100, 30).keys("G", "tab", "G")
	return d
}

func (d *driver) frame() *framePane { return &d.app.top().(*session).frame }

// press gives a key, and holds back what it asks for.
func (d *driver) press(name string) tea.Cmd {
	_, cmd := d.app.Update(keyMsg(d.t, name))
	d.app.View()
	return cmd
}

// TestLines: a text of many lines opens in a command, while keys are taken; what is there
// by then is what one would have waited for.
func TestLines(t *testing.T) {
	const n = 400000
	d := onLines(t, lineLatin, n)
	closed := d.frame().rows()
	cmd := d.press("l")
	if got := d.frame().rows(); got != closed {
		t.Fatalf("%d rows, %d before: it was opened while the key waited", got, closed)
	}
	d.has("unfolding…")
	d.press("k")
	d.press("j")
	d.run(cmd)
	if got := d.frame().rows(); got != closed+n+1 {
		t.Fatalf("%d rows, want %d more than %d", got, n+1, closed)
	}
	d.has("text, 400001 lines", "│ line of text, ü")
	d.keys("G").has("│ the last line")
	cmd = d.press("/")
	d.run(cmd)
	for _, r := range "THE LAST" {
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	d.frame().list.Go(0)
	cmd = d.press("enter")
	if d.frame().list.Cursor() != 0 {
		t.Fatal("it was searched while the key waited")
	}
	d.has("searching…")
	d.run(cmd)
	if got := d.frame().list.Cursor(); got != closed+n {
		t.Errorf("found in row %d, want %d", got, closed+n)
	}
	d.keys("/", "ctrl+u", "+nowhere", "enter").has(`the frame has no "nowhere"`)
}

// TestLinesVoid: what a command made of a frame is dropped if the frame is another one or
// looks otherwise by then.
func TestLinesVoid(t *testing.T) {
	for name, keys := range map[string][]string{"folded": {"C"}, "another frame": {"tab", "k"}, "as text": {"v", "v", "v"}} {
		d := onLines(t, lineLatin, 20000)
		cmd := d.press("l")
		d.keys(keys...)
		rows := d.frame().rows()
		d.run(cmd)
		if got := d.frame().rows(); got != rows || d.frame().job != nil {
			t.Errorf("%s: %d rows, then %d", name, rows, got)
		}
	}
	d := onLines(t, lineLatin, 20000)
	cmd := d.press("l")
	if again := d.press("l"); again != nil && d.frame().job == nil {
		t.Error("the same key does it anew")
	}
	if d.keys("q"); !d.quit {
		t.Error("q waits")
	}
	d.run(cmd)
}

// TestLinesWrapped: an open text follows the width of its pane, in a command if it is long.
func TestLinesWrapped(t *testing.T) {
	d := onLines(t, strings.Repeat("漢字 ", 30)+"\n", 2000).keys("l")
	narrow := d.frame().rows()
	d.keys("z") // the pane has the whole screen
	d.send(tea.WindowSizeMsg{Width: 180, Height: 40})
	wide := d.frame().rows()
	if wide >= narrow {
		t.Fatalf("%d rows at 180 cells, %d at 100", wide, narrow)
	}
	_, cmd := d.app.Update(tea.WindowSizeMsg{Width: 100, Height: 40})
	d.app.View()
	if got := d.frame().rows(); got != wide {
		t.Errorf("%d rows, %d before: lines were broken while the picture waited", got, wide)
	}
	d.run(cmd)
	if got := d.frame().rows(); got != narrow {
		t.Errorf("%d rows at 100 cells again, %d before", got, narrow)
	}
}
