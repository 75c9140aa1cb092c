package cli

import (
	"encoding/json"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/charmbracelet/x/ansi"
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/bill"
	"github.com/mcptap/mcptap/replay/claude"
	"github.com/mcptap/mcptap/replay/tidy"
	"github.com/mcptap/mcptap/replay/tokens"
	"github.com/mcptap/mcptap/ui/safetext"
)

// printTidied prints what of the definitions could go.
func (a *app) printTidied(v *rented, asJSON bool) error {
	if asJSON {
		p := newJSONPrinter(a.Stdout)
		for i := range v.Tidied {
			p.encode(tidyObject(v, &v.Tidied[i]))
		}
		return p.flush()
	}
	t := a.table(column{width: 0})
	var untouched []string
	for i := range v.Tidied {
		d := &v.Tidied[i]
		name := v.Ledger.Tools[d.Index].Name
		text := udiff.Unified(name+" as listed", name+" tidied", definitionText(v.Ledger.Tools[d.Index].Raw), definitionText(d.Tidied))
		if text == "" {
			untouched = append(untouched, claude.Shown(name))
			continue
		}
		t.plain(normal, name+": "+v.saves(d).String()+" tokens less in each request that has it")
		t.diff(text)
		t.plain(normal, "")
	}
	if len(untouched) > 0 {
		a.say("%s could stay as they are, as far as this goes: %s", plural(len(untouched), "definition"), strings.Join(untouched, ", "))
	}
	if len(v.Tidied) == 0 {
		a.say("no definition was offered")
	}
	return t.flush()
}

// saves is what the tidied definition takes less.
func (v *rented) saves(d *bill.Tidied) tokens.Count {
	sum := 0
	for _, a := range d.Advice {
		if a.Done {
			sum += a.Tokens
		}
	}
	return v.Less(sum)
}

// definitionText is what the model reads of a definition, for people: line by line.
func definitionText(raw []byte) string {
	d := gjson.ParseBytes(raw)
	var b strings.Builder
	b.WriteString("name: " + d.Get("name").String() + "\ndescription:\n")
	for l := range strings.SplitSeq(d.Get("description").String(), "\n") {
		b.WriteString("  " + l + "\n")
	}
	if schema := d.Get("inputSchema"); json.Valid([]byte(schema.Raw)) {
		b.WriteString("input schema:\n" + string(decode.Indented([]byte(schema.Raw))) + "\n")
	}
	return b.String()
}

// plain prints a line that is no row.
func (t *table) plain(s style, text string) {
	text = safetext.Line(text)
	if t.terminal {
		text = ansi.Wrap(text, t.width, "")
	}
	for l := range strings.SplitSeq(text, "\n") {
		t.write(t.paint(s, l) + "\n")
	}
}

// diff prints a unified diff.
func (t *table) diff(text string) {
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		s := normal
		switch {
		case strings.HasPrefix(l, "-"):
			s = red
		case strings.HasPrefix(l, "+"):
			s = green
		case strings.HasPrefix(l, "@"):
			s = dim
		}
		t.plain(s, l)
	}
}

func tidyObject(v *rented, d *bill.Tidied) tidyJSON {
	def := &v.Ledger.Tools[d.Index]
	o := tidyJSON{def.Server, def.Name, d.Before, d.After, v.saves(d), def.Raw, d.Tidied, []adviceJSON{}}
	for _, a := range d.Advice {
		o.Advice = append(o.Advice, adviceOf(v, &a))
	}
	return o
}

func adviceOf(v *rented, a *tidy.Advice) adviceJSON {
	return adviceJSON{a.Kind, a.Words(), a.Path, a.Places, a.Bytes, v.Less(a.Tokens), a.Done}
}
