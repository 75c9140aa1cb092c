package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/report"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/safetext"
)

// A printer prints the records of a session.
type printer interface {
	record(*tap.Record, *selection) // of the selection only its marks matter
	of(origin)                      // whose records come next
	flush() error
}

// An origin says which session a record is of, where several are printed.
type origin struct {
	Session string `json:"session,omitempty"` // its id
	Label   string `json:"label,omitempty"`
	Client  string `json:"client,omitempty"` // the client's process, behind an HTTP tap

	several bool // there are more sessions than this one
}

// word tells sessions of one label, and clients of one tap, apart.
func (o *origin) word() string {
	id := o.Session[strings.LastIndexByte(o.Session, '-')+1:]
	return strings.TrimSpace(o.Label + " " + id + bracketed(o.Client))
}

func (a *app) printer(asJSON bool) printer {
	if asJSON {
		return newJSONPrinter(a.Stdout)
	}
	return &tablePrinter{table: a.table(frameColumns...), app: a}
}

var frameColumns = []column{
	{name: "#", width: 5, right: true},
	{name: "seconds", width: 8, right: true, drop: 2},
	{name: "dir", width: 3},
	{name: "kind", width: 12},
	{name: "method", width: 24, min: 14},
	{name: "id", width: 5, right: true, drop: 1},
	{name: "bytes", width: 8, min: 6, right: true, drop: 3},
	{name: "about"},
}

// tablePrinter prints a row a record.
type tablePrinter struct {
	*table
	app     *app
	headers bool // of HTTP exchanges, a row each
	from    origin
	failed  error // of a table that was left for a wider one
}

// of makes room for the name of the session once there is more than one: a column in
// front on a terminal, one more at the end for programs, which count from the left.
func (p *tablePrinter) of(o origin) {
	if o.several && !p.from.several && p.terminal {
		p.failed = p.table.flush()
		p.table = p.app.table(append([]column{{name: "session", width: 24, min: 12}}, frameColumns...)...)
	}
	p.from = o
}

func (p *tablePrinter) styled(s style, cells ...string) {
	switch {
	case p.from.several && p.terminal:
		cells = append([]string{p.from.word()}, cells...)
	case p.from.several:
		cells = append(cells, p.from.word())
	}
	p.table.styled(s, cells...)
}

func (p *tablePrinter) flush() error {
	if p.failed != nil {
		return p.failed
	}
	return p.table.flush()
}

var arrows = map[tap.Dir]string{tap.C2S: "→", tap.S2C: "←", tap.Stderr: "·"}

var styles = map[decode.Kind]style{decode.Error: red, decode.Stray: yellow, decode.Malformed: yellow, decode.Log: dim}

func (p *tablePrinter) record(r *tap.Record, sel *selection) {
	switch {
	case r.Frame != nil:
		p.frame(r.Frame, sel.noteOn(r.Frame.N))
	case r.HTTP != nil:
		p.moment(r.HTTP)
	case r.Event != nil:
		p.note(r, r.Event.Name, r.Event.Detail)
	case r.Lost != nil:
		p.note(r, "lost", fmt.Sprintf("%d frames, %d bytes: %s", r.Lost.Frames, r.Lost.Bytes, r.Lost.Reason))
	case r.End != nil:
		p.note(r, "end", fmt.Sprintf("exit %d%s: %s", r.End.Exit, bracketed(r.End.Signal), r.End.Reason))
	}
}

