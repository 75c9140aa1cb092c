package diff

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
)

// operations aligns what the clients did, and compares each pair.
func (w *work) operations() {
	defer w.listVolatile()
	defer w.takeHandles()
	w.a.readUnits()
	w.b.readUnits()
	w.d.A.Operations, w.d.B.Operations = len(w.a.units), len(w.b.units)
	pairs, moved := pairUnits(w.a.units, w.b.units)
	w.d.Rows = slices.Grow(w.d.Rows, len(w.a.units)+len(w.b.units)-len(pairs))
	inA, inB := map[int]int{}, map[int]bool{}
	for i, p := range pairs {
		inA[p.a], inB[p.b] = i, true
	}
	for i := range w.a.units {
		u := &w.a.units[i]
		at := place{a: u.op.Legs[0].Call}
		if n, ok := inA[i]; ok {
			w.row(w.both(u, &w.b.units[pairs[n].b], moved[pairs[n]]), at)
			continue
		}
		w.row(w.onlyOn(w.a, i), at)
	}
	after := placesOf(w.a.units, pairs)
	near := -1
	for j := range w.b.units {
		if inB[j] {
			near = after[j]
			continue
		}
		w.row(w.onlyOn(w.b, j), place{near, 1 + j, 0})
	}
}

// placesOf gives, for each paired operation of B, where its partner stands.
func placesOf(a []unit, pairs []pair) map[int]int {
	at := make(map[int]int, len(pairs))
	for _, p := range pairs {
		at[p.b] = a[p.a].op.Legs[0].Call
	}
	return at
}

// onlyOn makes the row of an operation that one session has.
func (w *work) onlyOn(s *source, i int) Row {
	u := &s.units[i]
	r := Row{Dir: u.op.Dir, Method: u.op.Method, Name: u.op.Name}
	if s == w.a {
		r.A = s.part(&u.op)
	} else {
		r.B = s.part(&u.op)
	}
	r.Reason = w.methodReason(u.op.Method, r.A == nil)
	if r.Reason == "" {
		r.Reason = s.repeats(i)
	}
	return r
}

// maxRepeatGap is how many operations before a repetition its first try is looked for.
const maxRepeatGap = 16

// repeats says of which operation that failed this one is a repetition.
func (s *source) repeats(i int) string {
	for j := i - 1; j >= max(0, i-maxRepeatGap); j-- {
		if o := &s.units[j].op; s.units[j].key == s.units[i].key && failed(o.Outcome) {
			return "it repeats #" + itoa64(s.Session.Frame(s.Session.Call(o.Legs[0].Call).Request).N) + ", which ended as " + o.Outcome.String()
		}
	}
	return ""
}

func failed(o decode.Outcome) bool {
	switch o {
	case decode.ToolError, decode.ProtocolError, decode.TransportError, decode.HiddenError, decode.Cancelled, decode.Open:
		return true
	}
	return false
}

// both makes the row of an operation that both sessions have.
func (w *work) both(a, b *unit, moved bool) Row {
	r := Row{Dir: a.op.Dir, Method: a.op.Method, Name: a.op.Name, Moved: moved, A: w.a.part(&a.op), B: w.b.part(&b.op)}
	if kind, ok := listKinds[r.Method]; ok {
		w.lists = append(w.lists, listPair{kind, &a.op, &b.op})
	}
	w.compareArguments(&r, a, b)
	if r.otherwise() { // other questions have other answers, but that one failed is told
		w.compareOutcome(&r)
		return r
	}
	w.compareQuestions(&r, a, b)
	w.compareOutcome(&r)
	w.compareResults(&r, a, b)
	return r
}

// question is something that a server asked while it worked on an operation: by a
// request of its own up to 2025-11-25, within a result since.
type question struct {
	method string
	params map[string]any
}

// questions gives what a server asked, in order.
func (s *source) questions(o *decode.Operation) (asked []question) {
	for _, leg := range o.Legs {
		for _, n := range s.Session.Notes(leg.Call) {
			if n.Kind == decode.NoteNested && n.Call >= 0 {
				params, _ := s.params(n.Call)
				asked = append(asked, question{s.Session.Call(n.Call).Method, params})
				s.calls[n.Call] = true
			}
		}
		if s.Session.Call(leg.Call).Outcome == decode.InputRequired {
			asked = append(asked, requested(s.answerOf(leg.Call))...)
		}
	}
	return asked
}

// requested gives the questions within a result, by their keys' order.
func requested(answer map[string]any) (asked []question) {
	result, _ := answer["result"].(map[string]any)
	requests, _ := result["inputRequests"].(map[string]any)
	for _, k := range sortedKeys(requests) {
		one, _ := requests[k].(map[string]any)
		method, _ := one["method"].(string)
		params, _ := one["params"].(map[string]any)
		asked = append(asked, question{cut(method), params})
	}
	return asked
}

// compareQuestions pairs questions by method, in order.
func (w *work) compareQuestions(r *Row, a, b *unit) {
	qa, qb := byMethod(w.a.questions(&a.op)), byMethod(w.b.questions(&b.op))
	for _, m := range sortedKeys(qa, qb) {
		in := Inner{What: m, A: len(qa[m]), B: len(qb[m])}
		if (in.A == 0 || in.B == 0) && !isQuestion(m) { // both eras ask, each in its way
			in.Reason = w.methodReason(m, in.A == 0)
		}
		r.Details = append(r.Details, in)
		for i := range min(len(qa[m]), len(qb[m])) {
			w.compareInto(r, WhatQuestion, Path{}.member(m), question{m, qa[m][i]}.words(), question{m, qb[m][i]}.words())
		}
	}
}

