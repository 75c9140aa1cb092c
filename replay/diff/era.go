package diff

import (
	"github.com/mcptap/mcptap/decode"
)

// Methods that only one era has (the schema of each revision), and whose work the
// other era has no need of. What a server asks has a legacy request and a modern
// member of a result, and resources/subscribe has the listen stream for its
// counterpart: they are in neither list.
var (
	legacyOnly = map[string]bool{
		"initialize": true, "notifications/initialized": true, "ping": true, "logging/setLevel": true,
		"tasks/list": true, "tasks/result": true,
		"notifications/roots/list_changed": true, "notifications/elicitation/complete": true, "notifications/tasks/status": true,
	}
	modernOnly = map[string]bool{
		"server/discover": true, "subscriptions/listen": true, "notifications/subscriptions/acknowledged": true,
		"tasks/update": true, "notifications/tasks": true,
	}
)

const modernRevision = "2026-07-28"

// methodReason says why a method stands on one side only, if the era of the other
// side has none of it.
func (w *work) methodReason(method string, missingA bool) string {
	other := w.b
	if missingA {
		other = w.a
	}
	switch era := other.era(); {
	case era == decode.Modern && legacyOnly[method]:
		return "no " + method + " in " + modernRevision
	case era == decode.Legacy && modernOnly[method]:
		return "no " + method + " before " + modernRevision
	case era == decode.Modern && method == "notifications/message":
		return "since " + modernRevision + " logs are sent only for requests that ask for them"
	case era == decode.Modern && isQuestion(method):
		return "since " + modernRevision + " a server asks within the result of a call"
	}
	return ""
}

// era is a session's era, from its probe if its own wire does not tell.
func (s *source) era() decode.Era {
	if s.eras.Era == decode.EraUnknown && s.Probe != nil && s.revision() >= modernRevision {
		return decode.Modern
	}
	return s.eras.Era
}

// crossEra reports two sessions of different eras.
func (w *work) crossEra() bool { return w.a.era() != w.b.era() }

func isQuestion(method string) bool {
	switch method {
	case "elicitation/create", "sampling/createMessage", "roots/list":
		return true
	}
	return false
}

func isList(method string) bool {
	_, ok := listKinds[method]
	return ok
}

var listKinds = map[string]decode.ListKind{
	"tools/list": decode.Tools, "prompts/list": decode.Prompts, "resources/list": decode.Resources, "resources/templates/list": decode.Templates,
}
