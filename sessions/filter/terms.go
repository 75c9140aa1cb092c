package filter

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
)

// failed stands for every outcome that counts as a failure.
const failed = "failed"

var statusWords = []string{"ok", "tool-error", "protocol-error", "transport-error", "hidden-error", "input-required", "cancelled", "unauthorized", "refused-probe", "open", failed}

var kindWords = []string{"request", "notification", "result", "error", "batch", "malformed", "stray", "log", "cut", "body",
	"call", "rounds", "task", "pages", "url-elicitation", "listen"}

// firstOpKind is where the kinds of operations begin in kindWords.
const firstOpKind = 10

// chosen tells which of a field's words a value means.
func chosen(t *term) []bool {
	m := t.value.names()
	out := make([]bool, len(t.field.Words))
	for i, w := range t.field.Words {
		out[i] = m.match(w)
	}
	return out
}

// nameTerm asks for the tool, prompt or URI of requests of one method, or of any.
func nameTerm(method string) compiler {
	return func(t *term, _ *Source) (test, error) {
		m := t.value.names()
		return func(u *unit) bool {
			for i := range u.allCalls() {
				c := &u.members[i]
				if method != "" && c.Method != method {
					continue
				}
				if name := u.nameOf(c); name != "" && m.match(name) {
					return true
				}
			}
			return false
		}, nil
	}
}

// nameOf is the name in a request. The index has all but very long ones.
func (u *unit) nameOf(c *decode.Call) string {
	if c.Name != "" && !decode.Shortened(c.Name) || u.src.Body == nil {
		return c.Name
	}
	switch c.Method {
	case "tools/call", "prompts/get":
		return gjson.GetBytes(u.bodyAt(c.Request), "params.name").Str
	case "resources/read":
		return gjson.GetBytes(u.bodyAt(c.Request), "params.uri").Str
	}
	return c.Name
}

func methodTerm(t *term, src *Source) (test, error) {
	m := t.value.names()
	return func(u *unit) bool {
		for i := range u.allCalls() {
			if m.match(u.members[i].Method) {
				return true
			}
		}
		if u.isFrame {
			return methodOf(u.theFrame(), m)
		}
		if u.alone() {
			return false
		}
		for _, i := range u.allFrames() {
			f := src.Session.Frame(i)
			if methodOf(&f, m) {
				return true
			}
		}
		return false
	}, nil
}

func methodOf(f *decode.Frame, m *nameMatcher) bool {
	if f.Method != "" && m.match(f.Method) {
		return true
	}
	for i := range f.Batch {
		if name := f.Batch[i].Method; name != "" && m.match(name) {
			return true
		}
	}
	return false
}

func statusTerm(t *term, _ *Source) (test, error) {
	var wanted [decode.NumOutcomes]bool
	for i, yes := range chosen(t) {
		for o := range wanted {
			name := plainStatus(decode.Outcome(o).String())
			if yes && (t.field.Words[i] == name || t.field.Words[i] == failed && decode.Outcome(o).Failed()) {
				wanted[o] = true
			}
		}
	}
	return func(u *unit) bool {
		if !u.isFrame && !u.alone() {
			return wanted[u.operation().Outcome]
		}
		for i := range u.allCalls() {
			if wanted[u.members[i].Outcome] {
				return true
			}
		}
		return false
	}, nil
}

func dirTerm(t *term, _ *Source) (test, error) {
	wanted := chosen(t)
	return func(u *unit) bool {
		d := int(u.dir()) - 1
		return d >= 0 && d < len(wanted) && wanted[d]
	}, nil
}

func kindTerm(t *term, src *Source) (test, error) {
	frames, ops := map[decode.Kind]bool{}, map[decode.OpKind]bool{}
	for i, yes := range chosen(t) {
		switch {
		case !yes:
		case i < firstOpKind:
			frames[decode.Kind(kindWords[i])] = true
		default:
			ops[decode.OpKind(i-firstOpKind)] = true
		}
	}
	return func(u *unit) bool {
		if len(ops) > 0 && opKindOf(u, ops) {
			return true
		}
		if len(frames) == 0 {
			return false
		}
		for _, i := range u.allFrames() {
			if frames[src.Session.Frame(i).Kind] {
				return true
			}
		}
		return false
	}, nil
}

func opKindOf(u *unit, wanted map[decode.OpKind]bool) bool {
	for i := range u.allCalls() {
		c := &u.members[i]
		kind := decode.OpCall
		switch {
		case c.Listen:
			kind = decode.OpListen
		case !u.src.Session.Alone(c.Index):
			kind = u.src.Session.Operation(c.Index).Kind
		}
		if wanted[kind] {
			return true
		}
	}
	return false
}

