package rules

import (
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

// catalogue is the session's, put together once.
func (p *pass) catalogue() *decode.Catalogue {
	if p.cat == nil {
		p.cat = p.Catalogue()
	}
	return p.cat
}

// results visits the client's calls of some methods that were answered with a
// result that is at hand.
func (p *pass) results(r *Rule, visit func(*decode.Call, gjson.Result), methods ...string) {
	p.calls(r, func(c *decode.Call) {
		if c.Dir != tap.C2S || c.Response < 0 || c.HasError() || !slices.Contains(methods, c.Method) {
			return
		}
		if result := p.result(c); result.IsObject() {
			visit(c, result)
		}
	})
}

// refusals visits the calls that were answered with a protocol error.
func (p *pass) refusals(r *Rule, visit func(*decode.Call)) {
	p.calls(r, func(c *decode.Call) {
		if c.Response >= 0 && c.HasError() {
			visit(c)
		}
	})
}

// offers gives what the server declared it can do, by the revision that a message
// is judged by: it does not exist where the capture does not show it.
func (p *pass) offers() func(revision string) gjson.Result {
	of := func(call int) gjson.Result {
		if call < 0 {
			return gjson.Result{}
		}
		c := p.Call(call)
		return p.result(&c).Get("capabilities")
	}
	legacy, modern := of(p.eras.InitCall), of(p.eras.ProbeCall)
	return func(revision string) gjson.Result {
		if revision >= Modern.From {
			return modern
		}
		return legacy
	}
}

// subject is what a call is about, for the words of a finding.
func subject(c *decode.Call) string {
	if c.Name != "" {
		return brief(c.Name)
	}
	return brief(c.Method)
}

// maxBrief is how much text from the outside a finding repeats.
const maxBrief = 80

// brief cuts text from the outside for a finding.
func brief(s string) string {
	if len(s) <= maxBrief {
		return s
	}
	at := maxBrief
	for at > 0 && s[at]&0xC0 == 0x80 {
		at--
	}
	return s[:at] + "…"
}

// notifications visits the notifications of one method that the rule holds for, with
// their params.
func (p *pass) notifications(r *Rule, method string, visit func(*decode.Frame, gjson.Result)) {
	p.frames(r, func(f *decode.Frame) {
		if f.Kind != decode.Notification || f.Method != method {
			return
		}
		if body := p.json(f.Index); body.Exists() {
			visit(f, body.Get("params"))
		}
	})
}

// only25c is the revision with tasks of its own.
var only25c = Span{From: "2025-11-25", To: "2025-11-25"}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// unless gives the fault, or nothing if all is well.
func unless(ok bool, fault string) string {
	if ok {
		return ""
	}
	return fault
}
