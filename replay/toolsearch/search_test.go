package toolsearch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tickets is a catalogue in which the wanted tool comes after five others that
// have the obvious word too.
var tickets = []Tool{
	{Name: "t__list_tickets", Bare: "list_tickets", Description: "List tickets."},
	{Name: "t__get_ticket", Bare: "get_ticket", Description: "Get one ticket by its id.", Schema: []byte(`{"type":"object","properties":{"id":{"type":"string","description":"like T-7"}}}`)},
	{Name: "t__assign_ticket", Bare: "assign_ticket", Description: "Assign a ticket."},
	{Name: "t__close_ticket", Bare: "close_ticket", Description: "Close a ticket."},
	{Name: "t__reopen_ticket", Bare: "reopen_ticket", Description: "Reopen a ticket."},
	{Name: "t__search", Bare: "search", Title: "Search tickets", Description: "Full text search in tickets.", Schema: []byte(`{"type":"object","properties":{"filter":{"type":"object","properties":{"maxResults":{"description":"how many"}}}}}`)},
	{Name: "slack__Post", Bare: "Post", Description: "Send a message to a channel."},
}

func names(x *Index, r *Result, given bool) (out []string) {
	for i := range r.All {
		if r.All[i].Given(r.Limit) == given {
			out = append(out, x.Name(r.All[i].Tool))
		}
	}
	return out
}

func TestRegexCutsInCatalogueOrder(t *testing.T) {
	x := New(tickets, false)
	r, err := x.Search("ticket", Options{})
	if err != nil {
		t.Fatal(err)
	}
	given := []string{"t__list_tickets", "t__get_ticket", "t__assign_ticket", "t__close_ticket", "t__reopen_ticket"}
	if d := cmp.Diff(given, names(x, r, true)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"t__search"}, names(x, r, false)); d != "" {
		t.Errorf("cut: %s", d)
	}
	if m := r.All[5]; m.Rank != 6 || m.Best != 6 || m.Worst != 6 || m.Missed != 0 {
		t.Errorf("got %+v", m)
	}
}

func TestRegexDoubts(t *testing.T) {
	x := New(tickets, false)
	for query, want := range map[string]struct {
		rank, best, missed int
		doubt              string
	}{
		"slack.*message": {0, 1, 2, "only if the fields are joined"},
		"^send":          {1, 1, 3, "under 1 of 4 readings of the documentation"},
		"SLACK":          {1, 1, 2, "only if case is ignored"},
		"(?-i:Post)":     {1, 1, 0, ""},
		"message to a":   {1, 1, 0, ""},
	} {
		r, err := x.Search(query, Options{})
		if err != nil || len(r.All) != 1 {
			t.Errorf("%s: %v, %+v", query, err, r)
			continue
		}
		if m := r.All[0]; m.Rank != want.rank || m.Best != want.best || m.Missed != want.missed || m.Doubt != want.doubt {
			t.Errorf("%s: got %+v", query, m)
		}
	}
}

func TestNestedArgumentsAreSearched(t *testing.T) {
	x := New(tickets, false)
	for query, engine := range map[string]Engine{"^maxResults$": Regex, "max results": BM25, "how many": BM25} {
		r, err := x.Search(query, Options{Engine: engine})
		if err != nil || len(r.All) == 0 || x.Name(r.All[0].Tool) != "t__search" {
			t.Errorf("%s: %v, %+v", query, err, r)
		}
	}
}

func TestProblems(t *testing.T) {
	x := New([]Tool{{Name: strings.Repeat("a", 40)}}, false)
	for query, want := range map[string]struct {
		o    Options
		code string
	}{
		strings.Repeat("é", 201): {Options{}, codeInvalid},
		strings.Repeat("x", 501): {Options{Engine: BM25}, codeInvalid},
		"(":                      {Options{}, codeInvalid},
		"a":                      {Options{Limit: 10_001}, codeInvalid},
		"b":                      {Options{Limit: -1}, codeInvalid},
		`\N{DASH}`:               {Options{}, ""},
		"c":                      {Options{Engine: "magic"}, ""},
	} {
		_, err := x.Search(query, want.o)
		var p *QueryError
		if !errors.As(err, &p) || p.Code != want.code {
			t.Errorf("%.20s: got %v, want %q", query, err, want.code)
		}
	}
	if _, err := x.Search(strings.Repeat("é", 200), Options{}); err != nil {
		t.Error(err)
	}
}

// TestBudget turns the clock on by hand: the search ends when the budget does.
func TestBudget(t *testing.T) {
	x := New(tickets, false)
	now := time.Unix(0, 0)
	clock := func() time.Time { now = now.Add(100 * time.Millisecond); return now }
	_, err := x.Search("nothing like it", Options{Budget: time.Second, Now: clock})
	var p *QueryError
	if !errors.As(err, &p) || p.Code != codeTime {
		t.Errorf("got %v", err)
	}
}

// TestBacktracking has a pattern that would take longer than anybody lives.
func TestBacktracking(t *testing.T) {
	x := New([]Tool{{Name: strings.Repeat("a", 60) + "!"}}, false)
	_, err := x.Search(`^(a|aa|a*)+$`, Options{Budget: 50 * time.Millisecond})
	var p *QueryError
	if !errors.As(err, &p) {
		t.Errorf("got %v", err)
	}
}

