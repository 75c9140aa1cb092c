package cli

import (
	"github.com/mcptap/mcptap/replay/diff"
	"github.com/mcptap/mcptap/replay/diff/answers"
)

// diffJSON prints a comparison as an object. Its shape is described in 'mcptap help
// json' and only ever grows.
type diffJSON struct{ *jsonPrinter }

type diffObject struct {
	A           diffSide           `json:"a"`
	B           diffSide           `json:"b"`
	Verdicts    []verdictObject    `json:"verdicts"`
	Bytes       map[string]pairSum `json:"bytes"`
	BreakEven   breakEvenObject    `json:"break_even"`
	Rows        []rowObject        `json:"rows"`
	Server      []changeObject     `json:"server"`
	Definitions []definitionObject `json:"definitions"`
	Findings    []diffFinding      `json:"findings"`
	Latency     []latencyObject    `json:"latency"`
	Model       *modelObject       `json:"model"`
	Volatile    []volatileObject   `json:"volatile"`
}

type diffSide struct {
	Session    string `json:"session"`
	Transport  string `json:"transport,omitempty"`
	Era        string `json:"era"`
	Revision   string `json:"revision,omitempty"`
	Client     string `json:"client,omitempty"`
	Server     string `json:"server,omitempty"`
	Operations int    `json:"operations"`
	NotAtHand  int64  `json:"bytes_not_recorded"`
}

type verdictObject struct {
	What        string   `json:"what"`
	Failed      bool     `json:"failed"`
	Differences []string `json:"differences"`
}

// pairSum is what a group of rows, or a part of all frames, costs on either side.
type pairSum struct {
	A int64 `json:"a"`
	B int64 `json:"b"`
}

type breakEvenObject struct {
	Fixed   int64   `json:"fixed"`
	PerCall float64 `json:"per_call"`
	Calls   *int64  `json:"calls"`
	Unknown string  `json:"unknown,omitempty"`
}

type rowObject struct {
	Kind    string         `json:"kind"`
	Dir     string         `json:"dir,omitempty"`
	Method  string         `json:"method"`
	Name    string         `json:"name,omitempty"`
	A       *partObject    `json:"a"`
	B       *partObject    `json:"b"`
	Reason  string         `json:"reason,omitempty"`
	Moved   bool           `json:"moved"`
	Details []detailObject `json:"details"`
	Changes []changeObject `json:"changes"`
	More    int            `json:"more"`
}

type partObject struct {
	N       uint64           `json:"n,omitempty"`
	Count   int              `json:"count"`
	Outcome string           `json:"outcome,omitempty"`
	Took    *int64           `json:"server_ns,omitempty"`
	C2S     map[string]int64 `json:"bytes_c2s"`
	S2C     map[string]int64 `json:"bytes_s2c"`
}

type detailObject struct {
	What   string `json:"what"`
	A      int    `json:"a"`
	B      int    `json:"b"`
	Reason string `json:"reason,omitempty"`
}

type changeObject struct {
	What string `json:"what"`
	Path string `json:"path,omitempty"`
	A    string `json:"a,omitempty"`
	B    string `json:"b,omitempty"`
}

type definitionObject struct {
	Kind    string         `json:"kind"`
	Name    string         `json:"name,omitempty"`
	What    string         `json:"what"`
	Model   bool           `json:"model_reads_it"`
	Changes []changeObject `json:"changes"`
	More    int            `json:"more"`
}

type diffFinding struct {
	Only     string  `json:"only"`
	Rule     string  `json:"rule"`
	Severity string  `json:"severity"`
	Side     string  `json:"side"`
	Frame    *uint64 `json:"frame"`
	Count    int     `json:"count"`
	Words    string  `json:"words"`
	Reason   string  `json:"reason,omitempty"`
}

type latencyObject struct {
	Method  string  `json:"method,omitempty"`
	Name    string  `json:"name,omitempty"`
	CountA  int     `json:"count_a"`
	CountB  int     `json:"count_b"`
	A       int64   `json:"median_a_ns"`
	B       int64   `json:"median_b_ns"`
	Changed bool    `json:"changed"`
	How     string  `json:"how"`
	P       float64 `json:"p"`
}

type modelObject struct {
	A       toolsObject `json:"a"`
	B       toolsObject `json:"b"`
	Holds   bool        `json:"cache_holds"`
	Broken  string      `json:"broken_by,omitempty"`
	Ordinal *int        `json:"broken_at,omitempty"`
}

type toolsObject struct {
	Tools  int     `json:"tools"`
	Bytes  int     `json:"bytes"`
	Tokens *[3]int `json:"tokens,omitempty"`
}

type volatileObject struct {
	Kind   string `json:"kind"`
	Method string `json:"method"`
	Name   string `json:"name,omitempty"`
	Path   string `json:"path"`
	Count  int    `json:"count"`
	A      string `json:"a"`
	B      string `json:"b"`
}

// unmatchedObject is a session that only one of two folders has.
type unmatchedObject struct {
	Session string `json:"session"`
	Only    string `json:"only"`
}

func (p *diffJSON) unmatched(name string, onB, _ bool) {
	p.encode(unmatchedObject{name, answers.Side(!onB)})
}

