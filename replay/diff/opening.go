package diff

import (
	"github.com/mcptap/mcptap/decode"
)

// opened is how a session was opened: the answer that counts, and what the client
// said of itself.
type opened struct {
	part   *Part
	steps  map[string]int
	answer map[string]any // result of initialize, else of server/discover
	client map[string]any
}

// steps of an opening, in order.
var openingSteps = []string{"server/discover", "initialize", "notifications/initialized"}

// opening compares handshake or discovery with handshake or discovery.
func (w *work) opening() {
	a, b := w.a.open(), w.b.open()
	if a.part == nil && b.part == nil {
		return
	}
	r := Row{Kind: RowOpening, Method: "opening", A: a.part, B: b.part}
	for _, step := range openingSteps {
		if na, nb := a.steps[step], b.steps[step]; na+nb > 0 {
			in := Inner{What: step, A: na, B: nb}
			if na == 0 || nb == 0 {
				in.Reason = w.methodReason(step, na == 0)
			}
			r.Details = append(r.Details, in)
		}
	}
	switch {
	case r.OneSided():
		r.Reason = "the other capture has no opening: another process was probed, or it began late"
	case a.part.Outcome != b.part.Outcome:
		r.Changes = append(r.Changes, outcomeChange(a.part, b.part))
	}
	w.row(r, place{-1, -1, 0})
	w.compareServers(a.answer, b.answer)
	w.compareClients(a.client, b.client)
}

func outcomeChange(a, b *Part) Difference {
	return Difference{What: WhatOutcome, A: outcomeWords(a), B: outcomeWords(b)}
}

// open takes the calls and messages that open a session.
func (s *source) open() opened {
	o := opened{steps: map[string]int{}}
	if s.Probe != nil {
		o.probe(newSource(*s.Probe))
	}
	for _, c := range []int{s.eras.ProbeCall, s.eras.InitCall} {
		if c >= 0 {
			o.take(s, c)
		}
	}
	for i := range s.Session.Len() {
		f := s.Session.Frame(i)
		if f.Method != "notifications/initialized" || f.Kind != decode.Notification || s.charged[i] {
			continue
		}
		if o.part == nil {
			o.part = &Part{Call: -1, N: f.N, Took: -1, Outcome: decode.OK}
		}
		o.steps[f.Method]++
		s.pay(o.part, i)
		break
	}
	return o
}

// probe takes the probe process: all of it is opening. Its frames are not the
// session's, and are not listed.
func (o *opened) probe(p *source) {
	if p.eras.ProbeCall < 0 {
		return
	}
	o.take(p, p.eras.ProbeCall)
	for i := range p.Session.Len() {
		p.pay(o.part, i)
	}
	for i := range p.exchanged {
		p.payExchange(o.part, i)
	}
	o.part.Call, o.part.N, o.part.Frames, o.part.Exchanges = -1, 0, nil, nil
}

// take adds one call of the opening. What the session goes by is the answer to the
// last one that succeeded.
func (o *opened) take(s *source, call int) {
	op := s.Session.Operation(call)
	if s.calls[call] {
		return
	}
	s.claim(&op)
	p := s.part(&op)
	o.steps[op.Method]++
	if r, ok := s.answerOf(call)["result"].(map[string]any); ok {
		o.answer = r
	}
	if params, ok := s.params(call); ok {
		o.client = clientOf(params)
	}
	if o.part == nil {
		o.part = p
		return
	}
	o.part.Frames = append(o.part.Frames, p.Frames...)
	o.part.Exchanges = append(o.part.Exchanges, p.Exchanges...)
	o.part.Count += p.Count
	o.part.Bytes.Add(&p.Bytes)
	o.part.Took = -1 // a probe that failed and a handshake are no one latency
	o.part.Outcome, o.part.Code = p.Outcome, p.Code
}

// answerOf is the whole response to a call; empty if there is none.
func (s *source) answerOf(call int) map[string]any {
	c := s.Session.Call(call)
	if c.Response < 0 {
		return nil
	}
	body, _ := parse(s.Body(c.Response))
	return s.messageOf(body, call, true)
}

const metaPrefix = "io.modelcontextprotocol/"

// clientOf is what a client says of itself, by the names of either era.
func clientOf(params map[string]any) map[string]any {
	meta, _ := params["_meta"].(map[string]any)
	return some(map[string]any{
		"clientInfo":   either(params["clientInfo"], meta[metaPrefix+"clientInfo"]),
		"capabilities": offered(either(params["capabilities"], meta[metaPrefix+"clientCapabilities"])),
	})
}

// serverOf is what a server says of itself, by the names of either era. Which
// revisions it offers is told by server/discover only.
func serverOf(result map[string]any) map[string]any {
	meta, _ := result["_meta"].(map[string]any)
	return some(map[string]any{
		"serverInfo":   either(result["serverInfo"], meta[metaPrefix+"serverInfo"]),
		"capabilities": offered(result["capabilities"]),
		"instructions": result["instructions"],
	})
}

// offered leaves out what a capability says no to: not to name it says the same.
func offered(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, e := range m {
		if e != false {
			out[k] = offered(e)
		}
	}
	return out
}

func either(a, b any) any {
	if a != nil {
		return a
	}
	return b
}

// some leaves out what is not there.
func some(m map[string]any) map[string]any {
	for k, v := range m {
		if v == nil {
			delete(m, k)
		}
	}
	return m
}

func (w *work) compareServers(a, b map[string]any) {
	if a == nil || b == nil {
		return
	}
	sa, sb := serverOf(a), serverOf(b)
	if !w.crossEra() { // what each era has for itself differs by definition
		for _, k := range []string{"supportedVersions", "protocolVersion"} {
			sa[k], sb[k] = a[k], b[k]
		}
	}
	w.compareEnds(WhatServer, some(sa), some(sb))
}

func (w *work) compareClients(a, b map[string]any) {
	if a != nil && b != nil {
		w.compareEnds(WhatClient, a, b)
	}
}

func (w *work) compareEnds(what What, a, b map[string]any) {
	c := comparer{ignore: w.options.Ignore}
	c.compare(Path{}.member(string(what)), a, b)
	for i := range c.leaves {
		l := &c.leaves[i]
		va, vb := l.words()
		w.d.Server = append(w.d.Server, Difference{What: what, Path: l.path.String(), A: va, B: vb})
	}
}
