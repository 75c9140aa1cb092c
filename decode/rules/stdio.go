package rules

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, stdioRules) }

// stdioRules are those of the stdio transport. That a client listens again after
// its server was started anew (STDIO-09) shows in two sessions only.
var stdioRules = []Rule{
	{ID: "STDIO-01", Severity: Error, Side: Server, Span: All, Page: "basic/transports",
		Title: "a server writes nothing but messages to its standard output",
		Words: "$1 on standard output", check: noiseOn(tap.S2C)},
	{ID: "STDIO-02", Severity: Error, Side: Client, Span: All, Page: "basic/transports",
		Title: "a client writes nothing but messages to the server's standard input",
		Words: "$1 on standard input", check: noiseOn(tap.C2S)},
	{ID: "STDIO-03", Severity: Error, Side: Either, Span: All, Page: "basic/transports",
		Title: "one message stands on one line",
		Words: "$1", check: checkOneLine},
	{ID: "STDIO-04", Severity: Warning, Side: Either, Span: All, Page: "basic/transports",
		Title: `a line ends with \n, and begins without a byte order mark`,
		Words: "a line with $1", check: checkLineForm},
	{ID: "STDIO-05", Severity: Warning, Side: Either, Span: All, Page: "basic/transports",
		Title: "the last line has its end: some readers drop it without",
		Words: "the last line has no end", check: checkLastLine},
	{ID: "STDIO-06", Severity: Warning, Side: Server, Span: All, Page: "basic/transports",
		Title: "a server ends within two seconds when its standard input is closed: clients kill it then",
		Words: "the server was still there $1 after its input was closed", check: checkSlowExit},
	{ID: "STDIO-07", Severity: Info, Side: Server, Span: All, Page: "basic/transports",
		Title: "a server does not end by itself while requests are open, nor by a signal",
		Words: "the server ended by itself ($1)", check: checkDeath},
	{ID: "STDIO-08", Severity: Warning, Side: Either, Span: All,
		Title: "a line is shorter than 10 MiB, where the first readers give up",
		Words: "a line of $1 MiB", check: checkLongLine},
}

// isLineFault reports whether a stray would be a message but for its line, which is
// for checkOneLine and checkLineForm to say.
func isLineFault(k decode.StrayKind) bool {
	return k == decode.StraySeveral || k == decode.StrayLines || k == decode.StrayBOM
}

var noiseWords = map[decode.StrayKind]string{
	decode.StrayText:     "text that is no message",
	decode.StrayBlank:    "a blank line",
	decode.StrayHeader:   "a header, as language servers frame messages",
	decode.StrayGlued:    "text before a message, without a line end between",
	decode.StrayTrailing: "text after a message, on its line",
}

func noiseOn(dir tap.Dir) func(*pass, *Rule) {
	return func(p *pass, r *Rule) {
		p.lines(r, func(f *decode.Frame) {
			if words := noiseWords[f.Stray]; words != "" && f.Dir == dir && !p.isSpread(f.Index) {
				p.report(r, f.Index, -1, words)
			}
		})
		p.eachMessage(r, func(m *message) {
			if m.frame.Dir == dir && p.stdio() && m.foreign() {
				p.report(r, m.frame.Index, -1, "JSON that is no message")
			}
		})
	}
}

// lines visits the lines of standard input and output.
func (p *pass) lines(r *Rule, visit func(*decode.Frame)) {
	if !p.stdio() {
		return
	}
	p.frames(r, func(f *decode.Frame) {
		if f.Kind != decode.Log {
			visit(f)
		}
	})
}

func checkOneLine(p *pass, r *Rule) {
	p.lines(r, func(f *decode.Frame) {
		switch {
		case f.Stray == decode.StraySeveral:
			p.report(r, f.Index, -1, "several messages on one line")
		case f.Stray == decode.StrayLines:
			p.report(r, f.Index, -1, "a line break within a message")
		case p.isSpread(f.Index) && p.spread()[f.Index] == f.Index:
			p.report(r, f.Index, -1, "a message over several lines")
		}
	})
}

