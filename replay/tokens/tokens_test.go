package tokens

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCountPrints(t *testing.T) {
	estimate := Between(1030, 1234, 1449, "why")
	for _, c := range []struct {
		got, want string
	}{
		{estimate.String(), "~1,200 (1,000-1,400)"},
		{fmt.Sprint(estimate), "~1,200 (1,000-1,400)"},
		{fmt.Sprintf("%d", estimate), "~1,200 (1,000-1,400)"},
		{fmt.Sprintf("%.0f", estimate), "~1,200 (1,000-1,400)"},
		{fmt.Sprintf("%+v", estimate), "~1,200 (1,000-1,400)"},
		{fmt.Sprintf("%#v", estimate), "~1,200 (1,000-1,400)"},
		{fmt.Sprintf("[%22v]", estimate), "[  ~1,200 (1,000-1,400)]"},
		{fmt.Sprintf("[%-22s]", estimate), "[~1,200 (1,000-1,400)  ]"},
		{estimate.Short(), "~1,200"},
		{Between(520, 612, 704, "").String(), "~612 (520-704)"},
		{Between(16_600, 19_529, 22_458, "").String(), "~20,000 (17,000-22,000)"},
		{Between(9_960, 9_960, 9_960, "").Short(), "~10,000"},
		{Exact(19_529, "usage").String(), "19,529"},
		{Exact(19_529, "usage").Short(), "19,529"},
		{Count{}.String(), "0"},
		{estimate.Plus(Exact(100, "usage")).String(), "~1,300 (1,100-1,500)"},
		{estimate.Times(10).String(), "~12,000 (10,000-14,000)"},
		{Exact(500, "usage").Minus(Between(80, 100, 130, "")).String(), "~400 (370-420)"},
		{Exact(500, "a").Minus(Exact(380, "a")).String(), "120"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestCountBasis(t *testing.T) {
	estimate, exact := Between(1, 2, 3, "guess"), Exact(5, "usage")
	if got := estimate.Plus(exact); got.Basis() != Mixed || got.Reason() != "guess; usage" {
		t.Errorf("a sum of both is %s because of %q", got.Basis(), got.Reason())
	}
	if got := Sum(exact, exact); got.Basis() != Counted || got.Reason() != "usage" {
		t.Errorf("a sum of counted is %s because of %q", got.Basis(), got.Reason())
	}
	if got := Sum(Count{}, estimate); got.Basis() != Estimated {
		t.Errorf("nothing and an estimate is %s", got.Basis())
	}
	b, err := json.Marshal(estimate.Plus(exact))
	if want := `{"low":6,"mid":7,"high":8,"basis":"mixed","reason":"guess; usage"}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v; want %s", b, err, want)
	}
}

var sameRuns = cmp.Options{
	cmp.AllowUnexported(runs{}),
	cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }),
}

// TestReasonsOnce: a sum says each of its reasons once.
func TestReasonsOnce(t *testing.T) {
	a, b := Between(1, 2, 3, "not Claude's; by rules"), Between(1, 2, 3, "not found for 5.5")
	if got, want := Sum(a, b, a, b.Plus(a)).Reason(), "not Claude's; by rules; not found for 5.5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestScan(t *testing.T) {
	u := &Default().Units
	for _, c := range []struct {
		text string
		want runs
	}{
		{"", runs{}},
		{"word", runs{word: 1}},
		{"two words", runs{word: 2}},
		{"elevenchars", runs{word: 1.35}},
		{strings.Repeat("a", 16), runs{word: 2}},
		{"I", runs{word: 1}},
		{"CSV", runs{caps: 1.5}},
		{"CSVs", runs{word: 1}},
		{"größe", runs{word: 1}},
		{"ÄÖ", runs{caps: 1}},
		{"a 1", runs{word: 1, digits: 1, space: 1}},
		{"a  b", runs{word: 2, space: 1}},
		{"a\n\t  b", runs{word: 2, newline: 1}},
		{"a\r\nb\rc", runs{word: 3, newline: 2}},
		{`":{"`, runs{punct: 4 / 2.6}},
		{`":"`, runs{punct: 1}},
		{"1234567", runs{digits: 3}},
		{"漢字", runs{other: 2.1}},
		{"👍🏽", runs{other: 2.7}},
		{"❤️", runs{other: 2.7}},
		{"\xff\xfe", runs{other: 2.1}},
		{"\x00\x1b", runs{punct: 1}},
	} {
		got := scan(c.text, u)
		if diff := cmp.Diff(c.want, got, sameRuns); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
		if bytes := scan([]byte(c.text), u); bytes != got {
			t.Errorf("%q: %v as bytes, %v as a string", c.text, bytes, got)
		}
	}
}

// TestRange: the stated errors, as shares of what a text holds.
func TestRange(t *testing.T) {
	e := estimator(t, "claude-opus-5-5")
	for _, c := range []struct {
		text           string
		low, mid, high float64
	}{
		{"one two", 3 * 0.75, 3, 3 * 1.25},
		{"ABCD", 3.8 / 2, 3.8, 3.8 * 2},
		{"one ABCD", 1.5*0.75 + 3.8/2, 5.3, 1.5*1.25 + 3.8*2},
	} {
		low, mid, high := e.Text(c.text).Bounds()
		if diff := cmp.Diff([]float64{c.low, c.mid, c.high}, []float64{low, mid, high}, sameRuns); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"", "a b", "{\"a\": [1, 2]}", "ÄÖÜ\n\tß", "\xf0\x9f", "漢字👍🏽", strings.Repeat("\r", 9)} {
		f.Add([]byte(s), []byte(s))
	}
	e := estimator(f, "claude-opus-5-5")
	f.Fuzz(func(t *testing.T, a, schema []byte) {
		low, mid, high := e.Bytes(a).Bounds()
		if low < 0 || low > mid || mid > high || mid > 3*float64(len(a)) {
			t.Errorf("%q: %v %v %v", a, low, mid, high)
		}
		tool := Tool{string(a), string(a), schema}
		if low, mid, high := e.Tool(&tool).Sum.Bounds(); low <= 0 || low > mid || mid > high {
			t.Errorf("%q: %v %v %v", a, low, mid, high)
		}
		tool.Render()
	})
}

// TestPropertyJoin: two texts on lines of their own are as long as both.
func TestPropertyJoin(t *testing.T) {
	u := &Default().Units
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aZ09 ,{_\té漢👍")))
		a, b := strings.Trim(text.Draw(t, "a"), " \t"), strings.Trim(text.Draw(t, "b"), " \t")
		want := scan(a, u)
		want.add(scan(b, u))
		want.newline++
		got := scan(a+"\n"+b, u)
		if diff := cmp.Diff(want, got, sameRuns); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRender(t *testing.T) {
	for _, c := range []struct {
		tool Tool
		want string
	}{
		{Tool{"a", "Say <b>\n\"x\"", []byte("{\"type\":\"object\",\n \"a\":[1,2 , \":,\\\"\"]}")},
			`<function>{"description": "Say <b>\n\"x\"", "name": "a", "parameters": {"type": "object", "a": [1, 2, ":,\""]}}</function>`},
		{Tool{Name: "b"}, `<function>{"description": "", "name": "b", "parameters": {}}</function>`},
		{Tool{Name: "c", InputSchema: []byte(`{"cut \`)}, `<function>{"description": "", "name": "c", "parameters": {"cut \}</function>`},
	} {
		if got := string(c.tool.Render()); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestPreambleAndFraming(t *testing.T) {
	for _, c := range []struct {
		model  string
		choice Choice
		want   string
		ok     bool
	}{
		{"claude-opus-5", Auto, "~286 (286-286)", true},
		{"claude-opus-5", Any, "~406 (406-406)", true},
		{"claude-opus-4-7", Auto, "~675 (675-675)", true},
		{"claude-haiku-4-5-20251001", Any, "~588 (588-588)", true},
		{"claude-haiku-5-5", Auto, "~290 (280-360)", true},
		{"claude-haiku-5-5", Any, "~0 (0-0)", false},
	} {
		if got, ok := estimator(t, c.model).Preamble(c.choice); got.String() != c.want || ok != c.ok {
			t.Errorf("%s, %v: %v, %v; want %s", c.model, c.choice, got, ok, c.want)
		}
	}
	if got := estimator(t, "claude-opus-5").Framing(1).String(); got != "~6 (6-6)" {
		t.Errorf("one message is framed with %s", got)
	}
	if got := estimator(t, "claude-sonnet-4-6").Framing(3).String(); got != "~14 (13-15)" {
		t.Errorf("three messages are framed with %s", got)
	}
}

func TestFitFactor(t *testing.T) {
	e := estimator(t, "claude-opus-5-5")
	texts := []string{"one two three", "some more words, here", "{\"a\": 1}", "a\nb\nc", "plain text again"}
	var samples []Sample
	for _, text := range texts {
		c := e.Text(text)
		samples = append(samples, Sample{c, int(mid(c)*1.1 + 0.5)})
	}
	few, err := Fit(samples[:3])
	if err != nil || few.Value < 1 || few.Value > 1.2 || few.Error != 1 {
		t.Errorf("three samples: %+v, %v", few, err)
	}
	f, err := Fit(samples)
	if err != nil || f.Error < 0.02 || f.Error > 0.12 {
		t.Fatalf("five samples: %+v, %v", f, err)
	}
	raw, fitted := e.Text(prose), e.Calibrated(f).Text(prose)
	if got := mid(fitted) / mid(raw); got < f.Value-1e-9 || got > f.Value+1e-9 {
		t.Errorf("calibrated by %v: %v, want %v", got, fitted, f.Value)
	}
	low, m, high := fitted.Bounds()
	if low < m*(1-f.Error)-1e-9 || high > m*(1+f.Error)+1e-9 {
		t.Errorf("the range %v is wider than the samples were off", fitted)
	}
	if !strings.Contains(fitted.Reason(), "calibrated: x 1.") {
		t.Errorf("the reason doesn't say so: %s", fitted.Reason())
	}
	for _, bad := range [][]Sample{nil, {{e.Text(prose), 1_000_000}}, {{e.Text(prose), 0}}, {{e.Text(prose), -1}}} {
		if f, err := Fit(bad); err == nil {
			t.Errorf("%v gives %+v", bad, f)
		}
	}
}

func TestPrice(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		model, day string
		prompt     int
		want       float64
	}{
		{"claude-haiku-5-5", "2026-11-30", 100_000, 0.10},
		{"claude-haiku-5-5", "2026-11-30", 100_001, 0.50},
		{"claude-haiku-5-5", "2026-10-06", 1, 0}, // before it was there
		{"claude-opus-5-5", "2026-11-30", 500_000, 4},
		{"claude-fable-5-2", "2026-11-30", 1, 0}, // no price found
	} {
		m, err := Default().Model(c.model)
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := m.Price(day(c.day), c.prompt); p.Input != c.want || ok != (c.want != 0) {
			t.Errorf("%s, %s, %d: %v, %v; want %v", c.model, c.day, c.prompt, p.Input, ok, c.want)
		}
	}
}

func TestModel(t *testing.T) {
	for id, want := range map[string]string{
		"":                          "claude-opus-5-5",
		"claude-haiku-4-5-20251001": "claude-haiku-4-5",
		"claude-sonnet-5[1m]":       "claude-sonnet-5",
		"claude-opus-4-8-latest":    "claude-opus-4-8",
	} {
		if m, err := Default().Model(id); err != nil || m.ID != want {
			t.Errorf("%q: %v, %v", id, m, err)
		}
	}
	if _, err := Default().Model("gpt-" + strings.Repeat("9", 500)); err == nil || len(err.Error()) > 600 || !strings.Contains(err.Error(), "claude-opus-5") {
		t.Errorf("an unknown model: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	good := string(embedded)
	for _, c := range []struct{ name, old, new, want string }{
		{"a member nobody knows", `"read": 0.20`, `"reed": 0.20`, `unknown field "reed"`},
		{"a price of nothing", `"read": 0.20`, `"read": 0`, "above 0"},
		{"a string for a number", `"read": 0.20`, `"read": "0.20"`, "line "},
		{"broken JSON", `"about":`, `"about"`, "line 3"},
		{"something behind it", good, good + "{}", "something follows"},
		{"a day that is none", `"as_of": "2026-11-30"`, `"as_of": "30 Nov"`, "no date"},
		{"no day", `"as_of": "2026-11-30",`, ``, "as_of is missing"},
		{"a family that is not there", `"family": "old"`, `"family": "older"`, `no family "older"`},
		{"a model twice", `"id": "claude-opus-5-5"`, `"id": "claude-haiku-5-5"`, "is there twice"},
		{"no default", `"default_model": "claude-opus-5-5"`, `"default_model": "x"`, "default_model"},
		{"a weight of nothing", `"word": 1.50`, `"word": 0`, "every weight"},
		{"units of nothing", `"emoji": 2.7`, `"emoji": 0`, "units:"},
		{"an error of more than all", `"list": 0.15`, `"list": 1.5`, "error:"},
		{"a certainty nobody knows", `"sure": "inferred"`, `"sure": "certain"`, "sure must be"},
		{"a preamble outside of its range", `"low": 280`, `"low": 380`, "preamble:"},
		{"no breakpoints", `"breakpoints": 4`, `"breakpoints": 0`, "cache:"},
		{"bounds in the wrong order", `"up_to": 100000`, `"up_to": 100000, "over": 200000`, "up_to must"},
		{"nothing at all", good, "", "EOF"},
		{"too much", good, strings.Repeat(" ", maxTable) + good, "right file"},
	} {
		changed := strings.Replace(good, c.old, c.new, 1)
		if changed == good {
			t.Errorf("%s: nothing to replace", c.name)
			continue
		}
		if _, err := Load(strings.NewReader(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

const smallTable = `{"as_of":"2026-11-30","error":{"list":0.15,"text":0.25,"caps_factor":2},"units":{"word_short":8,"word_medium":12,"word_medium_units":1.35,"word_letters":8,"caps_letters":2,"punct_short":3,"punct_length":2.6,"other_rune":1.05,"emoji":2.7},"families":[{"id":"new","weights":{"word":1.5,"caps":1.9,"digits":1.0,"punct":1.35,"newline":1.0,"space":1.0,"other":1.0},"one_message":6,"further_message":{"low":3,"high":4}}],"cache":{"breakpoints":4,"look_back":20},"models":[{"id":"claude-haiku-5-5","family":"new","preamble":{"auto":290,"low":280,"high":360,"sure":"unknown"},"min_cache":{"tokens":512,"sure":"inferred"},"prices":[{"from":"2026-10-07","up_to":100000,"input":0.1,"write_5m":0.125,"write_1h":0.2,"read":0.01,"output":0.5,"sure":"fixed"}]},{"id":"claude-opus-5-5","family":"new","preamble":{"auto":290,"low":280,"high":360,"sure":"unknown"},"min_cache":{"tokens":512,"sure":"unknown"},"prices":[{"input":4,"write_5m":5,"write_1h":8,"read":0.4,"output":20,"derived":["write_5m","write_1h","read"],"sure":"fixed"}]}],"default_model":"claude-opus-5-5"}`

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"as_of":"2026-11-30"}`))
	f.Add([]byte(smallTable))
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := Load(strings.NewReader(string(b)))
		if err != nil {
			return
		}
		m, err := table.Model("")
		if err != nil {
			t.Fatal(err)
		}
		table.Estimator(m).Text("some text")
	})
}

