package cli

import (
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/replay/apicheck"
	"github.com/mcptap/mcptap/sessions"
)

// refusals finds what a host, or the API, would refuse or cut of what a session's
// server offered last.
func refusals(l *sessions.Loaded, host string) []rules.Finding {
	if host == hostNone {
		return nil
	}
	p := refuser(l, host)
	return append(cutInstructions(l, p), refusedTools(l, p)...)
}

func refusedTools(l *sessions.Loaded, p *apicheck.Profile) (out []rules.Finding) {
	list := offered(l)
	if list == nil {
		return nil
	}
	var tools []apicheck.Tool
	for _, it := range list.Items {
		t := apicheck.Tool{Server: l.ServerName(), Name: it.Name}
		_, t.Description, t.Schema = definitionParts(it.Definition)
		if s := gjson.GetBytes(it.Definition, "outputSchema"); s.Exists() {
			t.Output = []byte(s.Raw)
		}
		tools = append(tools, t)
	}
	found := apicheck.Check(tools, p)
	for i := range found {
		out = append(out, findingOf(l, &found[i], p, list.From, list.Calls[0]))
	}
	return out
}

// cutInstructions looks at what the server says about itself, once for each text.
func cutInstructions(l *sessions.Loaded, p *apicheck.Profile) (out []rules.Finding) {
	seen := map[string]bool{}
	for i := range l.Calls() {
		c := l.Call(i)
		if c.Response < 0 || c.Method != "initialize" && c.Method != "server/discover" {
			continue
		}
		text := gjson.GetBytes(l.Body(c.Response), "result.instructions").String()
		if seen[text] {
			continue
		}
		seen[text] = true
		found := apicheck.Instructions(text, p)
		for k := range found {
			out = append(out, findingOf(l, &found[k], p, c.Response, i))
		}
	}
	return out
}

// findingOf writes a refusal as a finding. Its arguments are the tool's name, what is
// wrong, where, who refuses it, what that does, since when, the profile, and the
// evidence.
func findingOf(l *sessions.Loaded, f *apicheck.Finding, p *apicheck.Profile, frame, call int) rules.Finding {
	r := ruleOf(f.Rule)
	r.Severity, r.Words = f.Severity, "$2"
	if f.Path != "" {
		r.Words += " (at $3)"
	}
	r.Words += "; $4 $5"
	when := f.Fact.When()
	if when != "" {
		r.Words += " ($6)"
	}
	args := append([]string{f.Name, f.What, f.Path, f.Fact.Who, f.Fact.Does, when, p.Name}, f.Fact.Evidence...)
	return rules.Finding{Rule: r, Severity: f.Severity, Side: rules.Server, Revision: l.Call(call).Revision,
		Frame: frame, N: l.Frame(frame).N, Call: call, Count: 1, Args: args}
}

func ruleOf(r *apicheck.Rule) *rules.Rule {
	return &rules.Rule{ID: r.ID, Severity: rules.Warning, Side: rules.Server, Title: r.Title}
}

// checkRules are the rules that check looks at.
func checkRules(host string) []*rules.Rule {
	all := rules.Rules()
	if host == hostNone {
		return all
	}
	for _, r := range apicheck.Rules() {
		all = append(all, ruleOf(r))
	}
	return all
}
