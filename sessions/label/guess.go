package label

import "strings"

// kind is what an argument that says what is run is.
type kind string

// maxHops bounds how many launchers may run one another.
const maxHops = 16

// guess is one search.
type guess struct {
	*table
	hops     int
	folder   []string // where the launchers were told to go
	launched string   // the innermost launcher, for want of a better name
	expanded bool     // "$@" was replaced once
}

// resolve says which path or name stands for what was found. The path's last
// element names it, the others are where it is.
func (g *guess) resolve(f found) []string {
	switch f.kind {
	case "command", "line":
		return g.commandOrLine(f)
	case "shell":
		return g.shell(f.arg, f.rest)
	case "remote":
		return g.remote(f)
	case "package":
		return g.pkg(f)
	case "image":
		return g.image(f)
	case "file":
		return g.file(f)
	case "module":
		return g.module(f)
	case "class": // module/class in Java
		return dotted(f.arg[strings.LastIndexByte(f.arg, '/')+1:])
	case "jar":
		return g.jar(f.arg)
	case "project":
		return g.script(f.arg)
	case "flake": // where#what in Nix
		return splitPath(f.arg[strings.LastIndexByte(f.arg, '#')+1:])
	case "url":
		return host(f.arg)
	case "script", "self": // a name as it is
		return []string{f.arg}
	}
	return nil // "inline": code, which has no name; "": nothing was found
}

// run finds what a command line runs, one in a shell's line if so.
func (g *guess) run(argv []string, inShell bool) []string {
	for len(argv) > 0 && isAssignment(argv[0]) {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return nil
	}
	if isURL(argv[0]) {
		return host(argv[0])
	}
	if l := g.table.launcher(argv[0], inShell); l != nil {
		return g.launch(l, argv[0], argv[1:])
	}
	return g.script(argv[0])
}

// launch finds what a launcher runs.
func (g *guess) launch(l *launcher, word string, args []string) []string {
	g.hops++
	g.launched = l.Names[0]
	if path := splitPath(word); len(path) > 0 {
		g.launched, _ = g.cutExtension(path[len(path)-1])
	}
	if g.hops > maxHops {
		return nil
	}
	f := g.find(l, args)
	if f.folder != "" {
		g.enter(f.folder)
	}
	return g.resolve(f)
}

// enter goes to a folder, from the one before it if it is no full path.
func (g *guess) enter(folder string) {
	if !isFullPath(folder) {
		g.folder = append(g.folder, splitPath(folder)...)
		return
	}
	g.folder = splitPath(folder)
}

// commandOrLine runs a command and its arguments, or a whole line if that is
// what the one argument is.
func (g *guess) commandOrLine(f found) []string {
	if strings.ContainsAny(f.arg, " \t\n") && (f.kind == "line" || len(f.rest) == 0) && !isFullPath(f.arg) {
		return g.shell(f.arg, nil)
	}
	return g.run(append([]string{f.arg}, f.rest...), f.kind == "line")
}

// remote is what is run on another host, or the host.
func (g *guess) remote(f found) []string {
	if len(f.rest) > 0 {
		if path := g.commandOrLine(found{kind: "line", arg: f.rest[0], rest: f.rest[1:]}); path != nil {
			return path
		}
	}
	return host("ssh://" + strings.TrimPrefix(f.arg, "ssh://"))
}

// pkg is a package, which may be a launcher itself.
func (g *guess) pkg(f found) []string {
	path := g.packagePath(f.arg)
	if len(path) == 0 {
		return nil
	}
	name := path[len(path)-1]
	if strings.HasPrefix(f.arg, "@") {
		name = "@" + strings.Join(path, "/") // @playwright/mcp is not mcp
	}
	if l := g.byName[name]; l != nil && !l.Builtin {
		return g.launch(l, name, f.rest)
	}
	return path
}

// image is a container's image, or what is run in it if the image is made to
// run anything.
func (g *guess) image(f found) []string {
	path := imagePath(f.arg)
	if len(path) == 0 {
		return nil
	}
	plain := g.BaseImages[strings.ToLower(path[len(path)-1])]
	if plain && len(f.rest) > 0 && !strings.HasPrefix(f.rest[0], "-") {
		return g.commandOrLine(found{kind: "command", arg: f.rest[0], rest: f.rest[1:]})
	}
	return path
}

// file is a script, a package in the spelling of deno, or a launcher that is
// run by its file.
func (g *guess) file(f found) []string {
	if strings.HasPrefix(f.arg, "npm:") || strings.HasPrefix(f.arg, "jsr:") {
		return g.pkg(f)
	}
	path := splitPath(f.arg)
	if len(path) == 0 {
		return nil
	}
	base := path[len(path)-1]
	inBin := len(path) > 1 && path[len(path)-2] == ".bin"
	if l := g.byName[base]; l != nil && !l.Builtin && (inBin || strings.Contains(base, ".")) {
		return g.launch(l, base, f.rest)
	}
	return g.script(f.arg)
}

// module is a Python module, which may be a launcher itself.
func (g *guess) module(f found) []string {
	name, _, _ := strings.Cut(f.arg, ":")
	if l := g.byName[name]; l != nil && !l.Builtin {
		return g.launch(l, name, f.rest)
	}
	return dotted(name)
}
