package apicheck

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/replay/claude"
)

//go:embed hosts.json
var hostsJSON []byte

// A Profile is a host, or the API itself, with the facts that hold for it. Names are
// composed, and clients known, as package claude does it.
type Profile struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Facts []string `json:"facts"` // those of one rule: the gravest first

	host *claude.Profile // nil: names are sent as the server gave them
}

// A Fact is something that somebody does to definitions of a kind.
type Fact struct {
	Rule         string   `json:"rule"`
	Grade        string   `json:"severity"`
	Who          string   `json:"who"`
	Does         string   `json:"does"`
	Alphabet     string   `json:"alphabet"` // ranges and characters, apart by spaces
	Max          int      `json:"max"`
	Instructions bool     `json:"instructions"` // it is about a server's instructions too
	Bare         bool     `json:"bare"`         // it is about the name without what the host adds
	Composed     bool     `json:"composed"`     // it is about the name with all that the host makes of it
	Pair         bool     `json:"pair"`         // it is about the server's and the tool's name together
	Kinds        []string `json:"kinds"`        // of references
	From         string   `json:"from"`         // first and last day on which it was seen
	To           string   `json:"to"`
	Documented   bool     `json:"documented"`
	Inferred     bool     `json:"inferred"` // nobody has reported it
	Evidence     []string `json:"evidence"`
}

type hosts struct {
	Date     string           `json:"date"`
	Profiles []*Profile       `json:"profiles"`
	Facts    map[string]*Fact `json:"facts"`
}

// Read when they are needed: the tap's start does not wait for them.
var known = sync.OnceValue(func() (h hosts) {
	if err := json.Unmarshal(hostsJSON, &h); err != nil {
		panic("apicheck: hosts.json: " + err.Error()) // a mistake of ours, found by any test
	}
	for _, p := range h.Profiles {
		p.host, _ = claude.Builtin().Get(p.Name)
	}
	return h
})

// Date is the day from which the facts are (YYYY-MM-DD).
func Date() string { return known().Date }

// Profiles gives all profiles; the first is the API's.
func Profiles() []*Profile { return known().Profiles }

// Named gives the profile with a name.
func Named(name string) (*Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return nil, false
}

// For gives the profile of a host that package claude knows: of one without facts of
// its own those of the API, with names as that host makes them.
func For(h *claude.Profile) *Profile {
	if p, ok := Named(h.ID); ok {
		return p
	}
	own := *Profiles()[0]
	own.Name, own.Title, own.host = h.ID, h.Title, h
	return &own
}

// ProfileOf gives the profile of a client by the name that it gives itself: the
// API's if it is not known.
func ProfileOf(client string) *Profile {
	if h := claude.Builtin().ByClient(client); h != nil {
		return For(h)
	}
	return Profiles()[0]
}

// Compose gives a tool's name as the host sends it.
func (p *Profile) Compose(server, tool string) string {
	if p.host == nil {
		return tool
	}
	n := p.host.Compose(server, tool)
	return n.Judged()
}

// An alphabet is a set of ASCII characters.
type alphabet [128]bool

// alphabetOf reads ranges and characters such as "a-z _ -".
func alphabetOf(s string) *alphabet {
	var a alphabet
	for part := range strings.FieldsSeq(s) {
		for c := part[0]; c <= part[len(part)-1] && c < 128; c++ {
			a[c] = true
		}
	}
	return &a
}

func (a *alphabet) has(c rune) bool { return c >= 0 && c < 128 && a[c] }

// Severity is the fact's severity.
func (f *Fact) Severity() rules.Severity {
	switch f.Grade {
	case "error":
		return rules.Error
	case "warning":
		return rules.Warning
	}
	return rules.Info
}

// When says when it was seen, and how; empty for what needs no evidence.
func (f *Fact) When() string {
	how := "observed"
	switch {
	case f.To == "":
		return ""
	case f.Inferred:
		return "inferred, as of " + f.To
	case f.Documented:
		how = "documented"
	}
	if f.From == f.To {
		return how + ", as of " + f.To
	}
	return fmt.Sprintf("%s, %s to %s", how, f.From, f.To)
}
