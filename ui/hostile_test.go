package ui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/sessions"
)

// evil is text that drives terminals or hides what it is.
const evil = "\x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[31m\u009b31m\u202egpj.exe\u200b\u2066\U000e0041\U000e0042\r\n\x00\x7f\xff"

// hostileStore has one session of a server that wants to hurt its reader.
func hostileStore(t testing.TB) sessions.Store {
	store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
	if err := os.Mkdir(store.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	e := quoted(strings.ToValidUTF8(evil, ""))
	raw := `"` + "\u009b31m\u202egpj\u200b\u2066\U000e0041" + `"` // not escaped: JSON allows it
	name := quoted(strings.Repeat("tool漢👩\u200d💻", 500))
	deep := strings.Repeat(`{"a":[`, 5000) + strings.Repeat("]}", 5000)
	lines := []string{fmt.Sprintf(`{"mcptap":1,"session":%s,"start":"2026-11-30T13:00:00Z","transport":%s,"command":[%s,%s],"cwd":%s,"host":{"pid":1,"name":%s},"label":%s}`, e, e, e, raw, e, e, e)}
	n := 0
	frame := func(time int, dir, rest string) {
		n++
		lines = append(lines, fmt.Sprintf(`{"n":%d,"t":%d,"dir":%q,%s}`, n, time, dir, rest))
	}
	message := func(time int, dir, body string) { frame(time, dir, `"msg":`+body) }
	message(1000, "c2s", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%s,"capabilities":{%s:{%s:%s}},"clientInfo":{"name":%s,"version":%s}}}`, e, e, raw, e, e, raw))
	message(2000, "s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{%s:{}},"serverInfo":{"name":%s,"version":%s,"title":%s}}}`, raw, raw, e, e))
	message(1000000000, "c2s", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%s,"arguments":{%s:%s}}}`, e, name, e, raw))
	message(500, "s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"isError":true,"content":[{"type":"text","text":%s},{"type":"text","text":%s}]}}`, e, e, raw))
	message(600, "c2s", fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%s}`, e))
	message(700, "s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":%s,"data":%s}}`, e, deep))
	message(9000000000000000000, "s2c", fmt.Sprintf(`{"jsonrpc":"2.0","method":%s,"params":{"text":%s}}`, raw, quoted(strings.Repeat("long ", 400000))))
	frame(800, "s2c", `"text":`+e)
	frame(900, "stderr", `"text":`+e)
	frame(950, "s2c", `"b64":"G11vdGhlcgf/G1sySg=="`)
	if err := os.WriteFile(store.Path("20261130T130000Z-evil-0001"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return store
}

var ours = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b\\[K\x1b\\[[0-9]+G")

// harmless fails if a picture has anything but text and our own styles.
func harmless(t *testing.T, where, s string) {
	t.Helper()
	s = ours.ReplaceAllString(s, "")
	for _, r := range s {
		if r != '\n' && unicode.IsControl(r) || r != '\u200d' && unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) {
			t.Fatalf("%s: %U is on the screen:\n%q", where, r, s)
		}
	}
}

// TestHostile walks through every screen of a hostile session, in both sizes, and
// copies all there is.
func TestHostile(t *testing.T) {
	store := hostileStore(t)
	for _, size := range [][2]int{{40, 10}, {120, 40}} {
		d := drive(t, store, colorprofile.TrueColor, size[0], size[1])
		look := func(where string) {
			t.Helper()
			harmless(t, where, d.screen())
			harmless(t, "a copy of "+where, strings.ReplaceAll(d.copied, "\t", " "))
		}
		look("the list")
		d.keys("D")
		look("the dialog")
		d.keys("n", "/", "+evil")
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(evil), Paste: true})
		look("the filter")
		d.keys("esc", "enter")
		for row := range 14 {
			look(fmt.Sprint("row ", row))
			d.keys("y", "v")
			look(fmt.Sprint("the text of row ", row))
			d.keys("v")
			look(fmt.Sprint("the bytes of row ", row))
			d.keys("v", "tab", "E", "end")
			look(fmt.Sprint("the end of row ", row))
			for _, key := range []string{"f", "v", "p", "b", "r", "s"} {
				d.keys("c", key)
				look(fmt.Sprint("copy ", key, " of row ", row))
			}
			d.keys("y", "Y", "home", "/", "ctrl+u", "+link", "enter")
			look(fmt.Sprint("the search in row ", row))
			d.keys("tab", "right", "f", "f", "down")
		}
		for _, key := range []string{"i", "t", "p", "r", "d", "?"} {
			d.keys(key, "down*3")
			look("screen " + key)
			d.keys("z", "pgdown")
			look("screen " + key + " in full")
			d.keys("z", "R", "esc")
		}
		d.keys("d", "enter")
		for row := range 20 {
			look(fmt.Sprint("row ", row, " of a comparison"))
			d.keys("down")
		}
		d.keys("esc", "S", "+evil")
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(evil), Paste: true})
		look("a search for a tool")
		d.keys("enter", "esc", "/", "+evil", "enter", "w", "enter", "w", "enter")
		look("saving")
		d.keys("esc", "esc", "space")
		d.tick()
		look("playing")
	}
}

// FuzzScreens draws a session with a frame of any bytes, under any name, at any size.
func FuzzScreens(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"\u001b[2J"}}}`), evil, uint8(80), uint8(24), "etrrfs")
	f.Add([]byte("\x1b[2Jnot json\xff\u202e"), "漢👩\u200d💻", uint8(40), uint8(10), "fjfke")
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},1,null]`), "", uint8(200), uint8(60), "mx")
	f.Fuzz(func(t *testing.T, body []byte, name string, w, h uint8, keys string) {
		store := sessions.Store{Dir: filepath.Join(t.TempDir(), "store")}
		if err := os.Mkdir(store.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		label, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(body) // as base64
		if err != nil {
			t.Fatal(err)
		}
		frame := fmt.Sprintf(`{"n":1,"t":5,"dir":"c2s","b64":%s}`, text)
		if json.Valid(body) && len(body) > 0 && !strings.ContainsAny(string(body), "\r\n") {
			frame = fmt.Sprintf(`{"n":1,"t":5,"dir":"c2s","msg":%s}`, body)
		}
		journal := fmt.Sprintf("{\"mcptap\":1,\"session\":%s,\"start\":\"2026-11-30T13:00:00Z\",\"transport\":\"stdio\",\"label\":%s}\n%s\n{\"n\":2,\"t\":3,\"dir\":\"s2c\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":%s}}}\n", label, label, frame, label)
		if err := os.WriteFile(store.Path("20261130T130000Z-fuzz-0001"), []byte(journal), 0o600); err != nil {
			t.Fatal(err)
		}
		d := drive(t, store, colorprofile.TrueColor, max(leastWidth, int(w)), max(leastHeight, int(h)))
		harmless(t, "the list", d.screen())
		d.keys("enter")
		harmless(t, "the session", d.screen())
		for _, r := range keys[:min(len(keys), 8)] {
			if strings.ContainsRune("jktfrsezxm[]ip?+-EChlvdSOocybHR", r) {
				d.keys(string(r))
				harmless(t, "after "+string(r), d.screen())
			}
		}
	})
}
