package schema

import "testing"

// TestAllCompile: a definition that does not compile would check nothing, and
// nobody would know.
func TestAllCompile(t *testing.T) {
	for name := range revisions {
		r := of(name)
		if r == nil {
			t.Fatalf("%s can't be read", name)
		}
		for def := range r.defs {
			if r.compile(def) == nil {
				t.Errorf("%s: %s does not compile", name, def)
			}
		}
		if len(r.methods) < 20 {
			t.Errorf("%s: only %d methods", name, len(r.methods))
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, rev, def, value, at string }{
		{"a wrong type", "2025-11-25", "CallToolRequest", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}`, "/params/name"},
		{"the nearest branch of a union", "2025-11-25", "CallToolResult", `{"content":[{"type":"image","data":1,"mimeType":"a"}]}`, "/content/0/data"},
		{"a fraction in a form", "2026-07-28", "ElicitResult", `{"action":"accept","content":{"x":1.5}}`, ""},
		{"null in a capability", "2026-07-28", "ClientCapabilities", `{"experimental":{"a":{"b":null,"c":0.5}}}`, ""},
		{"a boolean subschema", "2025-06-18", "Tool", `{"name":"a","inputSchema":{"type":"object","properties":{"x":true}}}`, ""},
		{"format is a note", "2024-11-05", "Resource", `{"name":"a","uri":"not a uri"}`, ""},
		{"an unknown revision", "2030-01-01", "Tool", `{}`, ""},
		{"a number beyond all bounds", "2025-11-25", "Tool", `{"name":1e999999999}`, ""},
	} {
		got := Check(c.rev, c.def, []byte(c.value))
		if c.at == "" && len(got) > 0 || c.at != "" && (len(got) != 1 || got[0].At != c.at) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
