package label

import "strings"

// name is the label for what was found, still to be cleaned.
func (g *guess) name(path []string) string {
	if len(path) == 0 {
		if folder := g.nearest(g.folder); folder != "" {
			return folder
		}
		return g.launched
	}
	base := path[len(path)-1]
	if !g.Generic[strings.ToLower(base)] {
		return base
	}
	for _, folders := range [][]string{path[:len(path)-1], g.folder} {
		if folder := g.nearest(folders); folder != "" {
			return folder
		}
	}
	return base
}

// nearest is the innermost folder whose name tells something. A person's own
// folder does not, nor does what it is in.
func (g *guess) nearest(folders []string) string {
	for i := len(folders) - 1; i >= 0; i-- {
		if i > 0 && g.Homes[strings.ToLower(folders[i-1])] {
			return ""
		}
		folder, _ := g.cutExtension(folders[i])
		name := strings.ToLower(folder)
		if !g.PlainFolders[name] && !g.Generic[name] && !g.Homes[name] && isTelling(folder) {
			return folder
		}
	}
	return ""
}

// isTelling tells whether a folder's name is more than a version, a variable
// or a hidden folder.
func isTelling(folder string) bool {
	return isAlnum(folder[0]) && strings.Trim(folder, "v.0123456789") != ""
}

// script is the path of a file that is run.
func (t *table) script(arg string) []string {
	if isURL(arg) {
		arg, _, _ = strings.Cut(arg, "?")
		arg, _, _ = strings.Cut(arg, "#")
		arg = arg[strings.Index(arg, "://")+len("://"):]
		if at := strings.LastIndexByte(arg[:indexByte(arg, '/')], '@'); at >= 0 {
			arg = arg[at+1:]
		}
	}
	path := splitPath(arg)
	if len(path) == 0 {
		return nil
	}
	last := &path[len(path)-1]
	file, object, ok := strings.Cut(*last, ":")
	if _, script := t.cutExtension(file); ok && script && object != "" {
		*last = file // server.py:app
	}
	*last, _ = t.cutExtension(*last)
	return path
}

// jar is the path of a jar, whose name mostly ends in a version.
func (t *table) jar(arg string) []string {
	path := t.script(arg)
	if len(path) == 0 {
		return nil
	}
	last := &path[len(path)-1]
	for i := 1; i+1 < len(*last); i++ {
		if (*last)[i] == '-' && '0' <= (*last)[i+1] && (*last)[i+1] <= '9' {
			*last = (*last)[:i]
			break
		}
	}
	return path
}

// packagePath takes a package apart: @scope/name@1.2, name[extra]==1.0,
// npm:name, github:user/name#branch, git+https://host/user/name.git@tag,
// ./folder.
func (t *table) packagePath(arg string) []string {
	for _, prefix := range []string{"npm:", "jsr:", "pypi:", "git+", "github:", "gitlab:", "file:"} {
		arg = strings.TrimPrefix(arg, prefix)
	}
	arg, _, _ = strings.Cut(arg, "#")
	if isURL(arg) {
		arg = strings.Join(t.script(arg), "/")
	}
	arg = strings.TrimSpace(arg[:indexAny(arg, "[]<>=~!; \t")])
	if i := strings.LastIndexByte(arg, '@'); i > 0 && !strings.ContainsAny(arg[i:], `/\`) {
		arg = arg[:i]
	}
	if i := strings.Index(arg, "@npm:"); i > 0 {
		arg = arg[:i] // an alias
	}
	path := splitPath(arg)
	if len(path) == 0 {
		return nil
	}
	path[0] = strings.TrimPrefix(path[0], "@")
	if !strings.HasPrefix(arg, "@") {
		path[len(path)-1], _ = t.cutExtension(path[len(path)-1])
	}
	return path
}

// imagePath takes an image apart: host:port/user/name:tag@digest.
func imagePath(arg string) []string {
	arg, _, _ = strings.Cut(arg, "@")
	path := splitPath(arg)
	if len(path) > 1 && (strings.ContainsAny(path[0], ".:") || path[0] == "localhost") {
		path = path[1:]
	}
	if len(path) > 0 {
		last := &path[len(path)-1]
		*last, _, _ = strings.Cut(*last, ":")
	}
	return path
}

// dotted takes a module's or a class's name apart.
func dotted(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '$' })
}

// host is a URL's host and port; nothing else of it may become a label.
func host(url string) []string {
	_, rest, _ := strings.Cut(url, "://")
	rest = rest[:indexAny(rest, `/?#\`)]
	return []string{rest[strings.LastIndexByte(rest, '@')+1:]}
}

// isURL tells whether s starts with a scheme and //.
func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-") == ""
}

// splitPath splits a path of any system at its separators, without the
// elements that name nothing.
func splitPath(path string) []string {
	elements := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	kept := elements[:0]
	for i, e := range elements {
		drive := i == 0 && len(e) == 2 && e[1] == ':'
		if e != "." && e != ".." && e != "~" && !drive {
			kept = append(kept, e)
		}
	}
	return kept
}

func isFullPath(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\`) || strings.HasPrefix(s, "~") || len(s) > 2 && s[1] == ':' && isAlnum(s[0])
}

// cutExtension takes away an extension of programs and scripts.
func (t *table) cutExtension(name string) (base string, ok bool) {
	lower := strings.ToLower(name)
	for _, ext := range t.Extensions {
		if len(name) > len(ext) && strings.HasSuffix(lower, ext) {
			return name[:len(name)-len(ext)], true
		}
	}
	return name, false
}

// indexAny is strings.IndexAny that takes the end for the first match when
// there is none.
func indexAny(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}

func indexByte(s string, c byte) int { return indexAny(s, string(c)) }
