package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/draw"
)

// help is a text to read: the keys that work where it was asked for with the signs of
// that screen, or a topic. Its lines are broken to the width there is.
type help struct {
	env   *env
	title string
	rest  string
	short string // the rest, where it has no room
	rows  []helpRow
	lines []helpLine // of rows, at width
	width int
	page  pager
}

const helpTitle = "help"

// helpRow is a key with its name and what it does, a heading, or a line of text.
type helpRow struct{ key, name, text, head, plain string }

// helpLine is a helpRow, or as much of it as stands on one line.
type helpLine struct{ key, name, text, head string }

// placeNames say where help was asked for.
var placeNames = map[place]string{
	inSessions: "in the list of recordings", inCalls: "in the calls of a recording", inFrame: "in a frame", inSide: "in what the model reads",
	inReport: "in a report", inSearch: "in the search for a tool", inChoice: "in the choice of the other recording", inDiff: "in the comparison", inHelp: "in help", inFind: "in the search of all recordings",
}

func newHelp(e *env, at place) *help {
	h := &help{env: e, title: helpTitle, rest: "the keys that work here"}
	if name := placeNames[at]; name != "" {
		h.rest, h.short = h.rest+", "+name, "the keys "+name
	}
	group := ""
	for _, a := range Actions() {
		if a.where&at == 0 {
			continue
		}
		if a.Group != group {
			if group == groups[0] { // second, where a newcomer sees them
				h.signs(at)
			}
			if group != "" {
				h.rows = append(h.rows, helpRow{})
			}
			group = a.Group
			h.rows = append(h.rows, helpRow{head: group})
		}
		keys := a.Binding().Help()
		h.rows = append(h.rows, helpRow{key: keys.Key, name: a.Name, text: keys.Desc})
	}
	return h
}

// signs explains what stands in rows.
func (h *help) signs(at place) {
	signs := signsAt(at)
	if len(signs) > 0 {
		h.rows = append(append(h.rows, helpRow{}, helpRow{head: "Signs"}), signs...)
	}
}

// signsAt are the signs of a screen: each with its one meaning there.
func signsAt(at place) []helpRow {
	switch {
	case at&inSession != 0:
		return slices.Concat(sessionSigns[:1], outcomeHelp(), sessionSigns[1:])
	case at&inSessions != 0:
		return listSigns
	case at&inFind != 0:
		return slices.Concat(outcomeHelp(), findSigns)
	}
	return nil
}

// outcomeHelp tells of each sign of an outcome what it stands for: some for several.
func outcomeHelp() (rows []helpRow) {
	for i := range outcomeSigns {
		o := &outcomeSigns[i]
		at := slices.IndexFunc(rows, func(r helpRow) bool { return r.key == o.sign })
		if at < 0 {
			rows = append(rows, helpRow{key: o.sign, name: o.word, text: o.help})
			continue
		}
		if r := &rows[at]; r.name != manyOutcomes[o.sign] {
			r.name, r.text = manyOutcomes[o.sign], r.name+" ("+r.text+")"
		}
		rows[at].text += ", " + o.word + " (" + o.help + ")"
	}
	return rows
}

// manyOutcomes name the signs that stand for several outcomes.
var manyOutcomes = map[string]string{"✗": "failed", "-": "not done"}

// sessionSigns stand on the screen of a recording, beside those of outcomes.
var sessionSigns = []helpRow{
	{key: "→ ←", name: "who sent it", text: "→ from the client to the server, ← from the server to the client; · is no message"},
	{key: "≈", name: "listening", text: "a request that stays open for what the server has to tell"},
	{key: "!", name: "unasked", text: "an answer that nobody had asked for"},
	{key: "▸ ▾", name: "folded, unfolded", text: "there is more in the row: → shows it, ← hides it"},
	{key: "★", name: "mark", text: "you marked the frame, or wrote a note on it"},
	{key: "▌", name: "first", text: "what one should know before reading the frame"},
	{key: "╷", name: "turn", text: "why a turn of the model begins with this call"},
	{key: "dim", name: "never read", text: "the model never reads it; x shows all alike"},
	{key: "░", name: "not on this wire", text: "the host adds it to the request: nobody can know it from here"},
	{key: "+", name: "new", text: "it is in this request, and was not in the one before"},
	{key: "~", name: "estimated", text: "a number that was not counted"},
	{key: "━ ─", name: "time", text: "the line at the bottom: ━ before the cursor, ─ after it"},
	{key: "▁ █", name: "how much", text: "on the line of time: how many frames crossed then; ✗ is where a call failed"},
	{key: "● ◉", name: "here", text: "on the line of time: the cursor, ◉ where a call failed"},
}

// listSigns stand in the list of recordings.
var listSigns = []helpRow{
	{key: "●", name: "live", text: "it is being recorded"},
	{key: "!", name: "no end", text: "its tap was killed or the machine stopped; or the file is no recording, and the row says why"},
	{key: "★", name: "kept", text: "it is never removed to make room"},
	{key: "╭ │ ╰", name: "same run", text: "one process of a host started these"},
	{key: "▴ ▾", name: "order", text: "the list is ordered by this column, ▴ upwards or ▾ downwards; o or a click on another's name changes that"},
}

