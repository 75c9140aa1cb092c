package ui

import (
	"slices"
	"strings"

	"github.com/mcptap/mcptap/replay/bill"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/cost"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/replay/rent"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/ui/draw"
)

// rentReview is what a session's tools and answers cost, as plain values.
type rentReview struct {
	host, confidence, asOf  string
	sessions, turns, calls  int
	offered                 int // tools of the newest request
	left                    int // tools that were listed and are not in it
	sent, other             *rent.Rent
	otherName               string
	carried                 tokens.Count // by the newest request
	deferring               string
	tools                   []rentTool
	lines                   []rentLine
	columns                 []column // of what is carried along, as wide as what is in them
	longest, longestCarried int      // cells of the longest name of a tool, and of what is carried along
	weights                 []requestWeight
}

// rentTool is a definition and what it costs. Its texts are from the outside.
type rentTool struct {
	server, name               string
	calls, turns               int
	each                       tokens.Count // in a request that holds it
	label, words, schema, rest tokens.Count // the parts of that: rest is what stands around the others
	all                        tokens.Count // in all requests
	deferred                   bool         // until a search finds it
	frame                      int
	pointer                    string // of it in the frame
}

// rentLine is a row below the tools: a sentence, or a row of a table of texts that are
// carried along or of tools that are left out.
type rentLine struct {
	sentence
	carried *carriedText
	left    *leftTool
	names   bool // of the columns of what is carried along
}

// carriedText is a text that requests carry along. Its name is from the outside.
type carriedText struct {
	what, name  string
	bytes       int
	each, total tokens.Count
	reads       int
	n           uint64 // number of its frame; 0 if it has none
	where       string // the frame in words
}

// requestWeight is what one request takes.
type requestWeight struct {
	turn  int
	tools int // tokens of definitions
	total tokens.Count
}

// Bounds of what is worked out: requests to weigh, answers to list.
const (
	maxWeights = 200
	maxCarried = 50
	maxMisses  = 20
)

func reviewRent(e *env, path string, others bool) (*review, error) {
	r, err := readBook(e, path, others)
	if err != nil {
		return nil, err
	}
	defer r.close()
	l := ledger.Of(r.book, r.meter)
	b, err := bill.Of(bill.Options{Book: r.book, Ledger: l, Meter: r.meter, Table: r.table, Day: e.Now()})
	if err != nil {
		return nil, err
	}
	host, _ := r.book.Profile()
	v := &rentReview{host: host.ID, confidence: host.Confidence, asOf: string(b.Report.AsOf), sessions: len(r.loaded), turns: b.Report.Turns,
		calls: len(b.Line.Calls), offered: len(b.Newest()), left: len(b.Ledger.LeftOut), sent: &b.Report.Sent, carried: b.CarriedNow(), deferring: b.DeferringWords()}
	v.other, v.otherName = b.Other()
	v.otherName = strings.Replace(v.otherName, "loaded up front", "up front", 1) // a column has no room for more
	v.tools, v.lines, v.weights = rentTools(b), rentLines(b), r.weights(b.Report.Turns)
	v.columns = carriedWidths(v.lines)
	for i := range v.tools {
		v.longest = max(v.longest, draw.Width(draw.Safe(v.tools[i].server+" "+v.tools[i].name, maxTable)))
	}
	for i := range v.lines {
		if c := v.lines[i].carried; c != nil {
			v.longestCarried = max(v.longestCarried, draw.Width(draw.Safe(c.name, maxTable)))
		}
	}
	return &review{rent: v, frames: r.loaded[0].Len()}, nil
}

// hereOnly is a frame of the session on the screen; -1 for one of another session.
func hereOnly(session, frame int) int {
	if session != 0 {
		return -1
	}
	return frame
}

func rentTools(b *bill.Bill) (out []rentTool) {
	for _, i := range b.Dearest() {
		sent, up, d := &b.Report.Sent.Tools[i], &b.Report.Upfront.Tools[i], &b.Ledger.Tools[i]
		t := rentTool{name: d.Bare, calls: sent.Calls, turns: sent.Turns, each: up.PerTurn,
			label: up.Parts.Name, words: up.Parts.Description, schema: up.Parts.Schema, rest: up.Parts.Wrapper, all: sent.Session, deferred: d.Deferred, frame: hereOnly(d.From.Session, d.From.Frame), pointer: d.From.Path}
		if len(b.Report.Sent.Servers) > 1 {
			t.server = d.Server
		}
		out = append(out, t)
	}
	return out
}

// rentLines are the rows below the tools: what is left out, how it could be less, what
// broke the cache, what is carried along, and what all that rests on.
func rentLines(b *bill.Bill) (out []rentLine) {
	section := func(name string, lines []rentLine) {
		if len(lines) == 0 {
			return
		}
		out = append(append(out, rentLine{sentence: sentence{frame: -1, section: name}}), rentLine{sentence: sentence{head: true, text: name, frame: -1, section: name}})
		for i := range lines {
			lines[i].section = name
		}
		out = append(out, lines...)
	}
	section("left out of the requests, or held back", leftLines(b))
	section("how a request could be less", said(adviceLines(b)))
	section("where the cache had to be paid again", said(missLines(b)))
	section("carried along from request to request, the heaviest first", carriedLines(b))
	var doubts []sentence
	for _, d := range slices.Concat(b.Ledger.Doubts, b.Report.Doubts) {
		doubts = append(doubts, sentence{text: d, frame: -1})
	}
	section("what these numbers rest on", said(doubts))
	return out
}

