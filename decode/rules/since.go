package rules

import (
	"strings"

	"github.com/mcptap/mcptap/decode"
)

// CheckSince compares what a server offers in a session with what it offered in an
// earlier one of its sessions: the text that a user or a host agreed to may have
// been replaced since (a rug pull). If the server says it is another version, that
// is worth knowing, no more.
func CheckSince(s *decode.Session, earlier *decode.Catalogue, name string, sameVersion bool) []Finding {
	p := newPass(s, func(int) []byte { return nil })
	rule := *ruleByID(sinceEarlier)
	if !sameVersion {
		rule.Severity = Info
	}
	for _, ch := range s.Catalogue().Since(earlier) {
		if ch.What != decode.Changed || ch.Kind != decode.Tools && ch.Kind != decode.Prompts {
			continue
		}
		if what := changedMembers(&ch); len(what) > 0 {
			p.report(&rule, ch.Frame, -1, brief(ch.Name), name, strings.Join(what, ", "))
		}
	}
	return p.findings()
}

func ruleByID(id string) *Rule {
	for _, r := range Rules() {
		if r.ID == id {
			return r
		}
	}
	return nil
}
