package decode

import "github.com/tidwall/gjson"

// maxGist is the longest gist, in characters.
const maxGist = 100

// Gist is what a frame is about, for one line of a list: the tool, resource or
// prompt of a request, the error of a response, the text of what is no message.
// It is text from the outside: make it safe before it is drawn.
func Gist(body []byte, m Message) string {
	switch m.Kind {
	case Request, Notification:
		return cut(firstOf(body, "params.name", "params.uri", "params.message", "params.reason", "params.data"))
	case Error:
		e := gjson.GetBytes(body, "error")
		return cut(e.Get("code").Raw + " " + e.Get("message").String())
	case Stray, Log, Malformed, Body:
		return cut(string(body[:min(len(body), 4*maxGist)]))
	}
	return ""
}

func firstOf(body []byte, paths ...string) string {
	for _, v := range gjson.GetManyBytes(body, paths...) {
		if v.Exists() {
			return v.String()
		}
	}
	return ""
}

func cut(s string) string { return Shorten(s, maxGist) }

// Shorten gives a text of at most so many characters: of a longer one the beginning, with a
// sign for what is left out.
func Shorten(s string, characters int) string {
	n := 0
	for i := range s {
		if n++; n > characters {
			return s[:i] + "…"
		}
	}
	return s
}

// MaxReason is the longest reason for an outcome, in characters: what a person reads. A
// place that has less room cuts it where it shows it.
const MaxReason = 2000

// ResultText is the first text block of a tool's result, as the model reads it.
func ResultText(body []byte) string {
	return gjson.GetBytes(body, `result.content.#(type=="text").text`).String()
}