// findSigns stand among hits, beside those of outcomes.
var findSigns = []helpRow{
	{key: "« »", name: "found", text: "the text that was searched for"},
	{key: "★", name: "mark", text: "you marked the frame, or wrote a note on it"},
	{key: "!", name: "incomplete", text: "the recording has no end, or a part of it can't be read"},
}

// newTopic shows a topic of 'mcptap help'; its first line is its title.
func newTopic(e *env, text string) *help {
	title, text, _ := strings.Cut(strings.TrimSpace(text), "\n")
	h := &help{env: e, title: title}
	prose := false // the line before is part of a paragraph
	for line := range strings.SplitSeq(text, "\n") {
		is := line != "" && line[0] != ' '
		if is && prose {
			h.rows[len(h.rows)-1].plain += " " + line
		} else {
			h.rows = append(h.rows, helpRow{plain: line})
		}
		prose = is
	}
	return h
}

func (h *help) place() place { return inHelp }
func (h *help) close()       {}

func (h *help) update(tea.Msg) tea.Cmd { return nil }

func (h *help) do(id string) (tea.Cmd, bool) {
	return nil, h.page.do(id)
}

func (h *help) click(m tea.MouseMsg) tea.Cmd {
	h.page.wheel(m)
	return nil
}

// Columns of help: keys, names, and what they do. On a narrow screen what a key does
// stands below its name.
const (
	helpKeys   = 16
	helpNames  = 21
	helpNarrow = 76
)

// wrap breaks the rows at a width.
func (h *help) wrap(w int) {
	if w == h.width {
		return
	}
	h.width, h.lines = w, nil
	for _, r := range h.rows {
		switch {
		case r.key != "":
			h.wrapKey(r, w)
		case r.plain != "":
			h.wrapPlain(r.plain, w)
		default:
			h.lines = append(h.lines, helpLine{head: r.head})
		}
	}
}

func (h *help) wrapKey(r helpRow, w int) {
	keys, names, texts := wrapText(r.key, helpKeys), wrapText(r.name, helpNames), wrapText(r.text, w-helpKeys-helpNames-5)
	if w < helpNarrow {
		names, texts = wrapText(r.name, w-helpKeys-4), wrapText(r.text, w-helpKeys-4)
		texts = append(make([]string, len(names)), texts...) // below the name
	}
	at := func(lines []string, i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return ""
	}
	for i := range max(len(keys), len(names), len(texts)) {
		h.lines = append(h.lines, helpLine{key: at(keys, i), name: at(names, i), text: at(texts, i)})
	}
}

// wrapPlain breaks a line of a topic; what comes below is indented like its text, or, of
// a line in two columns, like the second.
func (h *help) wrapPlain(s string, w int) {
	indent := len(s) - len(strings.TrimLeft(s, " "))
	if draw.Width(s) <= w-4 {
		h.lines = append(h.lines, helpLine{text: s})
		return
	}
	lead := strings.Repeat(" ", indent)
	if at := strings.LastIndex(s, "  "); at > indent && at+2 < w*2/3 {
		lead = s[:at+2]
	}
	for i, part := range wrapText(s[len(lead):], w-4-draw.Width(lead)) {
		if i == 1 {
			lead = strings.Repeat(" ", draw.Width(lead))
		}
		h.lines = append(h.lines, helpLine{text: lead + part})
	}
}

func (h *help) view(w, height int) []string {
	th := h.env.th
	h.wrap(w)
	const head = 2
	h.page.fit(len(h.lines), height-head)
	rest, end := h.rest, h.page.words()
	if h.short != "" && draw.Width(h.title+rest+end)+6 > w {
		rest = h.short
	}
	lines := []string{titleEnd(th, w, h.title, rest, end), draw.Blank(w)}
	for _, l := range h.lines[h.page.top:h.page.to()] {
		lines = append(lines, h.draw(l, w))
	}
	return lines
}

func (h *help) draw(r helpLine, w int) string {
	th := h.env.th
	l := draw.NewLine(w, "").Gap(2)
	switch {
	case r.head != "":
		return l.Raw(th.Strong, r.head).String()
	case r.key == "" && r.name == "" && h.title != helpTitle:
		return l.Raw("", draw.Safe(r.text, l.Left())).String()
	case w < helpNarrow:
		return l.Raw(th.Accent, draw.Cell(r.key, helpKeys, false)).Gap(1).Raw("", r.name).Raw(th.Dim, r.text).String()
	}
	return l.Raw(th.Accent, draw.Cell(r.key, helpKeys, false)).Gap(1).Raw("", draw.Cell(r.name, helpNames, false)).Gap(1).Raw(th.Dim, r.text).String()
}
