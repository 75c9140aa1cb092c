package decode

import (
	"bytes"
	_ "embed" // for words.json
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// Level is how strongly a successful result looks like a failure.
type Level uint8

// The levels. Only LevelLikely and above make a HiddenError: a false alarm costs trust.
const (
	LevelNote Level = iota + 1 // worth a look, no more
	LevelLikely
	LevelStrong // it says so by itself
)

var levelNames = [...]string{"", "note", "likely", "strong"}

func (l Level) String() string { return nameOf(levelNames[:], int(l)) }

// Hidden is why a result that reads as a success looks like a failure.
type Hidden struct {
	Level  Level
	Reason string // for people, from our own words and the names of members only
}

//go:embed words.json
var wordsFile []byte

// words are the word lists of the detector: data with a date, since habits of
// servers change.
type words struct {
	AsOf              string     `json:"as_of"`
	SuccessFlags      []string   `json:"success_flags"`
	FailureFlags      []string   `json:"failure_flags"`
	StatusKeys        []string   `json:"status_keys"`
	FailureStates     []string   `json:"failure_states"`
	Explanations      []string   `json:"explanations"`
	ErrorKeys         []string   `json:"error_keys"`
	HTTPStatusKeys    []string   `json:"http_status_keys"`
	FailurePrefixes   []string   `json:"failure_prefixes"`
	GerundOpeners     []string   `json:"gerund_openers"` // followed by what was being done: Error fetching x
	ValidationPhrases []string   `json:"validation_phrases"`
	ValidationPairs   [][]string `json:"validation_pairs"`
	DiagnosticTools   []string   `json:"diagnostic_tools"`
	PrefixLimit       int        `json:"prefix_limit"`
	ValidationLimit   int        `json:"validation_limit"`
	LearnAfter        uint32     `json:"learn_after"`
}

var theWords = sync.OnceValue(func() *words {
	w := new(words)
	if err := json.Unmarshal(wordsFile, w); err != nil {
		panic(err) // our own file, checked by a test
	}
	return w
})

// HiddenWordsAsOf is the date of the word lists.
func HiddenWordsAsOf() string { return theWords().AsOf }

// sign is what gave a hidden error away.
type sign uint8

const (
	signNone sign = iota
	signFlag
	signStatus
	signOnlyError
	signErrorNoData
	signHTTP
	signPrefix
	signErrors
	signValidation
)

var signTexts = [...]string{
	signFlag:        "a member of the payload is the boolean that means failure",
	signStatus:      "the payload has the status of a failure and explains it",
	signOnlyError:   "the payload is an error and nothing else",
	signErrorNoData: "the payload has an error beside no data",
	signHTTP:        "the payload has an HTTP status of 400 or above and a message",
	signPrefix:      "the text begins like an error message",
	signErrors:      "the payload has errors beside data",
	signValidation:  "the text reads like a validation error",
}

// hiddenSign is a suspicion in three bytes.
type hiddenSign struct {
	level Level
	sign  sign
	key   uint8 // index + 1 in signKeys
}

// maxLooked bounds how long a text is looked at: a failure is short.
const maxLooked = 16 << 10

// suspect looks for a failure inside a success. Only the top level counts: error
// words in file contents, logs or search hits are data.
func (s *Session) suspect(tool uint32, body []byte, r *result) hiddenSign {
	h := s.habitsOf(tool)
	h.results++
	if isObject(body, r.structured) {
		return suspectObject(h, body, r.structured)
	}
	blocks, firstText := countText(body, r.content)
	c := firstChar(body, firstText)
	if c == '[' || c == 0 || firstText.size() > maxLooked {
		return hiddenSign{}
	}
	trimmed := bytes.TrimSpace(s.unescape(body, firstText))
	if c == '{' && gjson.ValidBytes(trimmed) {
		return suspectObject(h, trimmed, whole(trimmed))
	}
	return suspectText(trimmed, blocks == 1, h.diagnostic)
}

// unescape puts a string value into the session's scratch memory.
func (s *Session) unescape(b []byte, v span) []byte {
	if raw, ok := plain(b, v); ok {
		return raw
	}
	s.scratch = append(s.scratch[:0], text(b, v)...)
	return s.scratch
}

// countText counts the blocks of a content array and finds its first text.
func countText(b []byte, content span) (blocks int, first span) {
	if !isArray(b, content) {
		return 0, span{}
	}
	for w := walk(b, content); w.next(); {
		if blocks++; !first.there() {
			first = blockText(b, w.value)
		}
		if blocks > 1 && first.there() {
			break
		}
	}
	return blocks, first
}

// blockText is the text of a content block of type text.
func blockText(b []byte, block span) (said span) {
	isText := false
	for w := walk(b, block); w.object && w.next(); {
		switch string(w.name()) {
		case "type":
			isText = is(b, w.value, "text")
		case "text":
			said = w.value
		}
	}
	if !isText {
		return span{}
	}
	return said
}

// object is the top level of a payload.
type object struct {
	b    []byte
	keys []string
	vals []span
}

// maxKeys is the most members of a payload that are looked at.
const maxKeys = 64

func topLevel(b []byte, in span) (o object) {
	o.b = b
	for w := walk(b, in); w.next() && len(o.keys) < maxKeys; {
		o.keys = append(o.keys, string(w.name()))
		o.vals = append(o.vals, w.value)
	}
	return o
}

func (o *object) get(key string) span {
	if i := slices.Index(o.keys, key); i >= 0 {
		return o.vals[i]
	}
	return span{}
}

func (o *object) any(keys []string, test func(span) bool) (key string, ok bool) {
	for _, k := range keys {
		if v := o.get(k); v.there() && test(v) {
			return k, true
		}
	}
	return "", false
}

func suspectObject(h *habits, b []byte, in span) hiddenSign {
	o := topLevel(b, in)
	if len(o.keys) == 1 && o.keys[0] == "result" { // a wrapper that SDKs put around what is no object
		inner := o.vals[0]
		switch {
		case isObject(b, inner):
			o = topLevel(b, inner)
		case isString(b, inner) && inner.size() <= maxLooked:
			return suspectText(bytes.TrimSpace([]byte(text(b, inner))), true, h.diagnostic)
		}
	}
	h.learn(&o)
	sg, key := o.judge()
	level := sg.level()
	if level != LevelStrong && level != 0 && h.diagnostic {
		return hiddenSign{}
	}
	return hiddenSign{level: level, sign: sg, key: keyIndex(key)}
}

func (g sign) level() Level {
	switch g {
	case signFlag, signStatus, signOnlyError:
		return LevelStrong
	case signErrorNoData, signHTTP, signPrefix:
		return LevelLikely
	case signErrors, signValidation:
		return LevelNote
	}
	return 0
}

// judge finds the strongest sign in a payload, and the member that it rests on.
func (o *object) judge() (sign, string) {
	w := theWords()
	if k, ok := o.any(w.SuccessFlags, func(v span) bool { return string(v.of(o.b)) == "false" }); ok {
		return signFlag, k
	}
	if k, ok := o.any(w.FailureFlags, func(v span) bool { return isTrue(o.b, v) }); ok {
		return signFlag, k
	}
	_, explained := o.any(w.Explanations, o.filled)
	if k, ok := o.any(w.StatusKeys, o.failureState); ok && explained {
		return signStatus, k
	}
	failure, failed := o.any([]string{"error", "errors"}, o.filled)
	switch {
	case failed && o.only(w.ErrorKeys):
		return signOnlyError, failure
	case failed && failure == "error" && !isTrue(o.b, o.get("error")) && o.noData():
		return signErrorNoData, failure
	}
	if k, ok := o.any(w.HTTPStatusKeys, o.httpFailure); ok && explained {
		return signHTTP, k
	}
	if v := o.get("errors"); isArray(o.b, v) && o.filled(v) && !o.noData() {
		return signErrors, "errors"
	}
	return signNone, ""
}

func (o *object) failureState(v span) bool {
	return isString(o.b, v) && slices.Contains(theWords().FailureStates, strings.ToLower(text(o.b, v)))
}

// filled reports whether a value says anything: null, "", false, [] and {} don't.
func (o *object) filled(v span) bool {
	switch first(o.b, v) {
	case '"':
		return v.size() > 2
	case '{', '[':
		w := walk(o.b, v)
		return w.next()
	case 'n', 'f', 0:
		return false
	}
	return true
}

func (o *object) only(keys []string) bool {
	for _, k := range o.keys {
		if !slices.Contains(keys, k) {
			return false
		}
	}
	return true
}

// noData reports whether a member other than those that explain an error is
// there and empty, and none is filled.
func (o *object) noData() bool {
	empty := false
	for i, k := range o.keys {
		if slices.Contains(theWords().ErrorKeys, k) || slices.Contains(theWords().SuccessFlags, k) {
			continue
		}
		if o.filled(o.vals[i]) {
			return false
		}
		empty = true
	}
	return empty
}

func (o *object) httpFailure(v span) bool {
	n, err := strconv.Atoi(string(v.of(o.b)))
	return err == nil && 400 <= n && n <= 599
}

func suspectText(said []byte, single, diagnostic bool) hiddenSign {
	w := theWords()
	switch {
	case diagnostic || len(said) == 0 || !single:
		return hiddenSign{}
	case len(said) < w.PrefixLimit && failurePrefix(said):
		return hiddenSign{level: LevelLikely, sign: signPrefix}
	case len(said) < w.ValidationLimit && validation(said):
		return hiddenSign{level: LevelNote, sign: signValidation}
	}
	return hiddenSign{}
}

// failurePrefix takes the listed beginnings, and one word before "error:".
func failurePrefix(said []byte) bool {
	for _, p := range theWords().FailurePrefixes {
		if bytes.HasPrefix(said, []byte(p)) {
			return true
		}
	}
	word, rest, ok := bytes.Cut(said[:min(len(said), 64)], []byte(" "))
	doing, _, _ := bytes.Cut(rest, []byte(" "))
	if slices.Contains(theWords().GerundOpeners, string(word)) && bytes.HasSuffix(doing, []byte("ing")) {
		return true
	}
	return ok && len(word) > 0 && !bytes.ContainsAny(word, "\n\"'`:") && (bytes.HasPrefix(rest, []byte("error:")) || bytes.HasPrefix(rest, []byte("Error:")))
}

func validation(said []byte) bool {
	lower := bytes.ToLower(said)
	for _, p := range theWords().ValidationPhrases {
		if bytes.Contains(lower, []byte(p)) {
			return true
		}
	}
	for _, pair := range theWords().ValidationPairs {
		_, after, ok := bytes.Cut(lower, []byte(pair[0]))
		if ok && bytes.Contains(after, []byte(pair[1])) {
			return true
		}
	}
	return false
}

// diagnostic reports whether a tool is about errors by its name: its results may
// well speak of them.
func diagnostic(tool string) bool {
	name := strings.ToLower(tool)
	for _, w := range theWords().DiagnosticTools {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// habits is what all results of one tool so far have in common.
type habits struct {
	results    uint32
	diagnostic bool // its name says that it is about errors
	keys       []habit
}

// habit counts one member at the top level of a tool's payloads.
type habit struct {
	key    uint8 // index + 1 in signKeys
	seen   uint32
	values [3]uint64 // hashes of different values, as they came
	kinds  uint8     // how many of them
}

var valueSeed = maphash.MakeSeed()

func (s *Session) habitsOf(tool uint32) *habits {
	h := s.learnt[tool]
	if h == nil {
		h = &habits{diagnostic: diagnostic(s.names.name(tool))}
		if len(s.learnt) < maxNames {
			s.learnt[tool] = h
		}
	}
	return h
}

// signKeys are the members that a sign can rest on.
var signKeys = sync.OnceValue(func() []string {
	w := theWords()
	return slices.Concat([]string{"error", "errors"}, w.StatusKeys, w.HTTPStatusKeys, w.SuccessFlags, w.FailureFlags)
})

func keyIndex(key string) uint8 { return uint8(slices.Index(signKeys(), key) + 1) }

// learn counts the members that may turn out to be data. Booleans are left out:
// one that means failure does so however often it is there.
func (h *habits) learn(o *object) {
	for i, k := range signKeys() {
		if v := o.get(k); v.there() && !isBoolean(o.b, v) {
			h.count(uint8(i+1), maphash.Bytes(valueSeed, v.of(o.b)))
		}
	}
}

func isBoolean(b []byte, v span) bool { return first(b, v) == 't' || first(b, v) == 'f' }

func (h *habits) count(key uint8, value uint64) {
	b := h.of(key)
	if b == nil {
		h.keys = append(h.keys, habit{key: key})
		b = &h.keys[len(h.keys)-1]
	}
	b.seen++
	if int(b.kinds) < len(b.values) && !slices.Contains(b.values[:b.kinds], value) {
		b.values[b.kinds] = value
		b.kinds++
	}
}

func (h *habits) of(key uint8) *habit {
	for i := range h.keys {
		if h.keys[i].key == key {
			return &h.keys[i]
		}
	}
	return nil
}

// isData reports whether that member is in every result of the tool, with many
// values: then it is what the tool is about, and no sign.
func (h *habits) isData(key uint8) bool {
	b := h.of(key)
	return b != nil && h.results >= theWords().LearnAfter && b.seen == h.results && int(b.kinds) == len(b.values)
}

func (s *Session) judgeHidden(e *call, c *Call) {
	h := s.learnt[e.name]
	if h != nil && h.isData(e.hidden.key) {
		if c.Outcome == HiddenError {
			c.Outcome = OK
		}
		return
	}
	reason := signTexts[e.hidden.sign]
	if e.hidden.key > 0 {
		reason += " (" + signKeys()[e.hidden.key-1] + ")"
	}
	c.Hidden = &Hidden{Level: e.hidden.level, Reason: reason}
}