func TestBM25(t *testing.T) {
	x := New(tickets, false)
	r, err := x.Search("reopen ticket", Options{Engine: BM25})
	if err != nil {
		t.Fatal(err)
	}
	if got := x.Name(r.All[0].Tool); got != "t__reopen_ticket" || r.All[0].Worst != 1 {
		t.Errorf("got %s, %+v", got, r.All[0])
	}
	if r.Ways != 24 || r.StandIn {
		t.Errorf("%d ways, stand-in %v", r.Ways, r.StandIn)
	}
	// "tickets" is another word than "ticket", unless plurals are folded.
	if r, _ := x.Search("tickets", Options{Engine: BM25}); len(r.All) != 2 {
		t.Errorf("%d tools have tickets", len(r.All))
	}
	if r, _ := New(tickets, true).Search("tickets", Options{Engine: BM25}); len(r.All) != 6 {
		t.Errorf("%d tools have tickets, plurals folded", len(r.All))
	}
	for _, nothing := range []string{"", "zebra", "!?"} {
		if r, err := x.Search(nothing, Options{Engine: BM25}); err != nil || len(r.All) != 0 {
			t.Errorf("%q: %v, %+v", nothing, err, r)
		}
	}
}

// TestRange has a tool with the word in its name and one that repeats it in a
// long description: which one comes first depends on the parameters.
func TestRange(t *testing.T) {
	x := New([]Tool{
		{Name: "audit", Description: "invoice invoice " + strings.Repeat("filler words here ", 8)},
		{Name: "invoice_export", Description: strings.Repeat("other things said ", 8)},
	}, false)
	r, err := x.Search("invoice", Options{Engine: BM25})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.All {
		if m.Best != 1 || m.Worst != 2 {
			t.Errorf("%s: %+v", x.Name(m.Tool), m)
		}
	}
}

