package rules

import (
	_ "embed"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, safetyRules) }

var safetyRules = []Rule{
	{ID: "AUTH-12", Severity: Warning, Side: Server, Span: From25c, Page: "client/elicitation",
		Title: "the URL of an elicitation holds no credentials or personal data",
		Words: "an elicitation URL seems to hold credentials or personal data ($1)", check: checkElicitationURL},
	{ID: "AUTH-13", Severity: Warning, Side: Either, Span: All,
		Title: "no secrets travel in arguments, results and standard error",
		Words: "$1: what looks like a secret ($2) at $3", check: checkLeaks},
	{ID: "SAFE-01", Severity: Warning, Side: Server, Span: All,
		Title: "names, descriptions, instructions and prompts have no hidden characters",
		Words: "$1 has $2 in its $3", check: checkHidden},
	{ID: "SAFE-02", Severity: Warning, Side: Server, Span: All,
		Title: "descriptions and instructions give the model no orders behind the user's back",
		Words: `a suspicion: $1 speaks to the model ("$2")`, check: checkOrders},
	{ID: "SAFE-03", Severity: Warning, Side: Server, Span: All,
		Title: "a description gives no orders about tools of others",
		Words: "a suspicion: the description of $1 gives orders about $2, which is none of this server's tools", check: checkShadowing},
	{ID: "SAFE-04", Severity: Warning, Side: Server, Span: All,
		Title: "names can be told apart",
		Words: "the tool names $1 and $2 look alike", check: checkLookalikes},
	{ID: "SAFE-05", Severity: Warning, Side: Server, Span: All,
		Title: "a tool that failed says why, in text",
		Words: "$1 failed and says nothing that a model can read ($2)", check: checkMuteFailure},
	{ID: sinceEarlier, Severity: Warning, Side: Server, Span: All,
		Title: "a definition stays what it was when somebody agreed to it",
		Words: "the definition of $1 is not that of session $2 any more ($3)"},
}

// sinceEarlier is the rule that needs an earlier session to compare with.
const sinceEarlier = "SAFE-06"

//go:embed words.json
var wordsJSON []byte

// words is words.json: key shapes and phrases, as known on a date.
type words struct {
	AsOf        string            `json:"as_of"`
	Secrets     []*secretShape    `json:"secrets"`
	Examples    []string          `json:"examples"` // in a match: it is one from a manual
	SecretNames []string          `json:"secret_names"`
	URLSecrets  []string          `json:"url_secrets"`
	Orders      []string          `json:"orders"`
	Duties      []string          `json:"duties"`
	Missing     []string          `json:"missing"`
	Unsupported []string          `json:"unsupported"`
	Lookalikes  map[string]string `json:"lookalikes"`
}

// secretShape is what one kind of key looks like.
type secretShape struct {
	Kind     string   `json:"kind"`
	Literals []string `json:"literals"` // a text without any of them has no match
	Pattern  string   `json:"pattern"`
	Digit    bool     `json:"digit"` // a match without a digit is none
	re       func() *regexp.Regexp
}

