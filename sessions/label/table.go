package label

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcptap/mcptap/sessions/internal/wordset"
)

//go:embed launchers.json
var launchersJSON []byte

// table is launchers.json, ready for use.
type table struct {
	AsOf         string      `json:"as_of"`
	Launchers    []*launcher `json:"launchers"`
	Extensions   []string    `json:"extensions"`    // of programs and scripts
	Generic      set         `json:"generic"`       // names that tell nothing
	PlainFolders set         `json:"plain_folders"` // folders whose names tell nothing
	Homes        set         `json:"homes"`         // folders of folders named after people
	BaseImages   set         `json:"base_images"`   // images that run what they are told to
	Preparations set         `json:"preparations"`  // shell commands that only prepare
	ShellWords   set         `json:"shell_words"`   // words before a command

	byName map[string]*launcher
}

// launcher is a program that runs another, or one of its subcommands. The
// fields are explained in launchers.json.
type launcher struct {
	Names       []string        `json:"names"`
	Target      kind            `json:"target"`
	Flags       []string        `json:"flags"`
	Values      []string        `json:"values"`
	Pairs       []string        `json:"pairs"`
	Targets     map[string]kind `json:"targets"`
	Folders     []string        `json:"folders"`
	Subs        []*launcher     `json:"subs"`
	Skip        int             `json:"skip"`
	Dashes      bool            `json:"dashes"`
	Assignments bool            `json:"assignments"`
	Cluster     bool            `json:"cluster"`
	Fold        bool            `json:"fold"`
	Versioned   bool            `json:"versioned"`
	Builtin     bool            `json:"builtin"`
	parent      *launcher
}

// role is what an option does to the arguments after it.
type role int

const (
	unknown role = iota
	flag
	value
	pair
	target
	folder
)

type option struct {
	role role
	kind kind // of a target
}

type set = wordset.Set

// launchers reads the embedded table once. A broken table is a broken build,
// which the tests catch, so it panics.
var launchers = sync.OnceValue(func() *table {
	t, err := parse(launchersJSON)
	if err != nil {
		panic("label: launchers.json: " + err.Error())
	}
	return t
})

func parse(b []byte) (*table, error) {
	t := &table{byName: make(map[string]*launcher)}
	if err := json.Unmarshal(b, t); err != nil {
		return nil, err
	}
	for _, l := range t.Launchers {
		for _, name := range l.Names {
			if t.byName[name] != nil {
				return nil, fmt.Errorf("launcher %q is listed twice", name)
			}
			t.byName[name] = l
		}
		l.adopt()
	}
	return t, nil
}

// adopt tells the subcommands whose they are.
func (l *launcher) adopt() {
	for _, sub := range l.Subs {
		sub.parent = l
		sub.adopt()
	}
}

// sub is the subcommand of that name, or nil.
func (l *launcher) sub(name string) *launcher {
	for _, sub := range l.Subs {
		if slices.Contains(sub.Names, name) {
			return sub
		}
	}
	return nil
}

// option is what an option means here or, failing that, to the parent.
func (l *launcher) option(name string) option {
	for ; l != nil; l = l.parent {
		if o := l.own(l.folded(name)); o.role != unknown {
			return o
		}
	}
	return option{}
}

func (l *launcher) own(name string) option {
	if k, ok := l.Targets[name]; ok {
		return option{target, k}
	}
	switch {
	case slices.Contains(l.Values, name):
		return option{role: value}
	case slices.Contains(l.Folders, name):
		return option{role: folder}
	case slices.Contains(l.Pairs, name):
		return option{role: pair}
	case slices.Contains(l.Flags, name) || l.hasPattern(name):
		return option{role: flag}
	}
	return option{}
}

func (l *launcher) folded(name string) string {
	if l.Fold {
		return strings.ToLower(name)
	}
	return name
}

// hasPattern tells whether one of the flags with a * at its end fits.
func (l *launcher) hasPattern(name string) bool {
	for _, f := range l.Flags {
		if prefix, ok := strings.CutSuffix(f, "*"); ok && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (l *launcher) clusters() bool {
	for ; l != nil; l = l.parent {
		if l.Cluster {
			return true
		}
	}
	return false
}

// launcher is the launcher that a command's first word calls, or nil. A
// program of the user's own that shares its name with one, ./start or ./mcp,
// is none.
func (t *table) launcher(word string, inShell bool) *launcher {
	path := splitPath(word)
	if len(path) == 0 {
		return nil
	}
	own := strings.HasPrefix(word, ".") && (len(path) < 2 || !isBin(path[len(path)-2]))
	name := strings.ToLower(path[len(path)-1])
	bare := name
	for _, ext := range []string{".exe", ".cmd", ".bat", ".com"} {
		bare = strings.TrimSuffix(bare, ext)
	}
	l := t.byName[bare]
	if l == nil {
		if l = t.byName[strings.TrimRight(bare, ".0123456789")]; l != nil && !l.Versioned {
			l = nil
		}
	}
	if l == nil || own || l.Builtin && (!inShell || word != bare) {
		return nil
	}
	return l
}

func isBin(folder string) bool {
	return folder == "bin" || folder == ".bin" || strings.EqualFold(folder, "scripts")
}
