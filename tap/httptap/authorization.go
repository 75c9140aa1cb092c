package httptap

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/tap"
)

// translateRequest makes of what a client asks of the tap what it has to ask of the
// server: the resource of an authorization or token request, and a metadata
// document in a form that can be translated. It adds the user's own authorization.
// A form is held back until it is whole, up to MaxDocument; first is what of the
// body was read already.
func (t *Tap) translateRequest(x *exchange, r *http.Request) {
	path := r.URL.Path
	query, done := x.mapping.Query(path, r.URL.RawQuery)
	r.URL.RawQuery = query
	x.rewrote(done...)
	if role := x.mapping.Role(path); role == RoleResource || role == RoleServer {
		if coding := r.Header.Get("Accept-Encoding"); coding != "" {
			r.Header.Del("Accept-Encoding")
			x.rewrote(tap.Rewrite{What: "Accept-Encoding", From: coding})
		}
	}
	if t.Authorization != "" && r.Header.Get("Authorization") == "" && x.atEndpoint {
		r.Header.Set("Authorization", t.Authorization)
		x.rewrote(tap.Rewrite{What: "Authorization", To: "what MCPTAP_AUTHORIZATION says"})
	}
}

// isForm reports a request whose body may have to be translated.
func isForm(r *http.Request) bool {
	content, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return content == "application/x-www-form-urlencoded" && r.ContentLength >= 0 && r.ContentLength <= MaxDocument
}

// translateForm gives a form as the server has to get it.
func (x *exchange) translateForm(r *http.Request, form []byte) []byte {
	form, done := x.mapping.Form(r.URL.Path, form)
	if len(done) > 0 {
		x.rewrote(done...)
		r.ContentLength = int64(len(form))
		r.Header.Set("Content-Length", strconv.Itoa(len(form)))
	}
	return form
}

// sendOn answers a browser that asks for a login page with where the page is, if
// that is better had from the server itself (see Mapping.Browser).
func (t *Tap) sendOn(x *exchange, w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	to, done, ok := x.mapping.Browser(r.URL.Path, r.URL.RawQuery)
	if !ok {
		return false
	}
	x.rewrote(done...)
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
	head := &tap.Exchange{
		Exchange: x.n, Phase: tap.PhaseResponse, Proto: r.Proto, Status: http.StatusFound,
		Headers: x.tap.maskHeaders(http.Header{"Location": {to}}, ""), Rewrites: x.takeRewrites(),
	}
	x.session.journal.RecordHTTP(head, nil, x.end(tap.EndTap, "the browser was sent on to the server's own login page"))
	return true
}

// translateAnswer makes of an answer what the client has to be told: addresses at
// the server become the tap's. For a metadata document it gives the server's own
// words as well.
func (t *Tap) translateAnswer(x *exchange, res *http.Response) (document []byte) {
	x.replaceEach(res.Header, "Www-Authenticate", x.mapping.Challenge)
	x.replaceEach(res.Header, "Location", x.mapping.Location)
	if res.StatusCode == http.StatusOK {
		document = x.translateDocument(res)
	}
	if hint := x.mapping.Hint(res.StatusCode); hint != "" && x.in.Header.Get("Authorization") == "" {
		t.warnOnce(hint)
	}
	return document
}

// replaceEach passes each value of a header through change.
func (x *exchange) replaceEach(h http.Header, name string, change func(string) (string, []tap.Rewrite)) {
	for i, v := range h[name] {
		to, done := change(v)
		h[name][i] = to
		x.rewrote(done...)
	}
}

// translateDocument replaces the body of a metadata document. It gives the body as
// it was; nil if there was nothing to translate.
func (x *exchange) translateDocument(res *http.Response) []byte {
	path := x.in.URL.Path
	role := x.mapping.Role(path)
	if role != RoleResource && role != RoleServer || x.in.Method != http.MethodGet {
		return nil
	}
	own, err := io.ReadAll(io.LimitReader(res.Body, MaxDocument+1))
	rest := io.Reader(res.Body)
	if err != nil {
		rest = &failing{res.Body, err}
	}
	text, readable := plain(own, res.Header)
	body, done := x.mapping.Document(path, text)
	if len(done) == 0 || err != nil || len(own) > MaxDocument {
		res.Body = &joined{Reader: io.MultiReader(bytes.NewReader(own), rest), Closer: res.Body}
		if !readable || len(own) > MaxDocument {
			x.remark("the document was passed on as it is, since it is too long or its encoding is not known: a login through the tap may fail")
		}
		return nil
	}
	if coding := res.Header.Get("Content-Encoding"); coding != "" {
		done = append(done, tap.Rewrite{What: "Content-Encoding", From: coding})
	}
	x.rewrote(done...)
	for _, name := range [...]string{"Content-Encoding", "Etag", "Digest", "Content-Digest", "Repr-Digest", "Content-Md5"} {
		res.Header.Del(name) // they are those of other bytes
	}
	res.ContentLength = int64(len(body))
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	res.Body = &joined{Reader: bytes.NewReader(body), Closer: res.Body}
	return text
}

// plain takes the encoding off a document.
func plain(body []byte, h http.Header) (text []byte, ok bool) {
	coding := strings.Join(h.Values("Content-Encoding"), ", ")
	d, err := newDecoder(coding, MaxDocument, func(b []byte) { text = append(text, b...) })
	if err != nil {
		return body, false
	}
	d.Feed(body)
	return text, d.Close() == nil
}

// joined reads from one and closes another.
type joined struct {
	io.Reader
	io.Closer
}
