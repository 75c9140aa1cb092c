package diff

import (
	"fmt"

	"github.com/mcptap/mcptap/tap"
)

// A Verdict is what a comparison says on one kind of difference.
type Verdict struct {
	What        Kind
	Differences []string // in words, one each; text from the outside
}

// Kind is a kind of difference that a reader may care about, or not.
type Kind string

// The kinds of differences.
const (
	KindWork     Kind = "work"     // operations on one side only, in another place, with other arguments
	KindBytes    Kind = "bytes"    // what all of it took
	KindOutcome  Kind = "outcome"  // how operations ended
	KindResult   Kind = "result"   // what came back, what a server asked, and what it said unasked
	KindServer   Kind = "server"   // what client and server say of themselves
	KindTools    Kind = "tools"    // definitions of every kind
	KindFindings Kind = "findings" // what breaks the specification
	KindLatency  Kind = "latency"  // of the server
)

// kindOtherwise is how operations ended that were asked for with other arguments: it is
// told, and no kind of its own, since other work may well end otherwise.
const kindOtherwise Kind = "otherwise"

// Kinds are all kinds of differences, in the order of reports.
var Kinds = []Kind{KindWork, KindBytes, KindOutcome, KindResult, KindServer, KindTools, KindFindings, KindLatency}

// Verdicts gathers the differences by kind, one of each kind.
func (d *Diff) Verdicts() (out []Verdict) {
	for _, k := range Kinds {
		out = append(out, Verdict{k, d.differences(k)})
	}
	return out
}

func (d *Diff) differences(k Kind) []string {
	switch k {
	case KindWork:
		return d.workWords()
	case KindBytes:
		return d.bytesWords()
	case KindOutcome, KindResult:
		return d.changeWords(k == KindOutcome)
	case kindOtherwise:
		return d.otherwiseWords()
	}
	return d.asideWords(k)
}

func (d *Diff) bytesWords() []string {
	a, b := d.Bill.A.Total(), d.Bill.B.Total()
	if a == b {
		return nil
	}
	return []string{fmt.Sprintf("%d bytes in A, %d in B (%s)", a, b, percent(b-a, a))}
}

// asideWords tells what is not about one operation.
func (d *Diff) asideWords(k Kind) (words []string) {
	switch k {
	case KindServer:
		for i := range d.Server {
			words = append(words, d.Server[i].String())
		}
	case KindTools:
		for i := range d.Definitions {
			words = append(words, d.Definitions[i].String())
		}
	case KindFindings:
		for i := range d.Findings {
			if f := &d.Findings[i]; f.Reason == "" {
				words = append(words, f.String())
			}
		}
	case KindLatency:
		for i := range d.Times {
			if t := &d.Times[i]; t.Changed && !t.All() {
				words = append(words, t.String())
			}
		}
	}
	return words
}

// workWords tells what is not the same work: what only one side has without a
// reason, what changed places, and what was asked for otherwise. HTTP requests without
// a message are no work, and what a server says unasked is what it does.
func (d *Diff) workWords() (words []string) {
	for i := range d.Rows {
		r := &d.Rows[i]
		switch {
		case r.Kind == RowExchanges || r.unasked():
			continue
		case r.OneSided() && r.Reason == "":
			words = append(words, "only in "+sideName(r.A != nil)+": "+r.Title())
		case r.Moved:
			words = append(words, "in another place: "+r.Title())
		}
		for j := range r.Changes {
			if c := &r.Changes[j]; c.What == WhatArguments {
				words = append(words, "other arguments: "+r.Title()+": "+c.String())
			}
		}
		for j := range r.Details {
			if in := &r.Details[j]; r.lacks(in) && !in.told() {
				words = append(words, in.only(r))
			}
		}
	}
	return words
}

// changeWords tells how what came back differs: how operations ended, or all else.
func (d *Diff) changeWords(outcomes bool) (words []string) {
	for i := range d.Rows {
		r := &d.Rows[i]
		for j := range r.Changes {
			c := &r.Changes[j]
			if c.What != WhatArguments && !r.otherwise() && (c.What == WhatOutcome) == outcomes {
				words = append(words, r.Title()+": "+c.String())
			}
		}
		if outcomes {
			continue
		}
		if r.OneSided() && r.Reason == "" && r.unasked() {
			words = append(words, "only in "+sideName(r.A != nil)+": "+r.Title())
		}
		for j := range r.Details {
			if in := &r.Details[j]; r.lacks(in) && in.told() {
				words = append(words, in.only(r))
			}
		}
	}
	return words
}

// otherwiseWords tells of operations with other arguments which of them ended otherwise.
func (d *Diff) otherwiseWords() (words []string) {
	for i := range d.Rows {
		r := &d.Rows[i]
		for j := range r.Changes {
			if c := &r.Changes[j]; c.What == WhatOutcome && r.otherwise() {
				words = append(words, r.Title()+": "+c.String()+", with other arguments")
			}
		}
	}
	return words
}

// unasked reports messages of a server that belong to no call.
func (r *Row) unasked() bool { return r.Kind == RowMessages && r.Dir == tap.S2C }

// lacks reports a detail that one side of a row of both has, without a reason.
func (r *Row) lacks(in *Inner) bool {
	return !r.OneSided() && (in.A == 0) != (in.B == 0) && in.Reason == ""
}

func (in *Inner) only(r *Row) string {
	return "only in " + sideName(in.A > 0) + ": " + in.What + " of " + r.Title()
}
