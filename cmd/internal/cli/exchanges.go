package cli

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/report"
	"github.com/mcptap/mcptap/tap"
)

// exchangeJSON is a moment of an HTTP exchange in the output of --frames --json.
type exchangeJSON struct {
	N    uint64        `json:"n"`
	T    int64         `json:"t"`
	Kind string        `json:"kind"` // "http"
	HTTP *tap.Exchange `json:"http"`
	origin
}

// phaseWords name the phases in a table.
var phaseWords = map[tap.Phase]string{tap.PhaseRequest: "http request", tap.PhaseResponse: "http answer", tap.PhaseEvent: "http event", tap.PhaseEnd: "http end"}

var phaseDirs = map[tap.Phase]tap.Dir{tap.PhaseRequest: tap.C2S, tap.PhaseResponse: tap.S2C, tap.PhaseEvent: tap.S2C}

// moment prints a moment of an exchange, with its headers below it if they are asked
// for.
func (p *tablePrinter) moment(x *tap.Exchange) {
	word := ""
	if dir, ok := phaseDirs[x.Phase]; ok {
		word = dir.String()
		if p.terminal {
			word = " " + arrows[dir]
		}
	}
	what, size, about := momentWords(x)
	look := dim
	if x.Phase == tap.PhaseEnd && x.By != tap.EndServer || x.Status >= 400 {
		look = yellow
	}
	p.styled(look, strconv.FormatUint(x.N, 10), seconds(x.Time), word, phaseWords[x.Phase], what, exchangeID(x.Exchange), size, about)
	if !p.headers {
		return
	}
	for _, h := range append(x.Headers, x.Trailers...) {
		p.styled(dim, "", "", "", "", "", exchangeID(x.Exchange), "", "  "+h[0]+": "+h[1])
	}
}

func exchangeID(n uint32) string { return "x" + strconv.FormatUint(uint64(n), 10) }

func momentWords(x *tap.Exchange) (what, size, about string) {
	switch x.Phase {
	case tap.PhaseRequest:
		return x.Method, strconv.FormatInt(x.Bytes, 10), strings.TrimSpace(x.Target + rewritten(x.Rewrites))
	case tap.PhaseResponse:
		return strings.TrimSpace(fmt.Sprint(x.Status, " ", http.StatusText(x.Status))), strconv.FormatInt(x.Bytes, 10), strings.TrimSpace(contentType(x.Headers) + rewritten(x.Rewrites))
	case tap.PhaseEvent:
		return eventName(x.SSE), strconv.FormatInt(x.Wire, 10), strings.TrimSpace(report.Excerpt(x.Data) + bracketed(sseWords(x.SSE)) + rewritten(x.Rewrites))
	}
	about = fmt.Sprintf("bodies of %d and %d bytes", x.Up, x.Down)
	if x.Error != "" {
		about += ": " + decode.PlainError(x.Error)
	}
	return enders[x.By], "", about
}

var enders = map[string]string{tap.EndServer: "by the server", tap.EndClient: "by the client", tap.EndTap: "by the tap", tap.EndBroken: "broken off"}

func eventName(e *tap.SSE) string {
	if e == nil {
		return ""
	}
	return e.Event
}

func contentType(headers [][2]string) string {
	for _, h := range headers {
		if strings.EqualFold(h[0], "Content-Type") {
			return h[1]
		}
	}
	return ""
}

func rewritten(all []tap.Rewrite) (out string) {
	for _, r := range all {
		out += fmt.Sprintf(" [the tap changed %s from %s]", r.What, report.Excerpt(r.From))
	}
	return out
}

// carriedWords say of a frame what HTTP adds to it: its exchange, and the fields of
// its event.
func carriedWords(f *tap.Frame) string {
	if f.HTTP == nil {
		return ""
	}
	words := []string{exchangeID(f.HTTP.Exchange)}
	if f.HTTP.Encoding != "" {
		words = append(words, f.HTTP.Encoding)
		if f.SSE == nil && f.HTTP.Wire > 0 && !f.HTTP.Masked {
			words[len(words)-1] += fmt.Sprintf(": %d bytes on the wire", f.HTTP.Wire)
		}
	}
	switch {
	case f.HTTP.Masked && sessions.NotKept(f):
		words = append(words, "not kept")
	case f.HTTP.Masked:
		words = append(words, "secrets masked")
	}
	if said := sseWords(f.SSE); said != "" {
		words = append(words, said)
	}
	return bracketed(strings.Join(words, ", "))
}

func sseWords(e *tap.SSE) string {
	if e == nil {
		return ""
	}
	var words []string
	if e.ID != nil {
		words = append(words, "event id "+cmp.Or(*e.ID, "(empty)"))
	}
	if e.Retry != "" {
		words = append(words, "retry "+e.Retry)
	}
	if e.Comments > 0 {
		words = append(words, plural(e.Comments, "comment"))
	}
	return strings.Join(words, ", ")
}

// webRows prints the exchanges that no call and no message tells of: look-ups of
// documents, streams that were opened, sessions that were ended.
type webRows struct {
	off     bool
	next    int
	waiting []int // those that have not ended
}