// idTerm compares ids as they were sent, and those that are strings also without
// their quotation marks.
func idTerm(t *term, src *Source) (test, error) {
	m := t.value.names()
	same := func(raw string) bool {
		if raw == "" || m.match(raw) {
			return raw != ""
		}
		return raw[0] == '"' && m.match(gjson.Parse(raw).Str)
	}
	return func(u *unit) bool {
		for i := range u.allCalls() {
			if same(string(u.members[i].ID)) {
				return true
			}
		}
		if !u.isFrame || len(u.members) > 0 || src.Body == nil {
			return false
		}
		switch u.theFrame().Kind {
		case decode.Result, decode.Error, decode.Request: // a response to nothing
			return same(gjson.GetBytes(u.bodyAt(u.index), "id").Raw)
		}
		return false
	}, nil
}

func serverTerm(t *term, _ *Source) (test, error) {
	m := t.value.names()
	return func(u *unit) bool {
		for _, name := range u.serverNames() {
			if m.match(name) {
				return true
			}
		}
		return false
	}, nil
}

func turnTerm(t *term, src *Source) (test, error) {
	if src.TurnOf == nil {
		return nil, errNoTurns
	}
	return func(u *unit) bool {
		for _, c := range u.callIndexes() {
			if turn := src.TurnOf(c); turn > 0 && t.compare.holds(int64(turn), t.number) {
				return true
			}
		}
		return false
	}, nil
}

func tookTerm(t *term, _ *Source) (test, error) {
	return func(u *unit) bool {
		d, ok := u.took()
		return ok && t.compare.holds(int64(d), t.number)
	}, nil
}

func whenTerm(t *term, src *Source) (test, error) {
	return func(u *unit) bool {
		return t.compare.holds(int64(src.Session.Frame(u.first()).Time), t.number)
	}, nil
}

func bytesTerm(t *term, _ *Source) (test, error) {
	return func(u *unit) bool { return t.compare.holds(u.bytes(), t.number) }, nil
}

func numberTerm(t *term, src *Source) (test, error) {
	return func(u *unit) bool {
		return t.compare.holds(int64(src.Session.Frame(u.first()).N), t.number)
	}, nil
}

func codeTerm(t *term, _ *Source) (test, error) {
	return func(u *unit) bool {
		for i := range u.allCalls() {
			c := &u.members[i]
			if c.HasError() && t.compare.holds(c.Code, t.number) {
				return true
			}
		}
		return false
	}, nil
}

func markTerm(t *term, src *Source) (test, error) {
	if src.MarkOf == nil {
		return nil, errNoMarks
	}
	wanted := chosen(t)
	return func(u *unit) bool {
		for _, f := range u.allFrames() {
			if _, marked := src.MarkOf(src.Session.Frame(f).N); marked {
				return wanted[0]
			}
		}
		return wanted[1]
	}, nil
}

func noteTerm(t *term, src *Source) (test, error) {
	if src.MarkOf == nil {
		return nil, errNoMarks
	}
	in := t.value.finder()
	return func(u *unit) bool {
		for _, f := range u.allFrames() {
			if note, marked := src.MarkOf(src.Session.Frame(f).N); marked && note != "" && in([]byte(note)) {
				return true
			}
		}
		return false
	}, nil
}

func textTerm(t *term, _ *Source) (test, error) {
	in := t.value.finder()
	return func(u *unit) bool { return u.anyBody(in) }, nil
}

// pathTerm asks whether a path exists, or what is there. What is no JSON has no
// paths.
func pathTerm(t *term, src *Source) (test, error) {
	m := t.value.names()
	each := strings.Contains(t.path, "#")
	holds := func(b []byte) bool {
		v := gjson.GetBytes(b, t.path)
		if !t.hasValue || !v.Exists() {
			return v.Exists()
		}
		if m.match(v.String()) {
			return true
		}
		found := false
		if each && v.IsArray() {
			v.ForEach(func(_, e gjson.Result) bool {
				found = m.match(e.String())
				return !found
			})
		}
		return found
	}
	return func(u *unit) bool {
		for _, i := range u.allFrames() {
			switch src.Session.Frame(i).Kind {
			case decode.Stray, decode.Log, decode.Body:
				continue
			}
			if b := u.bodyAt(i); b != nil && holds(b) {
				return true
			}
		}
		return false
	}, nil
}
