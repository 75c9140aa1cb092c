package redact

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/mcptap/mcptap/sessions/internal/wordset"
)

//go:embed secrets.json
var secretsJSON []byte

// table is secrets.json, ready for use.
type table struct {
	AsOf string `json:"as_of"`

	Words           set      `json:"words"`
	Phrases         []string `json:"phrases"`
	LastWords       set      `json:"last_words"`
	WordSuffixes    []string `json:"word_suffixes"`
	Suffixes        []string `json:"suffixes"`
	Names           set      `json:"names"`
	UpperLastWords  set      `json:"upper_last_words"`
	HarmlessFirst   set      `json:"harmless_first"`
	HarmlessLast    set      `json:"harmless_last"`
	HarmlessPhrases []string `json:"harmless_phrases"`
	HarmlessValues  set      `json:"harmless_values"`
	References      []string `json:"references"`

	Query      set `json:"query"`
	Headers    set `json:"headers"`
	ColonNames set `json:"colon_names"`
	Schemes    set `json:"schemes"`
	Users      set `json:"users"`

	SecretOptions    set       `json:"secret_options"`
	EnvOptions       set       `json:"env_options"`
	EnvCluster       string    `json:"env_cluster"`
	HeaderOptions    set       `json:"header_options"`
	ScriptOptions    set       `json:"script_options"`
	DefinePrefixes   []string  `json:"define_prefixes"`
	PairPrograms     set       `json:"pair_programs"`
	Shapes           []*shape  `json:"shapes"`
	HTTP             httpNames `json:"http"`
	referencePattern func() *regexp.Regexp
	mask             masker
}

type set = wordset.Set

// httpNames is what of HTTP goes by names of its own.
type httpNames struct {
	CredentialHeaders set      `json:"credential_headers"` // a scheme, and a secret
	ChallengeHeaders  set      `json:"challenge_headers"`
	URLHeaders        set      `json:"url_headers"`
	ArgumentHeaders   set      `json:"argument_headers"` // what the body says as well
	LastHeaderWords   set      `json:"last_header_words"`
	OpenHeaders       set      `json:"open_headers"` // in spite of their last word
	CookieAttributes  set      `json:"cookie_attributes"`
	Query             set      `json:"query"`           // secret in a query, beside the query list above
	HarmlessFields    set      `json:"harmless_fields"` // of queries and forms
	PrivateKeyMembers set      `json:"private_key_members"`
	FormTags          []string `json:"form_tags"` // a page with one of these is not kept
}

// shape is what one kind of token looks like. The expressions are compiled
// when a text first holds one of the literals, which most texts never do.
type shape struct {
	Name     string   `json:"name"`
	Literals []string `json:"literals"` // a text without any of them has no match
	Pattern  string   `json:"pattern"`  // its group "secret", if any, is what is masked
	Except   string   `json:"except"`   // a match of this is no secret
	Digit    bool     `json:"digit"`    // a match without a digit is no secret
	Anywhere bool     `json:"anywhere"` // a letter may stand right before it
	compiled func() matcher
}

type matcher struct {
	pattern, except *regexp.Regexp
	group           int
}

// boundary is what may stand before a token: no letter or digit, except the
// letter of an escape such as \n in JSON text.
const boundary = `(?:^|[^A-Za-z0-9]|\\[nrtbf])`

func (s *shape) compile() matcher {
	pattern := "(" + s.Pattern + ")"
	if !s.Anywhere {
		pattern = boundary + pattern
	}
	re := regexp.MustCompile(pattern)
	m := matcher{pattern: re, group: 1}
	if g := re.SubexpIndex("secret"); g > 0 {
		m.group = g
	}
	if s.Except != "" {
		m.except = regexp.MustCompile(s.Except)
	}
	return m
}

func (s *shape) in(text string) bool {
	for _, literal := range s.Literals {
		if strings.Contains(text, literal) {
			return true
		}
	}
	return false
}

// data reads the embedded table once. A broken table is a broken build, which
// the tests catch, so it panics.
var data = sync.OnceValue(func() *table {
	t, err := parse(secretsJSON)
	if err != nil {
		panic("redact: secrets.json: " + err.Error())
	}
	return t
})

func parse(b []byte) (*table, error) {
	t := new(table)
	if err := json.Unmarshal(b, t); err != nil {
		return nil, err
	}
	t.referencePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(strings.Join(t.References, "|"))
	})
	for _, s := range t.Shapes {
		s.compiled = sync.OnceValue(s.compile)
	}
	return t, nil
}
