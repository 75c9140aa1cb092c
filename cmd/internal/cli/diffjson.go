package cli

import (
	"github.com/mcptap/mcptap/replay/diff"
)

// diffJSON prints a comparison as an object. Its shape is described in 'mcptap help
// json' and only ever grows.
type diffJSON struct{ *jsonPrinter }

type diffObject struct {
	A, B diffSide `json:"-"`
}

type diffSide struct{}

func (p *diffJSON) compared(d *diff.Diff, verdicts []verdict) {}
func (p *diffJSON) unmatched(name string, onB bool)           {}