// ended prints the exchanges that were waited for and have ended; at the last call all
// of them.
func (p *callPrinter) ended(last bool) {
	before := p.web.waiting
	p.web.waiting = nil
	for _, i := range before {
		p.exchange(i, last)
	}
}

// before prints the exchanges that began before record n.
func (p *callPrinter) before(n uint64, last bool) {
	w := &p.web
	for ; w.next < p.l.Exchanges() && p.l.Exchange(w.next).N < n; w.next++ {
		p.exchange(w.next, last)
	}
}

func (p *callPrinter) exchange(i int, last bool) {
	x := p.l.Exchange(i)
	switch {
	case !carriesNothing(&x) || p.web.off:
	case x.End < 0 && !last:
		p.web.waiting = append(p.web.waiting, i)
	default:
		p.out.exchange(&x)
	}
}

// carriesNothing reports an exchange whose request carried no message.
func carriesNothing(x *decode.Exchange) bool {
	return x.Call < 0 && x.Sent == decode.SentNothing && x.Start >= 0
}

// toldElsewhere reports a body that its exchange's row, or its call's, stands for.
func (p *callPrinter) toldElsewhere(f *decode.Frame) bool {
	if f.Exchange < 0 || f.Call >= 0 {
		return false
	}
	x := p.l.Exchange(f.Exchange)
	return f.Kind == decode.Body || f.Orphan && carriesNothing(&x)
}

func (t *callTable) exchange(x *decode.Exchange) {
	took := ""
	if x.End >= 0 && !x.Stream {
		took = millis(x.End - x.Start)
	}
	look := dim
	if x.Status >= 400 || x.By != "" && x.By != tap.EndServer && !x.Stream {
		look = yellow
	}
	t.styled(look, strconv.FormatUint(x.N, 10), seconds(x.Start), t.arrow(tap.C2S), x.Method, x.Target, took, strconv.FormatInt(x.Up+x.Down, 10), statusWord(x), t.exchangeWords(x))
}

func statusWord(x *decode.Exchange) string {
	if x.Status == 0 {
		return "no answer"
	}
	return "HTTP " + strconv.Itoa(x.Status)
}

func (t *callTable) exchangeWords(x *decode.Exchange) string {
	var words []string
	if x.Stream {
		words = append(words, "event stream, "+plural(x.Frames, "message"))
	}
	if x.By != "" && x.By != tap.EndServer {
		words = append(words, strings.Replace(enders[x.By], "by", "ended by", 1))
	}
	if why := breakWords(x); why != "" {
		words = append(words, why)
	}
	if frames := t.l.ExchangeFrames(x.Index); !x.Stream && len(frames) > 0 {
		if f := t.l.TapFrame(frames[len(frames)-1]); f != nil {
			words = append(words, strings.TrimSpace(aboutFrame(f)))
		}
	}
	return strings.Join(words, "; ")
}

// webObject is an exchange in the output of show --json.
type webObject struct {
	N        uint64 `json:"n"`
	T        int64  `json:"t"`
	Kind     string `json:"kind"` // "exchange"
	Exchange uint32 `json:"exchange"`
	Method   string `json:"method"`
	Target   string `json:"target"`
	Status   int    `json:"status,omitempty"`
	Stream   bool   `json:"stream"`
	Messages int    `json:"messages"`
	End      *int64 `json:"end,omitempty"`
	By       string `json:"by,omitempty"`
	Error    string `json:"error,omitempty"`
}

func (p *callJSON) exchange(x *decode.Exchange) {
	j := webObject{N: x.N, T: int64(x.Start), Kind: "exchange", Exchange: x.Number, Method: x.Method, Target: x.Target, Status: x.Status,
		Stream: x.Stream, Messages: x.Frames, By: x.By, Error: x.Error}
	if x.End >= 0 {
		end := int64(x.End)
		j.End = &end
	}
	p.encode(j)
}

// orphanWords say what a response without a request is: over HTTP it may refuse what
// was no request.
func orphanWords(l *sessions.Loaded, f *decode.Frame) string {
	if f.Exchange >= 0 {
		if x := l.Exchange(f.Exchange); x.Status >= 300 {
			return "HTTP " + strconv.Itoa(x.Status) + ":"
		}
	}
	return "answers no request"
}

// fateOf says what became of a frame of the client's that needs no answer, if it was
// not accepted.
func fateOf(l *sessions.Loaded, f *decode.Frame) string {
	if f.Exchange < 0 {
		return ""
	}
	switch x := l.Exchange(f.Exchange); {
	case x.Status >= 300:
		return " [HTTP " + strconv.Itoa(x.Status) + "]"
	case x.By == tap.EndBroken:
		return strings.TrimSuffix(" [broken off: "+breakWords(&x), ": ") + "]"
	}
	return ""
}

// breakWords are why an exchange ended as it did, beside a word that says that it broke
// off.
func breakWords(x *decode.Exchange) string {
	return strings.TrimPrefix(x.Error, "the answer broke off: ")
}