func bracketed(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func (p *tablePrinter) frame(f *tap.Frame, note string) {
	m := message(f)
	dir := f.Dir.String()
	if p.terminal {
		dir = " " + arrows[f.Dir]
	}
	p.styled(styles[m.Kind], strconv.FormatUint(f.N, 10), seconds(f.Time), dir, string(m.Kind), m.Method, m.ID, strconv.FormatInt(frameLength(f), 10), withNote(note, strings.TrimSpace(about(f, m)+carriedWords(f))))
}

func message(f *tap.Frame) decode.Message { return decode.ParseCarried(f) }

// note prints a record that is no frame.
func (p *tablePrinter) note(r *tap.Record, name, detail string) {
	n, t := r.Position()
	p.styled(dim, strconv.FormatUint(n, 10), seconds(t), "", name, "", "", "", detail)
}

// frameLength is a frame's length without its end: as it is recorded, but where a mask
// stands for what crossed, as it crossed.
func frameLength(f *tap.Frame) int64 {
	if f.HTTP != nil && f.HTTP.Masked {
		return max(0, decode.Crossed(f)-int64(len(f.EOL.String())))
	}
	return f.Size()
}

func seconds(t time.Duration) string { return strconv.FormatFloat(t.Seconds(), 'f', 3, 64) }

func aboutFrame(f *tap.Frame) string { return about(f, message(f)) }

// about is what a row says of the frame's content.
func about(f *tap.Frame, m decode.Message) string {
	if d := f.Digest; d != nil {
		if d.File == "" {
			return "not kept: " + d.Reason
		}
		return "in " + d.File + ": " + report.Excerpt(d.Head)
	}
	return decode.Gist(f.Body, m)
}

// jsonPrinter prints an object a record. Its shape is described in 'mcptap help
// json' and only ever grows.
type jsonPrinter struct {
	out *bufio.Writer
	enc *json.Encoder
	err error

	from origin // empty where only one session is printed
}

func (p *jsonPrinter) of(o origin) { p.from = o }

func newJSONPrinter(w io.Writer) *jsonPrinter {
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(safetext.JSON(out))
	enc.SetEscapeHTML(false)
	return &jsonPrinter{out: out, enc: enc}
}

type frameJSON struct {
	N      uint64           `json:"n"`
	T      int64            `json:"t"`
	Dir    string           `json:"dir"`
	Kind   string           `json:"kind"`
	Method string           `json:"method,omitempty"`
	ID     json.RawMessage  `json:"id,omitempty"`
	Code   *int64           `json:"code,omitempty"`
	Bytes  int64            `json:"bytes"`
	EOL    string           `json:"eol"`
	Parts  map[string]int64 `json:"parts,omitempty"`
	About  string           `json:"about,omitempty"`
	HTTP   *tap.Carriage    `json:"http,omitempty"`
	SSE    *tap.SSE         `json:"sse,omitempty"`
	File   string           `json:"file,omitempty"`
	SHA256 string           `json:"sha256,omitempty"`
	Mark   bool             `json:"mark,omitempty"`
	Note   string           `json:"note,omitempty"`
	origin
}

type noteJSON struct {
	N      uint64    `json:"n"`
	T      int64     `json:"t"`
	Kind   string    `json:"kind"`
	Name   string    `json:"name,omitempty"`
	Detail string    `json:"detail,omitempty"`
	Lost   *tap.Lost `json:"lost,omitempty"`
	End    *tap.End  `json:"end,omitempty"`
	origin
}

func (p *jsonPrinter) record(r *tap.Record, sel *selection) {
	n, t := r.Position()
	note := noteJSON{N: n, T: int64(t), origin: p.from}
	switch {
	case r.Frame != nil:
		j := markedFrame(r.Frame, sel)
		j.origin = p.from
		p.encode(j)
		return
	case r.HTTP != nil:
		p.encode(exchangeJSON{n, int64(t), "http", r.HTTP, p.from})
		return
	case r.Event != nil:
		note.Kind, note.Name, note.Detail = "event", r.Event.Name, r.Event.Detail
	case r.Lost != nil:
		note.Kind, note.Lost = "lost", r.Lost
	case r.End != nil:
		note.Kind, note.End = "end", r.End
	default:
		return
	}
	p.encode(note)
}

// markedFrame is frameObject with the frame's mark.
func markedFrame(f *tap.Frame, sel *selection) frameJSON {
	j := frameObject(f)
	j.Note, j.Mark = sel.marks.Get(f.N)
	return j
}

func frameObject(f *tap.Frame) frameJSON {
	m := message(f)
	j := frameJSON{N: f.N, T: int64(f.Time), Dir: f.Dir.String(), Kind: string(m.Kind), Method: m.Method, ID: idJSON(m.ID), Bytes: frameLength(f), EOL: f.EOL.String(), About: about(f, m), HTTP: f.HTTP, SSE: f.SSE}
	if m.Kind == decode.Error {
		j.Code = &m.Code
	}
	if f.JSON && f.Digest == nil && m.Kind != decode.Body {
		acc := decode.AccountOf(f.Body, len(f.EOL.String()))
		j.Parts = parts(&acc)
	}
	if f.Digest != nil {
		j.File, j.SHA256 = f.Digest.File, f.Digest.SHA256
	}
	return j
}

// idJSON is an id as it was sent. One with escapes may hold half a character, which
// stops readers like jq: it is written anew.
func idJSON(raw string) json.RawMessage {
	if !strings.Contains(raw, `\u`) {
		return json.RawMessage(raw)
	}
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

func (p *jsonPrinter) encode(v any) {
	if p.err == nil {
		p.err = p.enc.Encode(v)
	}
}

func (p *jsonPrinter) flush() error {
	if p.err != nil {
		return p.err
	}
	return p.out.Flush()
}
