package feed

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/report"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/jsontree"
)

// Detail is what a row says beyond the index: text from the outside.
type Detail struct {
	Gist string // what was asked
	Why  string // why it ended as it did
}

// Detail reads what a row is about. It takes the lock, but not while it reads files.
func (f *Feed) Detail(r Row) (d Detail) {
	f.Lock()
	c := r.Call()
	if c < 0 {
		read := f.Reread(r.Frame())
		f.Unlock()
		return Detail{Gist: frameGist(read())}
	}
	o := f.Operation(c)
	request := f.Reread(f.Call(c).Request)
	frame, words := report.Reason(f.Loaded, &o)
	response := f.Reread(frame)
	f.Unlock()
	if o.Outcome != decode.OK && o.Outcome != decode.Open {
		var body []byte
		if frame >= 0 {
			body = f.BodyOf(response())
		}
		d.Why = upTo(maxWhy, strings.TrimSpace(words(body)))
	}
	d.Gist = arguments(f.BodyOf(request()))
	return d
}

func frameGist(t *tap.Frame) string {
	switch {
	case t == nil:
		return ""
	case t.Digest != nil && t.Digest.File == "":
		return "not kept: " + t.Digest.Reason
	case t.Digest != nil:
		return report.Excerpt(t.Digest.Head)
	}
	m := decode.ParseFrame(t.Body, t.JSON, t.Dir == tap.Stderr)
	if m.Kind == decode.Request || m.Kind == decode.Notification {
		return arguments(t.Body)
	}
	return decode.Gist(t.Body, m)
}

// How much a row says: maxGist is enough for the widest terminal, maxWhy for what stands
// above a frame. A server's error may be as long as it likes.
const (
	maxGist = 400
	maxWhy  = 8 << 10
)

// elsewhere are members of params that other columns and screens show.
var elsewhere = map[string]bool{"_meta": true, "name": true, "uri": true, "capabilities": true, "clientInfo": true, "protocolVersion": true, "requestState": true}

// arguments are what a request asks with, in short: the members of its arguments, or
// of its params, but for what other columns say.
func arguments(body []byte) string {
	p, inArguments := gjson.GetBytes(body, "params"), false
	if a := p.Get("arguments"); a.IsObject() {
		p, inArguments = a, true
	}
	if !p.IsObject() {
		return cut(p.Raw)
	}
	var b strings.Builder
	p.ForEach(func(key, v gjson.Result) bool {
		if !inArguments && elsewhere[key.Str] {
			return true
		}
		if b.Len() > 0 {
			b.WriteString("  ")
		}
		b.WriteString(cut(key.String()) + "=" + cut(v.Raw))
		return b.Len() < maxGist
	})
	return b.String()
}

func cut(s string) string { return upTo(maxGist, s) }

// upTo is the beginning of a text, with a mark if there is more.
func upTo(most int, s string) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// A Body is a frame to look into.
type Body struct {
	Frame   int
	Info    decode.Frame
	Bytes   []byte
	Missing string         // why Bytes are not all there
	Account decode.Account // of Bytes
	Tree    *jsontree.Tree // nil if it is no JSON
	Message decode.Message // what it is
}

// maxBody is the longest body that is read into memory.
const maxBody = 1 << 30

// Look reads a frame; wrap is how wide its texts are to be. It takes the lock, but not
// while it reads.
func (f *Feed) Look(frame, wrap int) *Body {
	b := &Body{Frame: frame}
	t := f.frame(b)
	if t == nil {
		b.Missing = "the frame can't be read from the recording any more"
		return b
	}
	if t.Digest != nil {
		b.Bytes, b.Missing = f.long(t)
	} else {
		b.Bytes = t.Body
	}
	b.Message = decode.ParseFrame(b.Bytes, t.JSON && b.Missing == "", t.Dir == tap.Stderr)
	if t.JSON && b.Missing == "" {
		b.Tree = jsontree.New(b.Bytes, wrap)
		if len(b.Bytes) <= light {
			b.Account = b.Weigh()
		}
	}
	return b
}

// light is up to how many bytes the account of a frame is made at once; with longer
// ones a reader would wait for it.
const light = 8 << 20

// Weigh accounts for the bytes of a frame that is JSON.
func (b *Body) Weigh() decode.Account { return decode.AccountOf(b.Bytes, len(b.Info.EOL.String())) }

// frame reads the frame itself, whose body may lie elsewhere.
func (f *Feed) frame(b *Body) *tap.Frame {
	f.Lock()
	if b.Frame < 0 || b.Frame >= f.Len() {
		f.Unlock()
		return nil
	}
	b.Info = f.Loaded.Frame(b.Frame)
	read := f.Reread(b.Frame)
	f.Unlock()
	return read()
}

// long reads the body of a frame that is not in the journal; if it can't, what the
// journal says of it.
func (f *Feed) long(t *tap.Frame) (body []byte, missing string) {
	d := t.Digest
	ends := []byte(d.Head + "\n…\n" + d.Tail)
	if d.Bytes > maxBody {
		return ends, fmt.Sprintf("%d bytes are too many to show; 'mcptap show --raw' gives them", d.Bytes)
	}
	in, err := f.session.Body(t)
	if err != nil {
		return ends, err.Error()
	}
	defer in.Close()
	body = make([]byte, d.Bytes)
	if _, err := io.ReadFull(in, body); err != nil {
		return ends, fmt.Sprintf("reading its side file: %v", err)
	}
	return body, ""
}
