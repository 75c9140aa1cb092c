package diff

import (
	"fmt"
	"slices"
	"testing"
)

// Both eras of one server: the modern opening is cheaper here, and each call dearer.
const (
	legacyOpening = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}},"clientInfo":{"name":"lab-client","version":"0.1","title":"A client","websiteUrl":"https://example.com/a/page/that/says/what/it/is/and/who/made/it","description":"It says much of itself, as some do, and a modern one says it with every request instead, or not at all. Some say even more than that, and have icons, too, each of them with its sizes and its type, which count as well."}}}`
	legacyOpened  = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`
	initialized   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	modernMeta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	modernOpening = `{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{` + modernMeta + `}}`
	modernOpened  = `{"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`
)

// drive makes the two sessions of a client that makes so many calls.
func drive(calls int) (legacy, modern script) {
	legacy = script{"> " + legacyOpening, "< " + legacyOpened, "> " + initialized}
	modern = script{"> " + modernOpening, "< " + modernOpened}
	for i := range calls {
		id := 100 + i
		legacy = append(legacy, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"q":"x"}}}`, id),
			fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, id))
		modern = append(modern, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"q":"x"},%s}}`, id, modernMeta),
			fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","content":[]}}`, id))
	}
	return legacy, modern
}

// TestBreakEven drives as many calls as were said, and one less.
func TestBreakEven(t *testing.T) {
	legacy, modern := drive(1)
	e := Compare(legacy.side("a"), modern.side("b"), Options{}).BreakEven()
	if e.Unknown != "" || e.Fixed >= 0 || e.PerCall <= 0 || e.Calls < 2 {
		t.Fatalf("%+v", e)
	}
	for _, c := range []struct {
		calls  int64
		dearer bool
	}{{e.Calls - 1, false}, {e.Calls, true}} {
		legacy, modern := drive(int(c.calls))
		d := Compare(legacy.side("a"), modern.side("b"), Options{})
		if got := d.Bill.B.Total() > d.Bill.A.Total(); got != c.dearer {
			t.Errorf("%d calls: %d and %d bytes; break-even at %d", c.calls, d.Bill.A.Total(), d.Bill.B.Total(), e.Calls)
		}
		if again := d.BreakEven(); again.Calls != e.Calls {
			t.Errorf("%d calls: break-even at %d, not at %d", c.calls, again.Calls, e.Calls)
		}
	}
	swapped := Compare(modern.side("a"), legacy.side("b"), Options{}).BreakEven()
	if swapped.Calls != e.Calls || swapped.Fixed != -e.Fixed || swapped.PerCall != -e.PerCall {
		t.Errorf("%+v from the other end, %+v from this", swapped, e)
	}
}

// TestProbe: what a probe in a process of its own took is part of the opening.
func TestProbe(t *testing.T) {
	legacy, modern := drive(2)
	probe := slices.Clone(modern[:2]).side("probe")
	b := modern[2:].side("b")
	if e := Compare(legacy.side("a"), b, Options{}).BreakEven(); e.Unknown == "" {
		t.Errorf("a break-even without an opening: %+v", e)
	}
	b.Probe = &probe
	apart, together := Compare(legacy.side("a"), b, Options{}), Compare(legacy.side("a"), modern.side("b"), Options{})
	if apart.Bill != together.Bill || apart.BreakEven() != together.BreakEven() || len(apart.Rows) != len(together.Rows) {
		t.Errorf("%s\nis not\n%s", describe(apart), describe(together))
	}
}