func TestLoadSmall(t *testing.T) {
	table, err := Load(strings.NewReader(smallTable))
	if err != nil {
		t.Fatal(err)
	}
	if ids := table.IDs(); len(ids) != 2 {
		t.Errorf("the models are %v", ids)
	}
}

// TestEmbedded: the program is not to carry a vocabulary.
func TestEmbedded(t *testing.T) {
	if len(embedded) > 100_000 {
		t.Errorf("models.json has %d bytes", len(embedded))
	}
	for _, m := range Default().Models {
		if m.MinCache.Source == "" || m.Preamble.Source == "" || m.Window != nil && m.Window.Source == "" {
			t.Errorf("%s: a fact without a source", m.ID)
		}
		for _, p := range m.Prices {
			if p.Source == "" {
				t.Errorf("%s: a price without a source", m.ID)
			}
		}
	}
}

func BenchmarkText(b *testing.B) {
	e := estimator(b, "claude-opus-5-5")
	var tools strings.Builder
	for _, name := range small {
		for _, tool := range smallList(b, name) {
			tools.Write(tool.Render())
		}
	}
	for name, text := range map[string]string{
		"json": records(""), "tools": tools.String(), "prose": strings.Repeat(prose, 50),
		"han": strings.Repeat("漢字は難しい", 200), "uuids": uuids(500),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				e.Text(text)
			}
		})
	}
}
