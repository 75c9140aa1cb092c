package diff

import "github.com/mcptap/mcptap/decode"

// A Line is one line of an account: the bytes that one thing took on either side, by
// direction.
type Line struct {
	Name         string
	UpA, UpB     int64 // from client to server
	DownA, DownB int64
	Part         bool // it is a part of the line before it that is none
}

// A is both directions together.
func (l *Line) A() int64 { return l.UpA + l.DownA }

// B is both directions together.
func (l *Line) B() int64 { return l.UpB + l.DownB }

func (l *Line) empty() bool { return l.UpA|l.UpB|l.DownA|l.DownB == 0 }

// Lines accounts for a cost of either side by what it was spent on: the parts of
// frames as decode has them, the heads of HTTP and what of them was spent on which
// header, the framing of events, and what is not in the recording. Lines without
// bytes are left out; those that are no Part add up to the total.
func Lines(a, b *Cost) (out []Line) {
	add := func(name string, part bool, of func(*Bytes) int64) {
		l := Line{name, of(&a.C2S), of(&b.C2S), of(&a.S2C), of(&b.S2C), part}
		if !l.empty() {
			out = append(out, l)
		}
	}
	for p := range decode.NumParts {
		add(p.String(), false, func(x *Bytes) int64 { return x.Parts[p] })
	}
	add("not in the recording", false, func(x *Bytes) int64 { return x.NotAtHand })
	add("http heads", false, func(x *Bytes) int64 { return x.Heads.Total() })
	for p := range NumHeadParts {
		add(p.String(), true, func(x *Bytes) int64 { return x.Heads[p] })
	}
	add("event framing", false, func(x *Bytes) int64 { return x.Framing })
	return out
}

// Lines accounts for one row.
func (r *Row) Lines() []Line {
	var a, b Cost
	if r.A != nil {
		a = r.A.Bytes
	}
	if r.B != nil {
		b = r.B.Bytes
	}
	return Lines(&a, &b)
}

// Groups accounts for all that crossed by the part of the session.
func (b *Bill) Groups() (out []Line) {
	for _, s := range []struct {
		name string
		sum  *Sum
	}{{"opening", &b.Opening}, {"lists on both sides", &b.Lists}, {"calls on both sides", &b.Calls}, {"requests without a message", &b.Web}, {"subscriptions", &b.Subscriptions},
		{"other things on both sides", &b.Other}, {"other things on one side", &b.Only}} {
		if l := totals(s.name, &s.sum.A, &s.sum.B); !l.empty() {
			out = append(out, l)
		}
	}
	return out
}

// Total is the line that sums up.
func (b *Bill) Total() Line { return totals("total", &b.A, &b.B) }

func totals(name string, a, b *Cost) Line {
	return Line{Name: name, UpA: a.C2S.Total(), UpB: b.C2S.Total(), DownA: a.S2C.Total(), DownB: b.S2C.Total()}
}