func said(all []sentence) (out []rentLine) {
	for _, s := range all {
		out = append(out, rentLine{sentence: s})
	}
	return out
}

// leftLines are the tools that were listed and that the model does not get, or not at
// once, and why.
func leftLines(b *bill.Bill) (out []rentLine) {
	left := leftTools(b.Ledger.LeftOut)
	for i := range left {
		out = append(out, rentLine{sentence: sentence{text: left[i].name + ": " + left[i].why, frame: left[i].frame}, left: &left[i]})
	}
	var held []string
	for _, i := range b.Newest() {
		if b.Ledger.Tools[i].Deferred {
			held = append(held, b.ToolName(i))
		}
	}
	if len(held) > 0 {
		knows := "the model has only the name"
		if b.Book.Loading() == claude.LoadDeferredHidden {
			knows = "the model has not even the name"
		}
		out = append(out, rentLine{sentence: sentence{text: "held back until a search finds them, before that " + knows + ": " + strings.Join(held, ", "), frame: -1}})
	}
	for _, t := range b.Book.Request(b.Book.Turns()).Tools {
		for _, n := range t.Notes {
			if n.Kind == claude.NoteGuess {
				out = append(out, rentLine{sentence: sentence{text: claude.Shown(t.Name.Tool) + ": " + n.Words, warn: true, frame: -1}})
			}
		}
	}
	return out
}

func adviceLines(b *bill.Bill) (out []sentence) {
	var never tokens.Count
	var names []string
	for _, i := range b.Report.Unused {
		names, never = append(names, b.ToolName(i)), never.Plus(b.Report.Upfront.Tools[i].PerTurn)
	}
	if len(names) > 0 && len(b.Line.Calls) > 0 {
		out = append(out, sentence{count: never.Short(), text: "never called, could be left out: " + strings.Join(names, ", "), frame: -1})
	}
	for i := range b.Savings {
		s := &b.Savings[i]
		out = append(out, sentence{count: s.Saves.Short(), text: s.Words + ": " + plural(s.Places, "place") + ", in " + strings.Join(s.Tools, ", "), frame: -1})
	}
	return out
}

func missLines(b *bill.Bill) (out []sentence) {
	for _, mode := range []cost.Mode{cost.FiveMinutes, cost.OneHour} {
		misses := b.Report.Sent.Misses[mode]
		for i := range misses[:min(len(misses), maxMisses)] {
			m := &misses[i]
			line := sentence{count: b.Again(m).Short(), text: mode.String() + ": " + b.MissWords(m), warn: true, frame: -1}
			if from := b.Ledger.Lists[m.Turn]; m.Reason == cost.Changed && len(from) > 0 {
				line.frame = hereOnly(from[0].Session, from[0].Frame)
			}
			out = append(out, line)
		}
	}
	return out
}

// carriedWhat are the kinds of texts that are carried along, for people.
var carriedWhat = map[rent.Kind]string{rent.Arguments: "tool call", rent.Result: "tool answer", rent.Instructions: "instructions"}

func carriedLines(b *bill.Bill) (out []rentLine) {
	order := b.Heaviest()
	if len(order) == 0 {
		return nil
	}
	out = append(out, rentLine{sentence: sentence{frame: -1}, names: true})
	for _, i := range order[:min(len(order), maxCarried)] {
		c, from := &b.Report.Sent.Carried[i], b.Ledger.Carried[i].Frame
		t := &carriedText{what: carriedWhat[c.Kind], name: c.Label, bytes: c.Bytes, each: c.Tokens, total: c.Session, reads: c.Reads}
		if call := b.Ledger.Carried[i].Call; call >= 0 {
			t.name = b.Line.Calls[call].Tool
		}
		if from.Frame >= 0 {
			t.n, t.where = b.Line.Number(from), b.Line.Label(from)
		}
		out = append(out, rentLine{sentence: sentence{frame: hereOnly(from.Session, from.Frame)}, carried: t})
	}
	if more := len(order) - maxCarried; more > 0 {
		out = append(out, rentLine{sentence: sentence{text: "and " + itoa(more) + " more, which took less", frame: -1}})
	}
	return out
}

// weights weighs the requests; of very many, some at even distances.
func (r *reading) weights(requests int) (out []requestWeight) {
	last := requests - 1 // the n-th request is the one after turn n-1
	n := min(requests, maxWeights)
	for i := range n {
		turn := last
		if n > 1 {
			turn = i * last / (n - 1)
		}
		sum := r.meter.Request(r.book.Request(turn))
		out = append(out, requestWeight{turn + 1, bill.Middle(sum.Tools.Plus(sum.Preamble)), sum.Total})
	}
	return out
}
