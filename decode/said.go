package decode

import (
	"bytes"
	"slices"

	"github.com/tidwall/gjson"
)

// FailureText is what the payload of a result says about the failure that it seems to
// hide, in the server's own words: the text of its error, or what explains its status.
// Empty if it says nothing of the kind. It is text from the outside, of MaxReason characters at most.
func FailureText(body []byte) string {
	p := look(body, whole(body))
	r := lookResult(body, p.result)
	if isObject(body, r.structured) {
		return explained(body, r.structured)
	}
	_, first := countText(body, r.content)
	if !first.there() || first.size() > maxLooked {
		return ""
	}
	said := bytes.TrimSpace([]byte(text(body, first)))
	if bytes.HasPrefix(said, []byte("{")) && gjson.ValidBytes(said) {
		return explained(said, whole(said))
	}
	return reason(string(said))
}

func reason(s string) string { return Shorten(s, MaxReason) }

// explained is what an object says of its failure: the first member that explains one,
// or else the one that the suspicion rests on.
func explained(b []byte, in span) string {
	o := topLevel(b, in)
	if len(o.keys) == 1 && o.keys[0] == "result" {
		switch inner := o.vals[0]; {
		case isObject(b, inner):
			o = topLevel(b, inner)
		case isString(b, inner):
			return reason(text(b, inner))
		}
	}
	_, key := o.judge()
	for _, k := range slices.Concat(theWords().Explanations, []string{key}) {
		if v := o.get(k); v.there() && o.filled(v) && !isTrue(b, v) {
			return reason(plainly(gjson.ParseBytes(v.of(b)), 0))
		}
	}
	return ""
}

// plainly is a value as a person would say it: of an object its message, of an array its
// first element.
func plainly(v gjson.Result, depth int) string {
	switch {
	case depth > 3:
	case v.IsArray():
		return plainly(v.Get("0"), depth+1)
	case v.IsObject():
		for _, k := range theWords().Explanations {
			if in := v.Get(gjson.Escape(k)); in.Exists() && in.Type != gjson.Null {
				return plainly(in, depth+1)
			}
		}
	}
	return v.String()
}
