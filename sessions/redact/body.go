package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	maxDepth = 64      // of JSON that is looked into
	maxText  = 1 << 20 // bytes of plain text that are looked into
)

// body masks by media type.
func (h *HTTP) body(media, s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return s
	case media == "application/x-www-form-urlencoded":
		return h.form(s)
	case isJSON(media) && jsonDepth(s) <= maxDepth && gjson.Valid(s):
		return h.json(s)
	case isText(media) && len(s) <= maxText && utf8.ValidString(s):
		return h.plain(s)
	case media == "text/html" && len(s) <= maxText && utf8.ValidString(s) && !h.hasForm(s):
		return h.plain(s)
	}
	return notKept(media, s)
}

// notKept stands for a body of which only the length is known.
func notKept(media, s string) string {
	if strings.HasPrefix(s, keptStart) && strings.HasSuffix(s, keptEnd) && len(s) < 200 {
		return s
	}
	if len(media) > 80 || !utf8.ValidString(media) {
		media = ""
	}
	return fmt.Sprintf("%s%d bytes, %q%s", keptStart, len(s), media, keptEnd)
}

const (
	keptStart = "«not kept: "
	keptEnd   = "»"
)

func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json") || media == "" || media == "text/plain"
}

func isText(media string) bool {
	return media == "text/plain" || media == "text/markdown" || media == ""
}

// plain masks a text. A text that is one word may be the secret itself.
func (h *HTTP) plain(s string) string {
	if word := strings.TrimSpace(s); opaque(word) {
		return strings.Replace(s, word, h.Secret(word), 1)
	}
	return h.text(s)
}

// hasForm tells whether a page asks for something or hides something.
func (h *HTTP) hasForm(page string) bool {
	page = strings.ToLower(page)
	for _, tag := range h.HTTP.FormTags {
		if strings.Contains(page, tag) {
			return true
		}
	}
	return false
}

// form masks the values of all fields but the ones known to be harmless.
func (h *HTTP) form(s string) string {
	pairs := strings.Split(s, "&")
	for i, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			pairs[i] = h.Secret(unescape(pair))
			continue
		}
		plain := unescape(name)
		if h.HTTP.HarmlessFields[strings.ToLower(plain)] {
			value = h.queryValue(plain, value, 0)
		} else {
			value = h.Secret(unescape(value))
		}
		pairs[i] = h.masked(name, plain, h.fieldName(plain)) + "=" + value
	}
	return strings.Join(pairs, "&")
}

// json masks members by name and strings by shape. All other bytes stay.
func (h *HTTP) json(s string) string {
	root := gjson.Parse(s)
	root.Index = len(s) - len(strings.TrimLeft(s, " \t\r\n"))
	w := &jsonMasker{h: h, writer: writer{s: s}}
	if root.Type == gjson.String {
		w.put(root, h.plain(root.Str))
	} else {
		w.value("", root, false)
	}
	return w.String()
}

type jsonMasker struct {
	h *HTTP
	writer
}

// value masks what stands under name; with all set, everything in it.
func (w *jsonMasker) value(name string, v gjson.Result, all bool) {
	switch {
	case v.IsObject():
		private := v.Get("kty").Exists()
		v.ForEach(func(key, member gjson.Result) bool {
			w.put(key, w.h.text(key.Str))
			w.value(key.Str, member, all || w.h.secretHeader(key.Str) || private && w.h.HTTP.PrivateKeyMembers[key.Str])
			return true
		})
	case v.IsArray():
		v.ForEach(func(_, element gjson.Result) bool {
			w.value(name, element, all)
			return true
		})
	case v.Type == gjson.String && (all || w.h.secretField(name)):
		w.put(v, w.h.Secret(v.Str))
	case v.Type == gjson.String:
		w.put(v, w.h.member(v.Str))
	case v.Type == gjson.Number && all:
		w.put(v, w.h.Secret(v.Raw))
	}
}

// member masks a string that no name gives away.
func (h *HTTP) member(s string) string {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return h.address(s, 0)
	}
	return h.text(s)
}

// put writes s for v, if it differs.
func (w *jsonMasker) put(v gjson.Result, s string) {
	if s != v.Str {
		w.replace(span{v.Index, v.Index + len(v.Raw)}, quoted(s))
	}
}

// quoted is s as a JSON string.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""` // a string can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonDepth is how deeply s is nested, if it is JSON. It needs no stack.
func jsonDepth(s string) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}