func byMethod(all []question) map[string][]map[string]any {
	m := map[string][]map[string]any{}
	for _, q := range all {
		m[q.method] = append(m[q.method], q.params)
	}
	return m
}

// words is what a question says to the client or its user: without what only one
// era writes down (client/elicitation).
func (q question) words() map[string]any {
	out := map[string]any{}
	for k, v := range q.params {
		if k == "_meta" || k == "elicitationId" || k == "task" || k == "mode" && v == "form" {
			continue
		}
		out[k] = v
	}
	return out
}

func outcomeWords(p *Part) string {
	s := p.Outcome.String()
	if p.Outcome == decode.ProtocolError {
		s += " " + itoa64(p.Code)
	}
	return s
}

// compareOutcome compares how an operation ended. The code of an error is compared
// with the result.
func (w *work) compareOutcome(r *Row) {
	if r.Method == "subscriptions/listen" && endsSomehow(r.A) && endsSomehow(r.B) {
		return
	}
	if r.A.Outcome != r.B.Outcome {
		r.Changes = append(r.Changes, outcomeChange(r.A, r.B))
	}
}

// endsSomehow reports an end that a stream may have as well as others: whether a client
// cancels it, closes its connection, or is answered last differs by transport and SDK.
func endsSomehow(p *Part) bool {
	return p.Outcome == decode.OK || p.Outcome == decode.Open || p.Outcome == decode.Cancelled
}

// compareArguments compares what was asked for, where it is not the same.
func (w *work) compareArguments(r *Row, a, b *unit) {
	if a.exact && b.exact && a.key == b.key {
		return
	}
	pa, _ := w.a.params(a.op.Legs[0].Call)
	pb, _ := w.b.params(b.op.Legs[0].Call)
	w.compareInto(r, WhatArguments, Path{}.member("params"), asked(pa), asked(pb))
}

// compareResults compares what came back: of the last leg that has an answer. Lists
// are compared by their definitions instead.
func (w *work) compareResults(r *Row, a, b *unit) {
	switch {
	case isList(r.Method) && r.A.Outcome == decode.OK && r.B.Outcome == decode.OK:
		return
	case (r.A.Outcome == decode.InputRequired) != (r.B.Outcome == decode.InputRequired):
		return // a question on one side, and no result that it could be compared with
	}
	if raw := w.a.lastResult(&a.op); len(raw) > 0 && bytes.Equal(raw, w.b.lastResult(&b.op)) {
		return
	}
	ra, rb := w.a.lastAnswer(&a.op), w.b.lastAnswer(&b.op)
	ea, hasA := ra["error"]
	eb, hasB := rb["error"]
	switch {
	case hasA && hasB:
		w.compareInto(r, WhatError, Path{}.member("error"), ea, eb)
	case !hasA && !hasB && ra != nil && rb != nil:
		w.compareInto(r, WhatResult, Path{}.member("result"), w.plainResult(ra["result"]), w.plainResult(rb["result"]))
	}
}

// lastResult is the result of the same answer as it stands; empty if it has none.
func (s *source) lastResult(o *decode.Operation) []byte {
	for _, leg := range slices.Backward(o.Legs) {
		if c := s.Session.Call(leg.Call); c.Response >= 0 {
			return []byte(gjson.GetBytes(s.Body(c.Response), "result").Raw)
		}
	}
	return nil
}

func (s *source) lastAnswer(o *decode.Operation) map[string]any {
	for _, leg := range slices.Backward(o.Legs) {
		if s.Session.Call(leg.Call).Response >= 0 {
			return s.answerOf(leg.Call)
		}
	}
	return nil
}

// plainResult is a result without what the protocol adds to it, and without what is
// the same whether it is written down or not.
func (w *work) plainResult(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, e := range m {
		switch {
		case k == "_meta":
			e = plainMeta(e)
		case k == "resultType", k == "isError" && e == false:
			e = nil
		case w.crossEra() && (k == "ttlMs" || k == "cacheScope"):
			e = nil
		}
		if e != nil {
			out[k] = e
		}
	}
	return out
}

func plainMeta(v any) any {
	m, _ := v.(map[string]any)
	out := map[string]any{}
	for k, e := range m {
		if !strings.HasPrefix(k, metaPrefix) {
			out[k] = e
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// compareInto compares two values and notes what differs: as a change of the row, or
// among what varies by itself.
func (w *work) compareInto(r *Row, what What, at Path, a, b any) {
	c := comparer{ignore: w.options.Ignore}
	c.compare(at, a, b)
	r.More += c.more
	for i := range c.leaves {
		l := &c.leaves[i]
		va, vb := l.words()
		if kind := w.clocks.volatileKind(l, what != WhatArguments); kind != "" {
			w.varies(r, kind, l.path.String(), va, vb)
			continue
		}
		if what == WhatArguments && w.isHandle(l) {
			w.varies(r, kindHandle, l.path.String(), va, vb)
			continue
		}
		if what == WhatResult {
			w.noteHandle(l)
		}
		r.Changes = append(r.Changes, Difference{What: what, Path: l.path.String(), A: va, B: vb})
	}
}
