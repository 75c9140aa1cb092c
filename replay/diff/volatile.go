package diff

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A value that varies by itself says nothing about a change. It is told by its form
// (a UUID, a moment, a random token), by its name where the name is plain (elapsed),
// or by its use: what one result handed out and a later call of the same session
// gave back is a handle.
const (
	kindUUID     = "uuid"
	kindTime     = "time"
	kindToken    = "token"
	kindDuration = "duration"
	kindHandle   = "handle"
	kindProcess  = "process"
	kindFolder   = "temporary path"
)

// masks are forms that stand within a text, by what they are. Those that only a
// server would make up say something when a client asks for them.
var masks = []struct {
	kind   string
	answer bool // taken for volatile in answers only
	form   *regexp.Regexp
}{
	{kindUUID, false, regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)},
	{kindTime, false, regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(Z|[+-]\d\d:?\d\d))?`)},
	{kindTime, false, regexp.MustCompile(`\b((Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d( [A-Z]{3,4}| [+-]\d{4})?`)},
	{kindTime, true, regexp.MustCompile(`\b\d{1,2}:\d\d:\d\d([.,]\d+)?( ?[AP]M\b)?`)},
	{kindFolder, true, regexp.MustCompile(`(/private)?(/tmp|/var/folders)/[\w./+-]*`)},
	{kindDuration, true, regexp.MustCompile(`\b\d+(\.\d+)? ?(ns|µs|us|ms|milliseconds|seconds|secs?)\b`)},
	{kindProcess, true, regexp.MustCompile(`(?i)\bpid:? ?\d+\b`)},
}

// mask takes what varies by itself out of a text, and tells what it was.
func mask(s string, answer bool) (masked, kind string) {
	if !strings.ContainsAny(s, "0123456789/") { // no form is without
		return s, ""
	}
	for _, m := range masks {
		if m.answer && !answer {
			continue
		}
		if out := m.form.ReplaceAllString(s, "<"+m.kind+">"); out != s {
			s, kind = out, m.kind
		}
	}
	if isToken(s) {
		return "<" + kindToken + ">", kindToken
	}
	return s, kind
}

// minToken is the shortest text that is taken for a random token.
const minToken = 20

// isToken reports what looks like random letters and digits: long, in one piece, and
// with digits spread among the letters.
func isToken(s string) bool {
	if len(s) < minToken || len(s) > 512 {
		return false
	}
	digits, letters, changes, last := 0, 0, 0, ' '
	for _, r := range s {
		now := 'x'
		switch {
		case '0' <= r && r <= '9':
			digits++
			now = '0'
		case r < unicode.MaxASCII && unicode.IsLetter(r):
			letters++
		case strings.ContainsRune("-_+/=.", r):
			now = last
		default:
			return false
		}
		if now != last {
			changes++
		}
		last = now
	}
	return digits >= 3 && letters >= 3 && changes >= 5
}

// numberNames are members whose numbers vary by themselves, by how the name ends.
var numberNames = []struct{ end, kind string }{
	{"elapsed", kindDuration}, {"elapsedms", kindDuration}, {"duration", kindDuration}, {"durationms", kindDuration},
	{"tookms", kindDuration}, {"took", kindDuration}, {"latency", kindDuration}, {"latencyms", kindDuration},
	{"uptime", kindDuration}, {"timems", kindDuration}, {"pid", kindProcess}, {"processid", kindProcess},
}

// timeNames are members whose numbers are moments if their size allows.
var timeNames = []string{"time", "timestamp", "at", "date", "ts", "now", "updated", "created", "modified", "expires"}

// isEpoch reports a number that can be a moment: 2001 to 2100, in seconds or parts
// of one.
func isEpoch(n json.Number) bool {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return false
	}
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
		if s := f * unit.Seconds(); s > 1e9 && s < 4.1e9 {
			return true
		}
	}
	return false
}

// clocks are when the two sessions began; zero if that is not known.
type clocks struct{ a, b time.Time }

// volatileKind tells why a difference is one that comes by itself; "" if it is none
// such.
func (c clocks) volatileKind(l *leaf, answer bool) string {
	if !l.hasA || !l.hasB {
		return ""
	}
	switch a := l.a.(type) {
	case string:
		if b, ok := l.b.(string); ok {
			return c.volatileText(a, b, answer)
		}
	case json.Number:
		if b, ok := l.b.(json.Number); ok && answer {
			return volatileNumber(l.path, a, b)
		}
	}
	return ""
}

func (c clocks) volatileText(a, b string, answer bool) string {
	ma, kind := mask(a, answer)
	if kind == "" {
		return ""
	}
	if mb, _ := mask(b, answer); ma != mb || !near(a, c.a) || !near(b, c.b) {
		return ""
	}
	return kind
}

// maxAway is how far from the session a moment may lie that was made in it. One
// further away is data: it differs because something did.
const maxAway = 36 * time.Hour

// near reports whether a text can have come about during a session: false for a
// moment that lies elsewhere.
func near(s string, start time.Time) bool {
	t, err := time.Parse(time.RFC3339, s)
	return err != nil || start.IsZero() || t.Sub(start).Abs() < maxAway
}

func volatileNumber(p Path, a, b json.Number) string {
	name := lastName(p)
	for _, n := range numberNames {
		if strings.HasSuffix(name, n.end) {
			return n.kind
		}
	}
	if !isEpoch(a) || !isEpoch(b) {
		return ""
	}
	for _, end := range timeNames {
		if strings.HasSuffix(name, end) || strings.HasSuffix(name, end+"ms") {
			return kindTime
		}
	}
	return ""
}

// lastName is the innermost member's name, in one spelling.
func lastName(p Path) string {
	for i := len(p) - 1; i >= 0; i-- {
		if !p[i].array {
			return strings.ToLower(strings.ReplaceAll(p[i].name, "_", ""))
		}
	}
	return ""
}

// masked gives a value with what varies by itself taken out, for keys: a call that
// names a moment or a new UUID is the same call. It is the value itself if nothing does.
func masked(v any) (out any, changed bool) {
	switch v := v.(type) {
	case map[string]any:
		var copied map[string]any
		for k, e := range v {
			if m, yes := masked(e); yes {
				if copied == nil {
					copied = maps.Clone(v)
				}
				copied[k] = m
			}
		}
		if copied != nil {
			return copied, true
		}
	case []any:
		var copied []any
		for i, e := range v {
			if m, yes := masked(e); yes {
				if copied == nil {
					copied = slices.Clone(v)
				}
				copied[i] = m
			}
		}
		if copied != nil {
			return copied, true
		}
	case string:
		m, _ := mask(v, false)
		return m, m != v
	}
	return v, false
}
