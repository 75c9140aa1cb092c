package tokens

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What others measured with count_tokens: jackin-project, docs, "05 - Tokenizer
// arbitrage" (2026-08-21), on Fable 5 for the new family and Sonnet 4.6 for the old
// one. The page gives the recipe of each text and its length, not the text; the
// texts here are ours to the same recipe, and the estimate is scaled to the length
// of theirs where it is given.
var published = []struct {
	name       string
	text       string
	chars      int // of the measured text; 0 if the recipe fixes the number of items instead
	new, old   int // tokens measured; 0 if not published
	offN, offO float64
}{
	// offN and offO: how far the estimator was off when it was made, as a share.
	{"records, minified JSON", records(""), 1343, 611, 456, -0.07, 0.01},
	{"records, indented JSON", records("  "), 1824, 862, 777, -0.02, -0.07},
	{"records, CSV", recordsCSV(), 721, 402, 317, -0.09, -0.04},
	{"20 numbers of 8 digits", numbers(20), 0, 79, 80, 0, 0.01},
	{"8 UUIDs", uuids(8), 0, 214, 0, 0.14, 0},
	{"English prose", prose, 315, 86, 54, -0.03, 0.10},
	{"40 names in snake_case", snake(), 0, 143, 120, 0.22, 0.08},
	{"40 names in ALL_CAPS", strings.ToUpper(snake()), 0, 355, 153, 0.01, 0.35},
}

// TestFit: our texts are not theirs, so a figure may differ from the one of then by
// ten points; and none may leave the range that is printed with it.
func TestFit(t *testing.T) {
	for _, p := range published {
		for _, family := range []struct {
			model  string
			actual int
			then   float64
		}{{"claude-fable-5-1", p.new, p.offN}, {"claude-sonnet-4-6", p.old, p.offO}} {
			if family.actual == 0 {
				continue
			}
			low, mid, high := estimator(t, family.model).Text(p.text).Bounds()
			scale := 1.0
			if p.chars != 0 {
				scale = float64(p.chars) / float64(len(p.text))
			}
			actual := float64(family.actual) / scale
			off := mid/actual - 1
			t.Logf("%-24s %-18s estimate %4.0f counted %4d  %+5.1f %%, then %+3.0f %%", p.name, family.model, mid*scale, family.actual, off*100, family.then*100)
			if off < family.then-0.10 || off > family.then+0.10 {
				t.Errorf("%s on %s: %+.1f %%, was %+.0f %%", p.name, family.model, off*100, family.then*100)
			}
			if actual < low || actual > high {
				t.Errorf("%s on %s: counted %.0f lies outside of %.0f-%.0f", p.name, family.model, actual, low, high)
			}
		}
	}
}

// TestLaws: what was measured and holds whatever the text is.
func TestLaws(t *testing.T) {
	for _, model := range []string{"claude-fable-5-1", "claude-sonnet-4-6"} {
		e := estimator(t, model)
		for n := 1; n <= 12; n++ {
			if _, got, _ := e.Text(strings.Repeat("7", n)).Bounds(); got != float64((n+2)/3) {
				t.Errorf("%s: %d digits are %v tokens, want ceil(n/3)", model, n, got)
			}
		}
		two, four, tab := records("  "), records("    "), records("\t")
		if a, b, c := e.Text(two), e.Text(four), e.Text(tab); a != b || a != c {
			t.Errorf("%s: the width of an indent is not free: %v, %v, %v", model, a, b, c)
		}
		comma := recordsCSV()
		_, want, _ := e.Text(comma).Bounds()
		for _, sep := range []string{"\t", "|"} {
			_, got, _ := e.Text(strings.ReplaceAll(comma, ",", sep)).Bounds()
			if got < want*0.85 || got > want*1.15 {
				t.Errorf("%s: the delimiter %q is not free: %.0f, %.0f with commas", model, sep, got, want)
			}
		}
		_, emoji, _ := e.Text(strings.Repeat("😀", 50)).Bounds()
		if emoji < 137*0.9 || emoji > 137*1.1 {
			t.Errorf("%s: 50 emoji are %v tokens, measured 137", model, emoji)
		}
		_, han, _ := e.Text(strings.Repeat("字", 83)).Bounds()
		if han < 89*0.9 || han > 90*1.1 {
			t.Errorf("%s: 83 Han characters are %v tokens, measured 89-90", model, han)
		}
	}
}

type record struct {
	ID     int     `json:"id"`
	Name   string  `json:"name"`
	Email  string  `json:"email"`
	Role   string  `json:"role"`
	Region string  `json:"region"`
	Joined string  `json:"joined"`
	Score  float64 `json:"score"`
}

func people() (all []record) {
	roles := []string{"engineer", "designer", "manager", "analyst", "support"}
	regions := []string{"us-east-1", "eu-west-1", "ap-south-1"}
	names := []string{"Alice Johnson", "Bob Smith", "Carla Gomez", "David Lee", "Emma Wilson", "Frank Moore", "Grace Taylor", "Henry Clark", "Irene Adams", "James Baker"}
	for i, n := range names {
		all = append(all, record{
			ID: 1001 + i, Name: n, Email: strings.ReplaceAll(strings.ToLower(n), " ", ".") + "@example.com",
			Role: roles[i%len(roles)], Region: regions[i%len(regions)],
			Joined: fmt.Sprintf("2024-%02d-%02d", i%12+1, 3*i%28+1), Score: 61.25 + 3.5*float64(i),
		})
	}
	return all
}

func records(indent string) string {
	b, err := json.Marshal(people())
	if indent != "" {
		b, err = json.MarshalIndent(people(), "", indent)
	}
	if err != nil {
		panic(err)
	}
	return string(b)
}

func recordsCSV() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"id", "name", "email", "role", "region", "joined", "score"})
	for _, p := range people() {
		_ = w.Write([]string{fmt.Sprint(p.ID), p.Name, p.Email, p.Role, p.Region, p.Joined, fmt.Sprint(p.Score)})
	}
	w.Flush()
	return b.String()
}

func numbers(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(10_000_000 + r.IntN(90_000_000))
	}
	return strings.Join(out, "\n")
}

func uuids(n int) string {
	r := rand.New(rand.NewPCG(3, 4))
	out := make([]string, n)
	for i := range out {
		a, b := r.Uint64(), r.Uint64()
		out[i] = fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a&0xffff, a>>16&0xfff, b>>52, b&(1<<48-1))
	}
	return strings.Join(out, "\n")
}

// snake gives 40 names of two common words each.
func snake() string {
	first := []string{"user", "file", "page", "item", "data"}
	second := []string{"name", "path", "size", "list", "type", "code", "date", "hash"}
	var out []string
	for _, a := range first {
		for _, b := range second {
			out = append(out, a+"_"+b)
		}
	}
	return strings.Join(out, " ")
}

// prose has words about as long as theirs must be: 315 characters in 54 tokens of
// the old family leave room for 50 words at most, so they had 6.3 or more characters
// a word with its space.
const prose = "The service reads every request from the queue and stores the result in a shared cache, so that later " +
	"requests return without another database query. When a worker crashes, its unfinished requests return to the queue after " +
	"thirty seconds, and another worker continues where the previous one stopped without losing customer data."

func estimator(t testing.TB, id string) *Estimator {
	t.Helper()
	m, err := Default().Model(id)
	if err != nil {
		t.Fatal(err)
	}
	return Default().Estimator(m)
}
