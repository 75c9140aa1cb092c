package decode

import "bytes"

// lookEnds is look for a message of which only the ends are at hand. Members that
// lie wholly in the head are found as ever; from the tail it takes the scalar
// members right before the last brace, since those belong to the outermost object.
func lookEnds(head, tail []byte) peek {
	in := trim(head, whole(head))
	if isArray(head, in) {
		return peek{body: head, kind: kindBatch, faults: FaultBatch}
	}
	p := peek{body: head, kind: kindCut}
	if !isObject(head, in) {
		return p
	}
	for w := walk(head, in); w.next(); {
		if w.value.to >= len(head) { // cut here, or nothing after it
			p.take(w.name(), span{w.value.from, len(head)})
			break
		}
		p.take(w.name(), w.value)
	}
	p.takeTail(tail)
	return p.guess()
}

// takeTail joins the tail's members to those of the head, in a body of its own.
func (p *peek) takeTail(tail []byte) {
	from := outermostTail(tail)
	if from < 0 {
		return
	}
	shift := len(p.body)
	joined := append(bytes.Clone(p.body), tail...)
	p.body = joined
	for w := (walker{b: joined, i: shift + from, object: true}); w.next(); {
		if string(w.name()) == "id" && p.id.there() {
			continue
		}
		p.take(w.name(), w.value)
	}
}

// outermostTail gives where the scalar members before the final brace begin, -1
// if there is none.
func outermostTail(tail []byte) int {
	end := len(bytes.TrimRight(tail, " \t\r\n"))
	if end == 0 || tail[end-1] != '}' {
		return -1
	}
	found := -1
	for from := end - 1; from > 0; {
		comma := bytes.LastIndexByte(tail[:from], ',')
		if comma < 0 || !scalarMember(tail[comma+1:from]) {
			break
		}
		found, from = comma, comma
	}
	return found
}

// scalarMember reports whether b is "key":scalar and nothing else.
func scalarMember(b []byte) bool {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '"' {
		return false
	}
	i = skipSpace(b, skipString(b, i))
	if i >= len(b) || b[i] != ':' {
		return false
	}
	i = skipSpace(b, i+1)
	if i >= len(b) || b[i] == '{' || b[i] == '[' {
		return false
	}
	end := skipValue(b, i)
	return end > i && skipSpace(b, end) == len(b)
}

// guess tells the kind by what was seen: it claims nothing that the missing
// middle could overthrow but a second id or method.
func (p *peek) guess() peek {
	p.faults &^= FaultVersion
	switch {
	case p.method.there() && p.id.there():
		p.kind = kindRequest
	case p.method.there() && p.params.there() && p.params.to == len(p.body):
		p.kind = kindCut // the id may follow
	case p.method.there():
		p.kind = kindNotification
	case p.result.there() && p.id.there():
		p.kind = kindResult
	case p.failure.there() && p.id.there():
		p.kind = kindError
	}
	return *p
}