func TestClaudeCode(t *testing.T) {
	x := New(tickets, false)
	for query, want := range map[string]string{
		"select:slack__Post, t__search,nope,t__search": "slack__Post t__search | nope",
		"+slack ticket":  "slack__Post |",
		"+t__ +get":      "t__get_ticket |",
		"+ticket reopen": "t__reopen_ticket t__list_tickets t__get_ticket t__assign_ticket t__close_ticket |",
		"message":        "slack__Post |",
		"+zebra":         "|",
	} {
		r, err := x.Search(query, Options{Engine: ClaudeCode})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSpace(strings.Join(names(x, r, true), " ") + " | " + strings.Join(r.Missing, " "))
		if got != want {
			t.Errorf("%s: got %s", query, got)
		}
		if r.StandIn == strings.HasPrefix(query, "select:") {
			t.Errorf("%s: stand-in %v", query, r.StandIn)
		}
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"getHTTPResponse_fromURL2go": "get http response from url2go",
		"kebab-case.and snake_case":  "kebab case and snake case",
		"ABC":                        "abc",
		"É1éÀb":                      "é1é àb",
		"  ":                         "",
	} {
		if got := strings.Join(Words(in), " "); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
	x := New(nil, true)
	for in, want := range map[string]string{"issues": "issue", "queries": "query", "boxes": "box", "classes": "class", "status": "status", "access": "access", "ids": "ids", "branches": "branch"} {
		if got := x.fold(in); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

func TestProbe(t *testing.T) {
	crowd := make([]Tool, 0, 7)
	for i := range 6 {
		crowd = append(crowd, Tool{Name: fmt.Sprintf("run_%d_run", i), Description: "Run it."})
	}
	crowd = append(crowd, Tool{Name: "run", Description: "Run it."})
	x := New(append(crowd, tickets...), false)
	last, _ := x.Find("run")
	if probes, findable := x.Probe(last, Options{}); findable || len(probes) != 1 || probes[0].Match.Rank != 7 || probes[0].Of != 7 {
		t.Errorf("a tool behind six with its words is found: %+v", probes)
	}
	search, _ := x.Find("t__search")
	probes, findable := x.Probe(search, Options{})
	var got []string
	for _, p := range probes {
		got = append(got, fmt.Sprintf("%s %s %d/%d", p.From, p.Text, p.Match.Rank, p.Of))
	}
	want := []string{"name search 1/1", "title search.*tickets 1/1", "description full.*text.*search.*tickets 1/1", `arguments filter|maxResults 1/1`}
	if d := cmp.Diff(want, got); d != "" || !findable {
		t.Errorf("findable %v: %s", findable, d)
	}
}

// TestRanks holds for all engines: ranks are a row without holes, and the range
// includes the rank.
func TestRanks(t *testing.T) {
	word := rapid.SampledFrom([]string{"get", "list", "issue", "Repo", "a.*e", "+get", "s"})
	rapid.Check(t, func(t *rapid.T) {
		var tools []Tool
		for i := range rapid.IntRange(0, 12).Draw(t, "tools") {
			tools = append(tools, Tool{Name: fmt.Sprintf("%s_%s%d", word.Draw(t, "w"), word.Draw(t, "w"), i), Description: strings.Join(rapid.SliceOfN(word, 0, 5).Draw(t, "d"), " ")})
		}
		x := New(tools, rapid.Bool().Draw(t, "fold"))
		e := rapid.SampledFrom(Engines()).Draw(t, "engine")
		r, err := x.Search(strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "query"), " "), Options{Engine: e, Budget: time.Minute})
		if err != nil {
			if e != Regex {
				t.Fatal(err)
			}
			return
		}
		unranked := false
		for i, m := range r.All {
			unranked = unranked || m.Rank == 0
			if !unranked && m.Rank != i+1 || unranked && m.Rank != 0 {
				t.Fatalf("place %d has rank %d", i+1, m.Rank)
			}
			if m.Best > m.Worst || m.Rank > 0 && (m.Rank < m.Best || m.Rank > m.Worst) || (m.Missed > 0) != (m.Doubt != "") {
				t.Fatalf("%+v", m)
			}
		}
	})
}

func FuzzRegex(f *testing.F) {
	for _, seed := range []string{"(?P<a>a)(?P=a)", "[[:a-]]", `\N{x}`, "((a{99}){99}){99}", "(?i)(?x)a # b", "(?(1)a|b)(c)", `(?<=a+)b`, `[\d-a]`, "(a|aa)+$", strings.Repeat("(", 200), strings.Repeat("(?:a?", 33)} {
		f.Add(seed)
	}
	x := New(tickets, false)
	f.Fuzz(func(t *testing.T, pattern string) {
		_, err := x.Search(pattern, Options{Budget: 300 * time.Millisecond})
		var p *QueryError
		if err != nil && !errors.As(err, &p) {
			t.Errorf("%q: %v", pattern, err)
		}
	})
}

func FuzzQuery(f *testing.F) {
	f.Add("select:a,,b", []byte(`{"properties":{"a":{"description":"x","$ref":"#"}}}`))
	f.Add("+a +b c", []byte(strings.Repeat(`{"items":`, 200)))
	f.Fuzz(func(t *testing.T, query string, schema []byte) {
		x := New(append([]Tool{{Name: query, Description: query, Schema: schema}}, tickets...), true)
		for _, e := range []Engine{BM25, ClaudeCode} {
			if r, err := x.Search(query, Options{Engine: e}); err == nil && len(r.All) > x.Len() {
				t.Errorf("%q finds %d tools", query, len(r.All))
			}
		}
		x.Probe(0, Options{Engine: BM25})
	})
}

// large is a catalogue of 500 tools of a usual size.
func large() (tools []Tool) {
	verbs := []string{"create", "list", "get", "update", "delete", "search", "assign", "merge", "close", "export"}
	things := []string{"issue", "repository", "pull_request", "channel", "message", "invoice", "calendar_event", "file", "user", "dashboard"}
	for i := range 500 {
		v, th := verbs[i%10], things[i/10%10]
		tools = append(tools, Tool{
			Name:        fmt.Sprintf("mcp__server%d__%s_%s", i/100, v, th),
			Bare:        v + "_" + th,
			Description: fmt.Sprintf("%s the %s with the given id. Use it when the user asks to %s something. Returns the %s as JSON, with its author, its time and its state.", v, th, v, th),
			Schema:      fmt.Appendf(nil, `{"type":"object","properties":{"id":{"type":"string","description":"The id of the %s."},"%s_name":{"type":"string","description":"How it is called."},"options":{"type":"object","properties":{"limit":{"type":"integer","description":"How many at most."}}}},"required":["id"]}`, th, th),
		})
	}
	return tools
}

func BenchmarkNew500(b *testing.B) {
	tools := large()
	b.ReportAllocs()
	for b.Loop() {
		New(tools, false)
	}
}

func BenchmarkSearch500(b *testing.B) {
	x := New(large(), false)
	for name, c := range map[string]struct {
		query  string
		engine Engine
	}{
		"regex":      {"create.*(issue|message)", Regex},
		"regex-none": {"zebra.*crossing", Regex},
		"regex-all":  {"id", Regex},
		"bm25":       {"create a message in a channel", BM25},
		"claude":     {"+server1 create message", ClaudeCode},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Search(c.query, Options{Engine: c.engine, Budget: time.Minute}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestStopWords: whether words that say nothing count is not known, so both are tried.
func TestStopWords(t *testing.T) {
	x := New([]Tool{
		{Name: "add_note", Description: "Adds an entry to an open list, or an issue to an archive."},
		{Name: "open_thing", Description: "Opens a thing."},
		{Name: "create_issue", Description: "Make one: title and body."},
	}, false)
	r, err := x.Search("create an issue", Options{Engine: BM25, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.All {
		if x.Name(m.Tool) == "create_issue" && m.Best != 1 {
			t.Errorf("%+v", m)
		}
	}
	if r, err = x.Search("an", Options{Engine: BM25, Limit: 5}); err != nil || len(r.All) != 1 || r.All[0].Missed != r.Ways/2 {
		t.Errorf("a word that says nothing: %+v, %v", r, err)
	}
}