// theWords reads the table once; a broken one is a broken build.
var theWords = sync.OnceValue(func() *words {
	w := new(words)
	if err := json.Unmarshal(wordsJSON, w); err != nil {
		panic("rules: words.json: " + err.Error())
	}
	for _, s := range w.Secrets {
		s.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^A-Za-z0-9_])(` + s.Pattern + `)`) })
	}
	return w
})

// WordsAsOf is the date of the key shapes and phrases.
func WordsAsOf() string { return theWords().AsOf }

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(text, s) })
}

// A leak is where a secret was seen; the secret itself is not repeated.
type leak struct{ kind, path string }

// maxSecrets is how many are told of one value.
const maxSecrets = 8

// secretsIn finds what looks like a secret in the strings of a JSON value. Most
// values have none of the literals: they are not even walked.
func secretsIn(v gjson.Result, path string) (out []leak) {
	if !v.Exists() || !slices.ContainsFunc(theWords().Secrets, func(s *secretShape) bool { return containsAny(v.Raw, s.Literals) }) {
		return nil
	}
	eachString(v, path, func(path, text string) {
		if kind := secretKind(text); kind != "" && len(out) < maxSecrets {
			if secretKind(path) != "" {
				path = "a member whose name is one, too"
			}
			out = append(out, leak{kind, brief(path)})
		}
	})
	return out
}

// secretKind names what a text holds; empty if that is no secret.
func secretKind(text string) string {
	for _, s := range theWords().Secrets {
		if containsAny(text, s.Literals) && s.matches(text) {
			return s.Kind
		}
	}
	return ""
}

func (s *secretShape) matches(text string) bool {
	for _, m := range s.re().FindAllStringSubmatch(text, maxSecrets) {
		if (!s.Digit || strings.ContainsAny(m[1], "0123456789")) && !containsAny(m[1], theWords().Examples) {
			return true
		}
	}
	return false
}

// maxDepth is how deep values are walked: each level is read once more.
const maxDepth = 32

// eachString visits the strings of a value with their paths.
func eachString(v gjson.Result, path string, visit func(path, text string)) {
	walkStrings(v, path, maxDepth, visit)
}

func walkStrings(v gjson.Result, path string, depth int, visit func(path, text string)) {
	if v.Type == gjson.String {
		visit(path, v.String())
		return
	}
	if depth == 0 {
		return
	}
	n := 0
	v.ForEach(func(key, item gjson.Result) bool {
		if item.Type == gjson.String || item.Type == gjson.JSON {
			name := "[" + strconv.Itoa(n) + "]"
			if v.IsObject() {
				name = "." + brief(key.String())
			}
			walkStrings(item, path+name, depth-1, visit)
		}
		n++
		return true
	})
}

func checkLeaks(p *pass, r *Rule) {
	p.frames(r, func(f *decode.Frame) {
		switch f.Kind {
		case decode.Log:
			if kind := secretKind(string(p.body(f.Index))); kind != "" {
				p.report(r, f.Index, -1, "standard error", kind, "a line")
			}
		case decode.Request, decode.Result:
			p.checkFrameSecrets(r, f)
		}
	})
}

// checkFrameSecrets reads what a model or a user writes, and what a model reads.
// Listings, and what is opaque to all but one end, it leaves alone.
func (p *pass) checkFrameSecrets(r *Rule, f *decode.Frame) {
	if f.Call < 0 {
		return
	}
	c := p.Call(f.Call)
	switch c.Method {
	case "tools/call", "resources/read", "prompts/get", "sampling/createMessage", "elicitation/create", "tasks/result":
	default:
		return
	}
	paths, part := []string{"params.arguments", "params.inputResponses"}, "arguments of "
	if f.Kind == decode.Result {
		paths, part = []string{"result"}, "result of "
	}
	body := p.json(f.Index)
	for _, path := range paths {
		for _, s := range secretsIn(body.Get(path), path) {
			p.report(r, f.Index, c.Index, part+subject(&c), s.kind, s.path)
		}
	}
}

// A saying is a text with which a server speaks to the model, or to whoever reads
// along: it is judged once, wherever it came from.
type saying struct {
	of, part    string // tool search, description
	text        string
	frame, call int
}

// sayings visits what the server says about itself: instructions, prompts, and all
// strings of its definitions.
func (p *pass) sayings(r *Rule, visit func(saying)) {
	p.results(r, func(c *decode.Call, result gjson.Result) {
		if v := result.Get("instructions"); v.Type == gjson.String {
			visit(saying{"the server", "instructions", v.String(), c.Response, c.Index})
		}
	}, "initialize", "server/discover")
	p.results(r, func(c *decode.Call, result gjson.Result) {
		eachString(result.Get("messages"), "messages", func(path, text string) {
			visit(saying{"prompt " + subject(c), path, text, c.Response, c.Index})
		})
	}, "prompts/get")
	for kind := decode.Tools; kind <= decode.Templates; kind++ {
		what := strings.TrimSuffix(kind.String(), "s")
		p.definitions(r, kind, func(d *definition) {
			eachString(d.json, "", func(path, text string) {
				visit(saying{what + " " + brief(d.Name), strings.TrimPrefix(path, "."), text, d.frame, d.call})
			})
		})
	}
}

func checkHidden(p *pass, r *Rule) {
	p.sayings(r, func(s saying) {
		if what := hiddenIn(s.text); what != "" {
			p.report(r, s.frame, s.call, s.of, what, brief(s.part))
		}
	})
}

// hiddenIn names the first character of a text that is there and does not show.
func hiddenIn(text string) string {
	if isPlain(text) {
		return ""
	}
	runes := []rune(text)
	rtl := slices.ContainsFunc(runes, func(c rune) bool {
		return unicode.In(c, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana)
	})
	for i, c := range runes {
		before := ' '
		if i > 0 {
			before = runes[i-1]
		}
		if name := hiddenName(c, before, rtl); name != "" {
			return name + " (U+" + strings.ToUpper(strconv.FormatInt(int64(c), 16)) + ")"
		}
	}
	return ""
}

func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// hiddenName knows who needs such characters: emoji are joined and coloured with
// them, flags are spelt with tags, Persian and Indic words need joiners, and
// Hebrew and Arabic marks.
func hiddenName(c, before rune, rtl bool) string {
	switch {
	case isTag(c) && before != blackFlag && !isTag(before):
		return "an invisible tag character"
	case 0x202A <= c && c <= 0x202E || 0x2066 <= c && c <= 0x2069:
		return "a character that changes the direction of text"
	case (c == 0x200E || c == 0x200F || c == 0x061C) && !rtl:
		return "a direction mark"
	case c == 0x200B || c == 0x2060 || 0x2061 <= c && c <= 0x2064 || c == 0xFEFF || c == 0x180E:
		return "a zero-width character"
	case (c == 0x200C || c == 0x200D) && before < 0x250:
		return "a zero-width joiner"
	case c == 0x115F || c == 0x1160 || c == 0x3164 || c == 0xFFA0:
		return "an invisible letter"
	case 0xFE00 <= c && c <= 0xFE0E && isSelector(before), 0xE0100 <= c && c <= 0xE01EF && !unicode.Is(unicode.Han, before):
		return "a hidden variation selector"
	case c < ' ' && c != '\n' && c != '\t' && c != '\r' || 0x7f <= c && c < 0xA0:
		return "a control character"
	}
	return ""
}

func isSelector(c rune) bool { return 0xFE00 <= c && c <= 0xFE0F }

// blackFlag begins the flag of a region, whose letters are tags.
const blackFlag = 0x1F3F4

func isTag(c rune) bool { return 0xE0000 <= c && c <= 0xE007F }

func checkOrders(p *pass, r *Rule) {
	p.sayings(r, func(s saying) {
		text := strings.ToLower(s.text)
		if strings.ContainsAny(text, "\n\t") || strings.Contains(text, "  ") {
			text = strings.Join(strings.Fields(text), " ")
		}
		for _, order := range theWords().Orders {
			if strings.Contains(text, order) {
				p.report(r, s.frame, s.call, "the "+s.part+" of "+s.of, order)
				return
			}
		}
	})
}

// foreignTool finds names in the ways that descriptions speak of tools: the send_email
// tool, calling send_email, send_email is called.
var foreignTool = regexp.MustCompile("(?:[`\"']([a-z][a-z0-9]*(?:_[a-z0-9]+)+)[`\"']|\\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)) (?:tool\\b|(?:is|was|gets) (?:called|used|invoked))|\\b(?:tool|calls?|calling|invok(?:e|ing)|(?:before|after|when|whenever) using) [`\"']?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\\b")

