package tidy

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
)

// maxText is how long a text is looked at, in bytes.
const maxText = 4 << 20

// Result looks at the response of a tools/call, as the frame's bytes.
func Result(frame []byte, o Options) (advice []Advice) {
	result := gjson.GetBytes(frame, "result")
	if !result.IsObject() || !gjson.ValidBytes(frame) {
		return nil
	}
	pretty := Advice{Kind: PrettyJSON}
	for i, block := range result.Get("content").Array() {
		text := block.Get("text").String()
		compact, ok := compactJSON(text)
		if !ok {
			continue
		}
		if pretty.Places == 0 {
			pretty.Path = fmt.Sprintf("/result/content/%d/text", i)
		}
		pretty.Places++
		pretty.Bytes += len(text) - len(compact)
		pretty.Tokens += o.tokens(text) - o.tokens(compact)
	}
	if pretty.Places > 0 {
		advice = append(advice, pretty)
	}
	if _, copies := decode.AccountCopies(frame, 0); copies.Structured > 0 {
		said := result.Get("structuredContent").Raw
		if compact, ok := compactJSON(said); ok {
			said = compact
		}
		advice = append(advice, Advice{Kind: SaidTwice, Path: "/result/structuredContent", Places: 1, Bytes: len(said), Tokens: o.tokens(said)})
	}
	return advice
}

// compactJSON writes JSON without white space; false for what is no object or
// array, or has none.
func compactJSON(text string) (string, bool) {
	if len(text) > maxText || text == "" {
		return "", false
	}
	if gjson.Parse(text).Type != gjson.JSON {
		return "", false
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil || b.Len() >= len(text) {
		return "", false
	}
	return b.String(), true
}