func (p *diffJSON) compared(d *diff.Diff, verdicts []verdict) {
	o := diffObject{
		A: sideJSON(&d.A), B: sideJSON(&d.B), Bytes: billJSON(&d.Bill), BreakEven: breakEvenJSON(d),
		Rows: mapped(d.Rows, rowJSON), Server: mapped(d.Server, changeJSON), Definitions: mapped(d.Definitions, definitionJSON),
		Findings: mapped(d.Findings, diffFindingJSON), Latency: mapped(d.Times, latencyJSON), Volatile: mapped(d.Volatile, volatileJSON),
		Verdicts: mapped(verdicts, func(v *verdict) verdictObject { return verdictObject{v.what, v.failed, append([]string{}, v.words...)} }),
	}
	if d.Model.Known {
		o.Model = modelJSON(&d.Model)
	}
	p.encode(o)
}

// mapped makes a list of objects, never null.
func mapped[T, U any](in []T, to func(*T) U) []U {
	out := make([]U, len(in))
	for i := range in {
		out[i] = to(&in[i])
	}
	return out
}

func sideJSON(s *diff.About) diffSide {
	return diffSide{s.Name, s.Transport, s.Era.String(), s.Revision, s.Client, s.Server, s.Operations, s.NotAtHand}
}

func billJSON(b *diff.Bill) map[string]pairSum {
	out := map[string]pairSum{"total": {b.A.Total(), b.B.Total()}}
	for name, s := range map[string]*diff.Sum{"opening": &b.Opening, "lists": &b.Lists, "calls": &b.Calls, "other": &b.Other, "one side": &b.Only} {
		out[name] = pairSum{s.A.Total(), s.B.Total()}
	}
	a, bb := b.A.Both(), b.B.Both()
	for name, n := range bytesJSON(&a) {
		out[name] = pairSum{n, out[name].B}
	}
	for name, n := range bytesJSON(&bb) {
		out[name] = pairSum{out[name].A, n}
	}
	return out
}

// bytesJSON names the parts that are not empty, and their sum.
func bytesJSON(b *diff.Bytes) map[string]int64 {
	out := parts(&b.Parts)
	out["total"] = b.Total()
	for name, n := range map[string]int64{"headers": b.Headers, "framing": b.Framing, "not recorded": b.NotAtHand} {
		if n != 0 {
			out[name] = n
		}
	}
	return out
}

func breakEvenJSON(d *diff.Diff) breakEvenObject {
	e := d.BreakEven()
	o := breakEvenObject{Fixed: e.Fixed, PerCall: e.PerCall, Unknown: e.Unknown}
	if e.Unknown == "" && e.Calls >= 0 {
		o.Calls = &e.Calls
	}
	return o
}

func rowJSON(r *diff.Row) rowObject {
	o := rowObject{
		Kind: r.Kind.String(), Method: r.Method, Name: r.Name, A: partJSON(r, r.A), B: partJSON(r, r.B), Reason: r.Reason, Moved: r.Moved, More: r.More,
		Details: mapped(r.Details, func(i *diff.Inner) detailObject { return detailObject(*i) }), Changes: mapped(r.Changes, changeJSON),
	}
	if r.Kind == diff.RowOperation || r.Kind == diff.RowMessages {
		o.Dir = r.Dir.String()
	}
	return o
}

func partJSON(r *diff.Row, p *diff.Part) *partObject {
	if p == nil {
		return nil
	}
	o := &partObject{N: p.N, Count: p.Count, C2S: bytesJSON(&p.Bytes.C2S), S2C: bytesJSON(&p.Bytes.S2C)}
	if r.Kind == diff.RowOperation || r.Kind == diff.RowOpening {
		o.Outcome = p.Outcome.String()
	}
	if p.Took >= 0 {
		ns := int64(p.Took)
		o.Took = &ns
	}
	return o
}

func changeJSON(c *diff.Difference) changeObject {
	return changeObject{string(c.What), c.Path, c.A, c.B}
}

func definitionJSON(f *diff.Definition) definitionObject {
	return definitionObject{answers.Noun(f.Kind), f.Name, string(f.What), f.Model, mapped(f.Changes, changeJSON), f.More}
}

func diffFindingJSON(f *diff.Finding) diffFinding {
	o := diffFinding{Only: answers.Side(!f.OnB), Rule: f.Rule.ID, Severity: f.Rule.Severity.String(), Side: f.Side.String(), Count: f.Count, Words: f.Words, Reason: f.Reason}
	if f.N > 0 {
		o.Frame = &f.N
	}
	return o
}

func latencyJSON(t *diff.Times) latencyObject {
	return latencyObject{t.Method, t.Name, t.CountA, t.CountB, int64(t.A), int64(t.B), t.Changed, t.How, t.P}
}

func modelJSON(m *diff.Model) *modelObject {
	o := &modelObject{A: toolsJSON(&m.A), B: toolsJSON(&m.B), Holds: m.Same, Broken: m.Broken}
	if !m.Same {
		o.Ordinal = &m.At
	}
	return o
}

func toolsJSON(t *diff.Tools) toolsObject {
	o := toolsObject{Tools: t.Count, Bytes: t.Bytes}
	if t.High > 0 {
		o.Tokens = &[3]int{t.Low, t.Mid, t.High}
	}
	return o
}

func volatileJSON(v *diff.Volatile) volatileObject {
	return volatileObject{v.Kind, v.Method, v.Name, v.Path, v.Count, v.A, v.B}
}