// checkShadowing looks for a name of a tool, not of this server, in a sentence
// that says what must be done.
func checkShadowing(p *pass, r *Rule) {
	own := map[string]bool{}
	p.lists(r, decode.Tools, func(l *decode.List) {
		for _, it := range l.Items {
			own[strings.ToLower(it.Name)] = true
		}
	})
	p.definitions(r, decode.Tools, func(d *definition) {
		schema := strings.ToLower(d.json.Get("inputSchema").Raw) // a parameter is no tool
		for _, name := range orderedTools(d.json.Get("description").String()) {
			if !own[name] && !strings.Contains(schema, `"`+name+`"`) {
				p.report(r, d.frame, d.call, brief(d.Name), brief(name))
			}
		}
	})
}

// maxOrdered is how many tools of one description are looked up.
const maxOrdered = 16

// orderedTools gives the tools that a text speaks of where it says what must be
// done.
func orderedTools(text string) (names []string) {
	for sentence := range strings.FieldsFuncSeq(strings.ToLower(text), isStop) {
		if !hasDuty(" " + sentence + " ") {
			continue
		}
		for _, m := range foreignTool.FindAllStringSubmatch(sentence, maxOrdered) {
			if name := m[1] + m[2] + m[3]; len(names) < maxOrdered && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func isStop(c rune) bool { return c == '.' || c == '\n' || c == '!' || c == ';' }

func hasDuty(sentence string) bool {
	return slices.ContainsFunc(theWords().Duties, func(d string) bool { return strings.Contains(sentence, " "+d+" ") })
}

// checkLookalikes compares names by their skeletons: lower case, and each letter
// replaced by the one it looks like.
func checkLookalikes(p *pass, r *Rule) {
	p.lists(r, decode.Tools, func(l *decode.List) {
		first := map[string]string{}
		for _, it := range l.Items {
			key := skeleton(it.Name)
			if poses(it.Name, key) {
				p.report(r, l.Upto, l.Calls[0], brief(it.Name), brief(key)+", in Latin letters,")
			}
			if other, ok := first[key]; ok && other != it.Name {
				p.report(r, l.Upto, l.Calls[0], brief(other), brief(it.Name))
				continue
			}
			first[key] = it.Name
		}
	})
}

// poses reports a name that is all Latin to look at, and is not. A name with a word
// of another alphabet is honest: not all of its letters have a double.
func poses(name, skeleton string) bool {
	return isPlain(skeleton) && strings.ContainsFunc(name, func(c rune) bool { return unicode.In(c, unicode.Cyrillic, unicode.Greek) })
}

func skeleton(name string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		if like, ok := theWords().Lookalikes[string(c)]; ok {
			b.WriteString(like)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func checkMuteFailure(p *pass, r *Rule) {
	p.results(r, func(c *decode.Call, result gjson.Result) {
		if c.Outcome != decode.ToolError {
			return
		}
		content, why := result.Get("content"), "no content"
		for _, block := range content.Array() {
			if text := block.Get("text"); strings.TrimSpace(text.String()) != "" || block.Get("resource.text").String() != "" {
				return
			}
			why = "no text"
		}
		p.report(r, c.Response, c.Index, subject(c), why)
	}, "tools/call")
}

// checkElicitationURL looks at the three places that URLs come from: a request of
// the server's own, a refusal (2025-11-25), and a question in a result.
func checkElicitationURL(p *pass, r *Rule) {
	judge := func(frame, call int, at gjson.Result) {
		if what := personal(at.Get("url").String()); what != "" {
			p.report(r, frame, call, what)
		}
	}
	p.calls(r, func(c *decode.Call) {
		switch {
		case c.Dir == tap.S2C && c.Method == "elicitation/create":
			judge(c.Request, c.Index, p.params(c))
		case c.HasError() && c.Code == -32042:
			for _, e := range p.json(c.Response).Get("error.data.elicitations").Array() {
				judge(c.Response, c.Index, e)
			}
		case c.Outcome == decode.InputRequired:
			for _, q := range p.result(c).Get("inputRequests").Map() {
				judge(c.Response, c.Index, q.Get("params"))
			}
		}
	})
}

// personal names the part of a URL that gives somebody away.
func personal(text string) string {
	u, err := url.Parse(text)
	if err != nil || text == "" {
		return ""
	}
	if _, has := u.User.Password(); has {
		return "user and password"
	}
	for _, key := range slices.Sorted(maps.Keys(u.Query())) {
		if slices.Contains(theWords().URLSecrets, strings.ToLower(key)) {
			return "query member " + brief(key)
		}
	}
	if kind := secretKind(text); kind != "" {
		return kind
	}
	return ""
}
