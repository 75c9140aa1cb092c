package decode

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// A CodeName is the name of an error code, and what the name rests on.
type CodeName struct {
	Name string
	// Spec is true when the revision's own text defines the code; a name by
	// convention must be shown as such.
	Spec bool
	Note string
}

const (
	rev2025Nov = "2025-11-25"
	rev2026    = "2026-07-28"
)

// codeRule is one name of a code. Revisions are compared as strings: their dates
// order them.
type codeRule struct {
	code     int64
	from, to string // revisions, both included; empty for no bound
	name     string
	spec     bool
	note     string
}

// Sources: basic/index, client/elicitation and server/resources of each revision;
// the conventions are those of the official SDKs.
var codeRules = []codeRule{
	{-32700, "", "", "parse error", true, ""},
	{-32600, "", "", "invalid request", true, ""},
	{-32601, "", "", "method not found", true, ""},
	{-32602, "", "", "invalid params", true, ""},
	{-32603, "", "", "internal error", true, ""},
	{-32002, "", rev2025Nov, "resource not found", true, ""},
	{-32002, rev2026, "", "resource not found", false, "a code of earlier revisions, which servers must not send any more"},
	{-32042, rev2025Nov, rev2025Nov, "URL elicitation required", true, ""},
	{-32042, "", "", "URL elicitation required", false, "defined in 2025-11-25 only"},
	{-32020, rev2026, "", "header mismatch", true, ""},
	{-32021, rev2026, "", "missing required client capability", true, ""},
	{-32022, rev2026, "", "unsupported protocol version", true, ""},
	{-32020, "", "", "header mismatch", false, "a code of 2026-07-28"},
	{-32021, "", "", "missing required client capability", false, "a code of 2026-07-28"},
	{-32022, "", "", "unsupported protocol version", false, "a code of 2026-07-28"},
	{-1, "", rev2025Nov, "user rejected", false, "an example in the text on sampling"},
	{0, "", "", "no code", false, "Go servers send it for an error without a code"},
	{-32000, "", "", "server error", false, "SDKs wrap refusals of the HTTP level in it"},
	{-32001, rev2026, "", "session not found or request timeout", false, "draft numbering: header mismatch"},
	{-32001, "", "", "session not found or request timeout", false, "TypeScript servers (404); a timeout never travels"},
	{-32003, "", "", "client closing", false, "Go SDK; draft numbering: missing capability"},
	{-32004, "", "", "server closing", false, "Go SDK; draft numbering: unsupported version"},
	{-32005, "", "", "rejected by transport", false, "Go SDK"},
	{-31001, "", "", "no handler", false, "Go SDK"},
	{-32800, "", "", "request cancelled", false, "Python servers answer a cancelled request with it"},
}

// NameCode names an error code as of a revision; revision may be empty.
func NameCode(code int64, revision string) CodeName {
	for _, r := range codeRules {
		if r.code == code && r.applies(revision) {
			return CodeName{r.name, r.spec, r.note}
		}
	}
	switch {
	case -32019 <= code && code <= -32000:
		return CodeName{Name: "implementation-defined", Note: "a receiver must attach no meaning to it"}
	case -32768 <= code && code <= -32000:
		return CodeName{Name: "reserved", Note: "no document defines it"}
	}
	return CodeName{Name: "application error"}
}

func (r codeRule) applies(revision string) bool {
	if revision == "" {
		return r.spec || r.from == "" && r.to == ""
	}
	return r.from <= revision && (r.to == "" || revision <= r.to)
}

// An ErrorInfo is what the error of a response says.
type ErrorInfo struct {
	Code    int64
	Name    CodeName
	Message string // text from the outside
	Detail  string // what a known data member says, in words
	Data    string // the data member as it stands; empty if there is none
}

// DescribeError reads the error of a response body.
func DescribeError(body []byte, revision string) (info ErrorInfo, ok bool) {
	p := look(body, whole(body))
	if p.kind != kindError {
		return ErrorInfo{}, false
	}
	info.Code = p.code()
	info.Name = NameCode(info.Code, revision)
	info.Message = text(body, member(body, p.failure, "message"))
	data := member(body, p.failure, "data")
	info.Data = string(data.of(body))
	info.Detail = describeData(data.of(body))
	return info, true
}

// describeData puts the data members that the specification knows in words.
func describeData(data []byte) string {
	v := gjson.ParseBytes(data)
	if !v.IsObject() {
		return ""
	}
	var said []string
	say := func(format string, r gjson.Result) {
		if r.Exists() {
			said = append(said, fmt.Sprintf(format, reason(listed(r))))
		}
	}
	say("supported versions: %s", v.Get("supported"))
	say("asked for %s", v.Get("requested"))
	say("resource %s", v.Get("uri"))
	say("needs the client capabilities %s", v.Get("requiredCapabilities"))
	say("open %s first", v.Get("elicitations.#.url"))
	say("header says %s", v.Get("mismatch.header"))
	say("body says %s", v.Get("mismatch.body"))
	return strings.Join(said, ", ")
}

func listed(r gjson.Result) string {
	if !r.IsArray() {
		return r.String()
	}
	var items []string
	for _, v := range r.Array() {
		items = append(items, v.String())
		if len(items) > 16 {
			break
		}
	}
	return strings.Join(items, ", ")
}
