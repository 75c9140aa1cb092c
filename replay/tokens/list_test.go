package tokens

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// toolsOf gives the longest tools/list result of a recorded session.
func toolsOf(t testing.TB, file string) (longest []Tool) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var line struct{ Raw string }
		var message struct {
			Result struct {
				Tools []struct {
					Name, Description string
					InputSchema       json.RawMessage
				}
			}
		}
		if json.Unmarshal(in.Bytes(), &line) != nil {
			continue
		}
		raw := strings.TrimPrefix(line.Raw, "data: ")
		if json.Unmarshal([]byte(raw), &message) != nil || len(message.Result.Tools) <= len(longest) {
			continue
		}
		longest = nil
		for _, tool := range message.Result.Tools {
			longest = append(longest, Tool{"mcp__server__" + tool.Name, tool.Description, tool.InputSchema})
		}
	}
	if len(longest) == 0 {
		t.Fatalf("%s lists no tools", file)
	}
	return longest
}

var small = []string{"tickets-ts-auto-sibling-basic.2", "rough-asrama", "features-ts-legacy-full", "rough-mcpgo-everything", "slack-ts-auto"}

func smallList(t testing.TB, name string) []Tool {
	return toolsOf(t, filepath.Join("..", "..", "decode", "testdata", "corpus", name+".jsonl"))
}

// TestLists: the parts are the whole, and cutting a definition into parts costs no
// more than a few per cent against estimating it in one piece.
func TestLists(t *testing.T) {
	for _, model := range []string{"claude-opus-5-5", "claude-haiku-4-5"} {
		e := estimator(t, model)
		for _, name := range small {
			tools := smallList(t, name)
			each, sum := e.List(tools)
			var parts float64
			for i, c := range each {
				if d := mid(c.Name) + mid(c.Description) + mid(c.Schema) + mid(c.Wrapper) - mid(c.Sum); math.Abs(d) > 1e-6 {
					t.Errorf("%s, %s: the parts are off by %v", name, tools[i].Name, d)
				}
				whole := mid(e.Bytes(tools[i].Render()))
				if mid(c.Sum) < whole*0.95 || mid(c.Sum) > whole*1.08 {
					t.Errorf("%s, %s: %v by parts, %v as a whole", name, tools[i].Name, c.Sum, whole)
				}
				parts += mid(c.Sum)
			}
			if math.Abs(parts-mid(sum)) > 1e-6 {
				t.Errorf("%s: the tools sum up to %v, the list to %v", name, parts, sum)
			}
			low, m, high := sum.Bounds()
			if low < m*0.7 || high > m*1.4 || low > m*0.86 || high < m*1.14 {
				t.Errorf("%s: the range %v is not the stated 15 %%", name, sum)
			}
		}
	}
}

// TestSmallTools: what was measured for small tools on the new family is 106 to 133
// tokens each, over three lists whose texts are not at hand; small real tools must
// be of that order.
func TestSmallTools(t *testing.T) {
	e := estimator(t, "claude-haiku-5-5")
	tools := smallList(t, "slack-ts-auto")
	_, sum := e.List(tools)
	if per := mid(sum) / float64(len(tools)); per < 106 || per > 220 {
		t.Errorf("slack: %.0f tokens a tool, want the order of 130-220", per)
	}
}

// TestCorpusLists: the figures of the reference for larger servers, which were made
// with the same rules on other versions of them. It needs the whole corpus.
func TestCorpusLists(t *testing.T) {
	dir := os.Getenv("MCPTAP_CORPUS")
	if dir == "" {
		return
	}
	e := estimator(t, "claude-opus-5-5")
	for _, c := range []struct {
		session string
		per     float64
	}{
		{"filesystem-ts-auto-calls", 219},
		{"everything-ts-auto-full", 158},
		{"playwright-ts-auto-calls", 275},
		{"chrome-devtools-go-auto-list", 335},
		{"notion-go-auto", 1285},
	} {
		tools := toolsOf(t, filepath.Join(dir, c.session+".jsonl"))
		_, sum := e.List(tools)
		per := mid(sum) / float64(len(tools))
		t.Logf("%-30s %3d tools %v, %.0f a tool, then %.0f", c.session, len(tools), sum, per, c.per)
		if per < c.per*0.85 || per > c.per*1.15 {
			t.Errorf("%s: %.0f tokens a tool, was %.0f", c.session, per, c.per)
		}
	}
}

func mid(c Count) float64 {
	_, m, _ := c.Bounds()
	return m
}
