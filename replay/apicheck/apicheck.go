package apicheck

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/replay/internal/jsontree"
)

// A Tool is one definition.
type Tool struct {
	Server      string // as the host's configuration calls it
	Name        string // as the server calls it
	Description string
	Schema      []byte // inputSchema; nil if there is none
	Output      []byte // outputSchema; nil if there is none
}

// A Rule is one kind of thing that somebody refuses.
type Rule struct {
	ID    string
	Title string // what should be

	check func(*checker, *Fact)
}

// A Finding is a definition that somebody refuses, cuts or loses.
type Finding struct {
	Rule     *Rule
	Fact     *Fact
	Severity rules.Severity
	Tool     int    // index; -1 if it is about all of them, or about the server
	Name     string // of the tool, as the server calls it; text from the outside
	What     string // what is wrong; may hold text from the outside
	Path     string // JSON pointer into the definition; empty if it is about all of them
}

// Rules gives every rule, in the order of their ids.
func Rules() []*Rule {
	all := make([]*Rule, len(ruleTable))
	for i := range ruleTable {
		all[i] = &ruleTable[i]
	}
	return all
}

var ruleTable = []Rule{
	{"API-01", "a tool's name has characters that are taken", checkCharacters},
	{"API-02", "a tool's name is short enough, with all that a host puts before it", checkLength},
	{"API-03", "names differ in the request", checkUnique},
	{"API-04", "an input schema has no combinators at its root", checkCombinators},
	{"API-05", `an input schema is an object with type "object"`, checkRootType},
	{"API-06", `an output schema is an object with type "object"`, checkOutputType},
	{"API-07", "the names of arguments have characters that are taken, and are short enough", checkPropertyKeys},
	{"API-08", "an input schema is valid as draft 2020-12", checkDraft},
	{"API-09", "an input schema stands alone", checkReferences},
	{"API-10", "an input schema has no keywords that mean nothing any more", checkOldKeywords},
	{"API-11", "an array says what its items are", checkArrayItems},
	{"API-12", "descriptions and instructions are short enough to be read whole", checkDescription},
	{"API-13", "there are not too many tools", checkCount},
	{"API-14", "all definitions together fit into a request", checkBody},
	{"API-15", "a schema can be looked at", nil}, // the last one: of Check itself
}

// Bounds of what is looked at.
const (
	maxSchema   = 256 << 10 // bytes
	maxFindings = 1000      // more say nothing new
)

// unseen is the fact of what is not looked at.
var unseen = &Fact{Rule: "API-15", Who: "mcptap", Does: "does not look at it", Grade: "info"}

// checker is one run.
type checker struct {
	tools   []Tool
	names   []string         // as sent
	schemas []*jsontree.Node // parsed; nil if there is none
	rule    *Rule            // that is being checked
	found   []Finding
	seen    map[string]bool
}

// Check judges definitions for a profile, by the names that its host makes. The
// findings come in the order of the tools.
func Check(tools []Tool, p *Profile) []Finding {
	c := &checker{tools: tools, seen: map[string]bool{}}
	c.rule = &ruleTable[len(ruleTable)-1]
	for i := range tools {
		c.names = append(c.names, p.Compose(tools[i].Server, tools[i].Name))
		c.schemas = append(c.schemas, c.parse(i))
	}
	for _, key := range p.Facts {
		fact := known().Facts[key]
		for i := range ruleTable {
			if c.rule = &ruleTable[i]; c.rule.ID == fact.Rule {
				c.rule.check(c, fact)
			}
		}
	}
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
	return c.found
}

// Instructions judges what a server says about itself when a session begins.
func Instructions(text string, p *Profile) []Finding {
	c := &checker{seen: map[string]bool{}}
	for i := range ruleTable {
		c.rule = &ruleTable[i]
		for _, key := range p.Facts {
			if fact := known().Facts[key]; fact.Instructions && fact.Rule == c.rule.ID {
				checkInstructions(c, fact, text)
			}
		}
	}
	return c.found
}

func (c *checker) parse(tool int) *jsontree.Node {
	raw := c.tools[tool].Schema
	if raw == nil {
		return nil
	}
	if len(raw) > maxSchema {
		c.report(unseen, tool, "/inputSchema", fmt.Sprintf("its input schema has %d bytes, more than are looked at", len(raw)))
		return nil
	}
	n, err := jsontree.Parse(raw)
	if err != nil {
		c.report(unseen, tool, "/inputSchema", "its input schema can't be judged: "+err.Error())
	}
	return n
}

// report notes a finding, unless a graver fact of that rule was found there.
func (c *checker) report(f *Fact, tool int, path, what string) {
	key := fmt.Sprint(c.rule.ID, " ", tool, path)
	if c.seen[key] || len(c.found) >= maxFindings {
		return
	}
	c.seen[key] = true
	name := "all tools"
	switch {
	case path == instructions:
		name = "the server"
	case tool >= 0:
		name = brief(c.tools[tool].Name)
		if strings.TrimSpace(name) == "" {
			name = strconv.Quote(name)
		}
	}
	c.found = append(c.found, Finding{Rule: c.rule, Fact: f, Severity: f.Severity(), Tool: tool, Name: name, What: name + ": " + what, Path: path})
}

// brief cuts a text from the outside to what fits into a line.
func brief(s string) string {
	const most = 100
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// more says how many others there are.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}