func (p *pass) isSpread(frame int) bool {
	_, ok := p.spread()[frame]
	return ok
}

// spread maps the lines of messages that were written over several of them to the
// first line of each.
func (p *pass) spread() map[int]int {
	if p.facts.spread != nil {
		return p.facts.spread
	}
	p.facts.spread = map[int]int{}
	open := map[tap.Dir]*pieces{tap.C2S: {}, tap.S2C: {}}
	for i := range p.Len() {
		f := p.Frame(i)
		if s := open[f.Dir]; s != nil {
			s.add(p, &f)
		}
	}
	return p.facts.spread
}

// pieces are lines that may be one message together.
type pieces struct {
	frames []int
	text   []byte
	level  int
}

// maxSpread is the longest message that is looked for in lines, in bytes.
const maxSpread = 1 << 20

func (s *pieces) add(p *pass, f *decode.Frame) {
	if f.Kind != decode.Stray {
		*s = pieces{}
		return
	}
	body := p.body(f.Index)
	start := bytes.TrimSpace(body)
	if len(s.frames) == 0 && (len(start) == 0 || start[0] != '{') {
		return
	}
	s.frames = append(s.frames, f.Index)
	s.text = append(append(s.text, body...), '\n')
	if s.level += balance(body); s.level > 0 && len(s.text) < maxSpread {
		return
	}
	if len(s.frames) > 1 && gjson.ValidBytes(s.text) {
		for _, i := range s.frames {
			p.facts.spread[i] = s.frames[0]
		}
	}
	*s = pieces{}
}

// balance is how many brackets a line opens more than it closes. Strings don't
// reach over a line's end.
func balance(line []byte) (n int) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			n++
		case c == '}' || c == ']':
			n--
		}
	}
	return n
}

func checkLineForm(p *pass, r *Rule) {
	p.lines(r, func(f *decode.Frame) {
		if f.EOL == tap.CRLF {
			p.report(r, f.Index, f.Call, `\r\n at its end`)
		}
		if f.Stray == decode.StrayBOM {
			p.report(r, f.Index, f.Call, "a byte order mark")
		}
	})
}

func checkLastLine(p *pass, r *Rule) {
	p.lines(r, func(f *decode.Frame) {
		if f.EOL == tap.NoEOL {
			p.report(r, f.Index, f.Call)
		}
	})
}

// exitTime is how long clients wait before they send a signal.
const exitTime = 2 * time.Second

// checkSlowExit takes a signal of the client's for the same: it had waited.
func checkSlowExit(p *pass, r *Rule) {
	e := p.Ends()
	if !p.stdio() || e.Stdin < 0 || e.Process < e.Stdin+exitTime {
		return
	}
	p.report(r, -1, -1, (e.Process - e.Stdin).Round(100*time.Millisecond).String())
}

// checkDeath reports a server that went while the client still wanted it.
func checkDeath(p *pass, r *Rule) {
	e := p.Ends()
	if !p.stdio() || !p.Gaps().Ended || e.Signalled || e.Stdin >= 0 && (e.Stdout < 0 || e.Stdin < e.Stdout) {
		return
	}
	open := 0
	for i := range p.Calls() {
		if c := p.Call(i); c.Dir == tap.C2S && c.Response < 0 && !c.Cancelled && !c.Listen {
			open++
		}
	}
	how := fmt.Sprintf("exit status %d", e.Exit)
	if e.Signal != "" {
		how = e.Signal
	}
	if open > 0 || e.Signal != "" {
		p.report(r, -1, -1, fmt.Sprintf("%s, open requests: %d", how, open))
	}
}

// shortestLimit is the buffer of the TypeScript SDK; Go's reader takes 16 MiB.
const shortestLimit = 10 << 20

func checkLongLine(p *pass, r *Rule) {
	p.lines(r, func(f *decode.Frame) {
		if f.Size >= shortestLimit {
			p.report(r, f.Index, f.Call, fmt.Sprint(f.Size>>20))
		}
	})
}
