package label

import "strings"

// found is what a launcher turns out to run.
type found struct {
	kind   kind
	arg    string   // what says so
	rest   []string // the arguments after it
	folder string   // where the launcher was told to go, or ""
}

// walk goes through a launcher's arguments up to the one that says what is
// run.
type walk struct {
	at    *launcher // or its subcommand
	table *table
	args  []string
	skip  int
	doubt bool // an option was met that is not in the table
	found found
}

// find walks the arguments of l.
func (t *table) find(l *launcher, args []string) found {
	w := &walk{table: t, args: args}
	w.enter(l)
	for len(w.args) > 0 && !w.step() {
	}
	return w.found
}

func (w *walk) enter(l *launcher) {
	w.at = l
	w.skip = l.Skip
	if !l.Dashes {
		return
	}
	for i, arg := range w.args {
		if arg == "--" {
			w.args, w.skip, w.doubt = w.args[i:], 0, false
			return
		}
	}
}

// step takes the next argument and tells whether the walk is over.
func (w *walk) step() bool {
	arg := w.args[0]
	w.args = w.args[1:]
	if arg == "--" && w.at.Target != "" {
		w.doubt = false // what follows is no option's value
		return false
	}
	if name, val, attached, ok := w.splitOption(arg); ok {
		return w.option(name, val, attached)
	}
	return w.word(arg)
}

// splitOption tells whether arg is an option, and its value if it is attached.
func (w *walk) splitOption(arg string) (name, val string, attached, ok bool) {
	if w.at.option(arg).role != unknown {
		return arg, "", false, true
	}
	if len(arg) < 2 || arg[0] != '-' || arg == "--" {
		return "", "", false, false
	}
	if name, val, ok := strings.Cut(arg, "="); ok {
		return name, val, true, true
	}
	if w.at.clusters() && arg[1] != '-' {
		return w.splitCluster(arg)
	}
	return arg, "", false, true
}

// splitCluster takes short options that are joined: -it is -i and -t, and what
// follows the first that has a value is its value.
func (w *walk) splitCluster(arg string) (name, val string, attached, ok bool) {
	for i := 1; i < len(arg); i++ {
		name = "-" + arg[i:i+1]
		switch w.at.option(name).role {
		case flag:
			continue
		case unknown:
			return arg, "", false, true
		}
		return name, arg[i+1:], i+1 < len(arg), true
	}
	return name, "", false, true
}

func (w *walk) option(name, val string, attached bool) bool {
	o := w.at.option(name)
	switch o.role {
	case pair:
		w.take()
		w.take()
	case value:
		if !attached {
			w.take()
		}
	case folder, target:
		if !attached {
			val = w.take()
		}
		if o.role == folder {
			w.found.folder = val
			break
		}
		return w.finish(o.kind, val)
	case unknown:
		w.doubt = w.doubt || !attached
	}
	return false
}

// take takes an option's value.
func (w *walk) take() string {
	if len(w.args) == 0 {
		return ""
	}
	val := w.args[0]
	w.args = w.args[1:]
	return val
}

// word takes an argument that is no option.
func (w *walk) word(arg string) bool {
	if sub := w.at.sub(arg); sub != nil {
		if sub.Target == "self" {
			return w.finish(sub.Target, arg)
		}
		w.doubt = false // an option's value would hardly be called so
		w.enter(sub)
		return false
	}
	switch {
	case w.at.Assignments && isAssignment(arg):
		return false
	case w.skip > 0:
		w.skip--
		return false
	case !w.accept(arg):
		return false
	}
	return w.finish(w.at.Target, arg)
}

// accept tells whether an argument can be what is run. After an unknown option
// it could also be that option's value, and what follows could be anything, so
// then only something that looks like a server is: a script, a scoped package,
// another launcher, a name with mcp in it.
func (w *walk) accept(arg string) bool {
	if !w.doubt {
		return true
	}
	_, script := w.table.cutExtension(arg)
	scoped := strings.HasPrefix(arg, "@") && strings.Contains(arg, "/")
	return script || scoped || strings.Contains(strings.ToLower(arg), "mcp") || w.table.launcher(arg, false) != nil
}

func (w *walk) finish(k kind, arg string) bool {
	w.found.kind, w.found.arg, w.found.rest = k, arg, w.args
	return true
}

// isAssignment tells whether a word is A=b.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		if !isAlnum(name[i]) && name[i] != '_' {
			return false
		}
	}
	return true
}
