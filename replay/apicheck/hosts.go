package apicheck

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mcptap/mcptap/decode/rules"
)

//go:embed hosts.json
var hostsJSON []byte

// A Profile is a host, or the API itself, with the facts that hold for it.
type Profile struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Clients []string `json:"clients"` // what the host calls itself on the wire (clientInfo.name)
	Form    string   `json:"form"`    // of a name as sent, with {server} and {tool}
	Replace bool     `json:"replace"` // the host puts _ for what the API does not take
	Facts   []string `json:"facts"`   // those of one rule: the gravest first
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

// ProfileOf gives the profile of a client by the name that it gives itself: the
// API's if it is not known.
func ProfileOf(client string) *Profile {
	for _, p := range Profiles() {
		for _, c := range p.Clients {
			if strings.EqualFold(c, client) {
				return p
			}
		}
	}
	return Profiles()[0]
}

// Compose gives a tool's name as the host sends it.
func (p *Profile) Compose(server, tool string) string {
	if p.Replace {
		server, tool = replaceOdd(server), replaceOdd(tool)
	}
	return strings.NewReplacer("{server}", server, "{tool}", tool).Replace(p.Form)
}

func replaceOdd(s string) string {
	return strings.Map(func(c rune) rune {
		if taken().has(c) {
			return c
		}
		return '_'
	}, s)
}

// taken is what the API takes in a name.
var taken = sync.OnceValue(func() *alphabet { return alphabetOf("A-Z a-z 0-9 _ -") })

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
