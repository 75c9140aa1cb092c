// Package httpscript writes HTTP exchanges in short, for tests: a line a record.
//
//	POST 1 /mcp MODERN:tools/call:add | X: y   the head of request 1 (any verb)
//	200 1 SSE | X: y                           the head of its answer
//	>1 BODY                                    the body of request 1
//	<1 BODY                                    the body of its answer
//	~1 id=7 event=e retry=9 comments=2 BODY    an event of its stream; id= is an empty id
//	.1 server WHY                              its end: server, client, broken or tap
//
// Of headers, MODERN:method:name and LEGACY:revision stand for what clients of the two
// eras send, SESSION:x for an Mcp-Session-Id, SSE and JSON for a Content-Type. A body
// may use {V2 for {"jsonrpc":"2.0", and META for the _meta of a modern request.
package httpscript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcptap/mcptap/tap"
)

// Meta is what META stands for.
const Meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}`

// Expand writes a body in full.
func Expand(body string) string {
	return strings.ReplaceAll(strings.ReplaceAll(body, "{V2", `{"jsonrpc":"2.0"`), "META", Meta)
}

// Line gives the record of one line, with number n and time now; ok is false for a
// line that is not of this package.
func Line(line string, n uint64, now time.Duration) (rec tap.Record, ok bool) {
	mark, rest, _ := strings.Cut(line, " ")
	if mark == "" {
		return rec, false
	}
	x, isMark := number(mark[1:])
	switch {
	case isMark && (mark[0] == '>' || mark[0] == '<' || mark[0] == '~'):
		rec = frame(mark[0], x, rest, n, now)
	case isMark && mark[0] == '.':
		by, why, _ := strings.Cut(rest, " ")
		rec.HTTP = &tap.Exchange{Phase: tap.PhaseEnd, Exchange: x, By: by, Error: why}
	default:
		which, rest, _ := strings.Cut(rest, " ")
		if x, isMark = number(which); !isMark {
			return rec, false
		}
		rec.HTTP = head(mark, x, rest)
	}
	if rec.HTTP != nil {
		rec.HTTP.N, rec.HTTP.Time = n, now
	}
	rec.Place(n, now)
	return rec, true
}

func number(s string) (uint32, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err == nil && n > 0
}

func head(mark string, x uint32, rest string) *tap.Exchange {
	m := &tap.Exchange{Exchange: x}
	if status, err := strconv.Atoi(mark); err == nil {
		m.Phase, m.Status, m.Headers = tap.PhaseResponse, status, headers(rest)
	} else {
		target, rest, _ := strings.Cut(rest, " ")
		m.Phase, m.Method, m.Target, m.Client, m.Headers = tap.PhaseRequest, mark, target, "127.0.0.1:50000", headers(rest)
		for _, h := range m.Headers {
			if h[0] == "Client" {
				m.Client = h[1]
			}
		}
	}
	m.Bytes = 100
	return m
}

const (
	jsonType = "application/json"
	both     = "application/json, text/event-stream"
)

func headers(text string) (out [][2]string) {
	add := func(pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, [2]string{pairs[i], pairs[i+1]})
		}
	}
	for h := range strings.SplitSeq(text, " | ") {
		kind, value, _ := strings.Cut(h, ":")
		switch kind {
		case "":
		case "MODERN":
			method, name, named := strings.Cut(value, ":")
			add("Content-Type", jsonType, "Accept", both, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method)
			if named {
				add("Mcp-Name", name)
			}
		case "LEGACY":
			add("Content-Type", jsonType, "Accept", both, "MCP-Protocol-Version", value)
		case "SESSION":
			add("Mcp-Session-Id", "«redacted:"+value+"»")
		case "SSE":
			add("Content-Type", "text/event-stream", "X-Accel-Buffering", "no")
		case "JSON":
			add("Content-Type", jsonType)
		default:
			add(kind, strings.TrimPrefix(value, " "))
		}
	}
	return out
}

func frame(mark byte, x uint32, rest string, n uint64, now time.Duration) (rec tap.Record) {
	f := &tap.Frame{N: n, Time: now, Dir: tap.S2C, EOL: tap.NoEOL, HTTP: &tap.Carriage{Exchange: x}}
	switch mark {
	case '>':
		f.Dir = tap.C2S
	case '~':
		f.SSE = new(tap.SSE)
		rest = fields(f.SSE, rest)
	}
	if masked, ok := strings.CutPrefix(rest, "MASKED "); ok {
		f.HTTP.Masked, rest = true, masked
	}
	f.Body = []byte(Expand(rest))
	f.JSON = json.Valid(f.Body) && utf8.Valid(f.Body)
	if f.SSE != nil {
		wire := int64(len(f.Body)) + int64(len("data: \n\n"))
		if f.SSE.Event == "endpoint" || rest == "" {
			rec.HTTP = &tap.Exchange{Exchange: x, Phase: tap.PhaseEvent, SSE: f.SSE, Data: rest, Wire: wire}
			return rec
		}
		f.HTTP.Wire = wire
	}
	rec.Frame = f
	return rec
}

func fields(e *tap.SSE, rest string) string {
	for {
		word, after, _ := strings.Cut(rest, " ")
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "id":
			e.ID = &value
		case "event":
			e.Event = value
		case "retry":
			e.Retry = value
		case "comments":
			e.Comments, _ = strconv.Atoi(value)
		default:
			return rest
		}
		rest = after
	}
}

// Records gives the records of a text, a millisecond apart.
func Records(text string) (out []tap.Record, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		n := uint64(len(out) + 1)
		rec, ok := Line(line, n, time.Duration(n)*time.Millisecond)
		if !ok {
			return nil, fmt.Errorf("not a line of an exchange: %q", line)
		}
		out = append(out, rec)
	}
	return out, nil
}
