package ui

import (
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/dustin/go-humanize"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/safetext"
	"github.com/mcptap/mcptap/ui/theme"
	"github.com/mcptap/mcptap/ui/vlist"
)

// moveList performs the actions that move a cursor.
func moveList(l *vlist.List, id string) bool {
	switch id {
	case "up":
		l.Move(-1)
	case "down":
		l.Move(1)
	case "page-up":
		l.Page(-1)
	case "page-down":
		l.Page(1)
	case "first":
		l.Go(0)
	case "last":
		l.Go(l.Len() - 1)
	default:
		return false
	}
	return true
}

// wheelRows is how far a notch of the wheel goes.
const wheelRows = 3

func wheel(l *vlist.List, m tea.MouseMsg) bool {
	switch m.Button {
	case tea.MouseButtonWheelUp:
		l.Scroll(-wheelRows)
	case tea.MouseButtonWheelDown:
		l.Scroll(wheelRows)
	default:
		return false
	}
	return true
}

func pressed(m tea.MouseMsg) bool {
	return m.Action == tea.MouseActionPress && m.Button == tea.MouseButtonLeft
}

// titleLine is the first line of a screen.
func titleLine(th *theme.Theme, w int, title, rest string) string {
	return draw.NewLine(w, "").Gap(1).Raw(th.Title, title).Gap(2).Text(th.Dim, rest).String()
}

// rule is a line between panes, with titles in it.
func rule(th *theme.Theme, w int, title draw.Style, name, rest string) string {
	l := draw.NewLine(w, "").Raw(th.Line, "─ ").Raw(title, name)
	if rest != "" && l.Left() > 4 {
		l.Gap(1).Raw(th.Dim, draw.Safe(rest, l.Left()-2))
	}
	l.Gap(1)
	return l.Raw(th.Line, strings.Repeat("─", l.Left())).String()
}

// outcomeSign is how an outcome looks in a row.
type outcomeSign struct {
	outcome decode.Outcome
	sign    string
	short   string // for a count in a list of sessions
	row     string // in a row of calls
	word    string
	help    string
}

// outcomeSigns are all of them: a sign, and a word that says the same.
var outcomeSigns = []outcomeSign{
	{decode.OK, "✓", "", "", "ok", "it was answered"},
	{decode.ToolError, "✗", "tool", "tool", "tool error", "the tool says it failed; the model reads why"},
	{decode.ProtocolError, "✗", "proto", "protocol", "protocol error", "a JSON-RPC error; the model may never hear of it"},
	{decode.TransportError, "✗", "trans", "transport", "transport error", "the connection or the server ended first"},
	{decode.HiddenError, "?", "hidden", "hidden", "hidden error", "reads as a success, but what it says looks like a failure"},
	{decode.Unauthorized, "-", "login", "login", "unauthorized", "HTTP 401: the client has to log in first"},
	{decode.RefusedProbe, "-", "probe", "probe", "refused probe", "a server of the handshake's era refused to be probed: no failure"},
	{decode.InputRequired, "↻", "input", "input", "input required", "the server wants something from the client first"},
	{decode.Cancelled, "-", "cancel", "cancelled", "cancelled", "cancelled before it was answered"},
	{decode.Open, "…", "open", "open", "open", "not answered yet, or never"},
}

func signOf(o decode.Outcome) outcomeSign {
	for _, s := range outcomeSigns {
		if s.outcome == o {
			return s
		}
	}
	return outcomeSign{sign: " "}
}

func outcomeStyle(th *theme.Theme, o decode.Outcome) draw.Style {
	switch o {
	case decode.OK:
		return th.Faint
	case decode.ToolError, decode.ProtocolError, decode.TransportError:
		return th.Bad
	case decode.HiddenError, decode.InputRequired:
		return th.Warn
	}
	return th.Dim
}

// size is a number of bytes in at most six cells.
func size(n int64) string {
	switch {
	case n < 10000:
		return strconv.FormatInt(n, 10)
	case n < 1000000:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + "k"
	case n < 1000000000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
	}
	return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + "G"
}

// millis is a duration in milliseconds, in at most seven cells; longer ones are in
// seconds, and say so. Of a recording whose clock jumped back there is no telling.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 0:
		return "<0"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 2, 64)
	case ms < 10000:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	case ms < 1e6:
		return strconv.FormatFloat(ms/1e3, 'f', 1, 64) + "s"
	}
	return strconv.FormatFloat(ms/60e3, 'f', 0, 64) + "m"
}

func itoa(n int) string { return strconv.Itoa(n) }

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

// wrapText breaks a text from the outside into lines of at most w cells, between words,
// and a word that is longer than a line within itself.
func wrapText(s string, w int) []string { return wrapSafe(safetext.Line(s), w) }
