package replay

import (
	"slices"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay/internal/wire"
)

// An Apart is a call of a tool that is not the model's.
type Apart struct {
	Call
	Reason string
}

// ApartOf gives why the call of a session is not the model's; "" if nothing says so.
func (t *Timeline) ApartOf(session, call int) string {
	lead := t.Sessions[session].Operation(call).Legs[0].Call
	for i := range t.Apart {
		if a := &t.Apart[i]; a.Session == session && a.Index == lead {
			return a.Reason
		}
	}
	return ""
}

// apart tells why a call is not the model's; "" if nothing says so.
func (t *Timeline) apart(c *Call, q *asked) string {
	switch {
	case slices.Contains(t.notModel, c.Tool):
		return "the user said that calls of this tool are the host's own"
	case q.permission:
		return "its arguments are those of the tool that a host asks for a permission"
	case t.appOnly(c):
		return "the tool is for the server's own user interface: the model is not offered it"
	}
	return ""
}

// asksPermission recognises the call that a host makes to ask whether another tool
// may be used.
func asksPermission(arguments wire.Value) bool {
	for _, name := range theThresholds().Permission {
		if !arguments.Get(name).There() {
			return false
		}
	}
	return arguments.Get(theThresholds().Permission[0]).Text() != ""
}

// appOnly reports a tool whose definition says that models do not see it.
func (t *Timeline) appOnly(c *Call) bool {
	it, ok := t.catalogues[c.Session].Find(decode.Tools, c.Tool, c.Request.Frame)
	return ok && AppOnly(it.Definition)
}

// AppOnly reports a definition whose _meta.ui.visibility leaves out the model (MCP
// Apps).
func AppOnly(definition []byte) bool {
	visibility := wire.Root(definition).At("_meta", "ui", "visibility")
	if !visibility.IsArray() {
		return false
	}
	return !slices.ContainsFunc(visibility.Items(), func(v wire.Value) bool { return v.Text() == "model" })
}
