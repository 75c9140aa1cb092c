package ui

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/dustin/go-humanize"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/lineedit"
	"github.com/mcptap/mcptap/ui/vlist"
)

// sessionList is the screen of all recordings, those that are live on top.
type sessionList struct {
	env    *env
	infos  []sessions.Info
	sums   map[string]sessions.Summary
	live   *liveSums
	rows   []listRow
	list   vlist.List
	order  int
	filter string
	line   lineedit.Line
	w, h   int

	findLine lineedit.Line // of the search in all recordings, with what was searched for before

	widest  [colCount]int // cells of what is in columns that vary
	started bool
	listed  bool
	mark    time.Time // of the store, when it was listed
	at      time.Time // when it was listed
	err     error
	ver     uint64
}

// listRow is a session, and how it hangs together with those around it: sessions of
// one run of a host are bracketed.
type listRow struct {
	info    *sessions.Info
	bracket string
	run     int // of the host, from 1; 0 if the session is the only one of it
	of      int // how many sessions that run has
}

// Times of watching the store: a look at the folder, and a new list while something is
// live.
const (
	watchEvery = 100 * time.Millisecond
	listEvery  = time.Second
)

func newSessionList(e *env) *sessionList {
	return &sessionList{env: e, live: &liveSums{}, sums: map[string]sessions.Summary{}}
}

// start begins to read and to watch the store; only the first call does anything.
func (s *sessionList) start() tea.Cmd {
	if s.started {
		return nil
	}
	s.started = true
	return tea.Batch(s.read(), s.watch())
}

// read lists the store. Of sessions that are not live the store remembers what they
// add up to.
func (s *sessionList) read() tea.Cmd {
	store, live := s.env.Store, s.live
	return func() tea.Msg {
		m := listedMsg{mark: markOf(store)}
		m.infos, m.err = store.List()
		ended := slices.DeleteFunc(slices.Clone(m.infos), func(i sessions.Info) bool { return i.State == sessions.Live })
		m.sums = store.Summaries(ended)
		maps.Copy(m.sums, live.of(m.infos))
		return m
	}
}

// markOf changes when a recording comes or goes.
func markOf(store sessions.Store) time.Time {
	if stat, err := os.Stat(store.Dir); err == nil {
		return stat.ModTime()
	}
	return time.Time{}
}

func (s *sessionList) watch() tea.Cmd {
	store := s.env.Store
	return s.env.tick(watchEvery, func(time.Time) tea.Msg { return watchMsg{markOf(store)} })
}

func (s *sessionList) place() place { return inSessions }
func (s *sessionList) close()       {}

func (s *sessionList) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.w, s.h = msg.Width, msg.Height-1
	case listedMsg:
		s.take(msg)
	case watchMsg:
		return s.watched(msg)
	case removedMsg:
		return s.removed(msg)
	}
	return nil
}

func (s *sessionList) take(m listedMsg) {
	s.listed, s.err, s.mark, s.at = true, m.err, m.mark, s.env.Now()
	if m.err == nil {
		s.infos, s.sums = m.infos, m.sums
	}
	s.arrange()
}

// watched lists anew when the folder has changed, or now and then while a session is
// live.
func (s *sessionList) watched(m watchMsg) tea.Cmd {
	stale := s.anyLive() && s.env.Now().Sub(s.at) >= listEvery || s.anyStarting()
	if s.listed && (stale || !m.mark.Equal(s.mark)) {
		s.mark, s.at = m.mark, s.env.Now()
		return tea.Batch(s.read(), s.watch())
	}
	return s.watch()
}

func (s *sessionList) anyLive() bool {
	return slices.ContainsFunc(s.infos, func(i sessions.Info) bool { return i.State == sessions.Live })
}

// anyStarting reports a recording that may become live without the folder's changing.
func (s *sessionList) anyStarting() bool {
	return slices.ContainsFunc(s.infos, func(i sessions.Info) bool { return i.State != sessions.Live && i.Starting(s.env.Now()) })
}

// sessionOrders are the orders of the list, each by a column, with the sign at its name.
// Live sessions are on top in each.
var sessionOrders = []struct {
	name   string
	column int
	sign   string
	by     func(s *sessionList, a, b *sessions.Info) int
}{
	{"newest first", colWhen, "▾", func(_ *sessionList, a, b *sessions.Info) int { return b.Start.Compare(a.Start) }},
	{"by label", colLabel, "▴", func(_ *sessionList, a, b *sessions.Info) int { return cmp.Compare(nameOf(a), nameOf(b)) }},
	{"most calls first", colCalls, "▾", func(s *sessionList, a, b *sessions.Info) int {
		return cmp.Compare(s.sums[b.ID].Calls, s.sums[a.ID].Calls)
	}},
	{"most failures first", colFailed, "▾", func(s *sessionList, a, b *sessions.Info) int {
		return cmp.Compare(s.sums[b.ID].Failures, s.sums[a.ID].Failures)
	}},
	{"largest first", colSize, "▾", func(_ *sessionList, a, b *sessions.Info) int { return cmp.Compare(b.Size, a.Size) }},
}

// arrange builds the rows; the cursor stays on its session.
func (s *sessionList) arrange() {
	at := s.current()
	s.rows = s.rows[:0]
	words := strings.Fields(strings.ToLower(s.filter))
	for i := range s.infos {
		if hasAll(s.words(&s.infos[i]), words) {
			s.rows = append(s.rows, listRow{info: &s.infos[i]})
		}
	}
	lead := s.runs()
	slices.SortStableFunc(s.rows, func(a, b listRow) int {
		first, other := a.info, b.info
		if s.order == 0 { // sessions of one run stay together, where the newest of them is
			if a.run != 0 && a.run == b.run {
				return cmp.Or(liveFirst(a.info, b.info), b.info.Start.Compare(a.info.Start))
			}
			first, other = lead(a), lead(b)
		}
		return cmp.Or(liveFirst(first, other), sessionOrders[s.order].by(s, first, other), b.info.Start.Compare(a.info.Start), cmp.Compare(a.info.ID, b.info.ID))
	})
	s.bracket()
	s.measure()
	s.ver++
	s.list.SetLen(len(s.rows), false)
	if at != nil {
		if i := slices.IndexFunc(s.rows, func(r listRow) bool { return r.info.ID == at.ID }); i >= 0 {
			s.list.Go(i)
		}
	}
}

// sameRun is how far apart sessions of one process of a host may begin: after that, its
// number may be another process's.
const sameRun = 12 * time.Hour

// runs numbers the runs of hosts that have several of the rows. lead gives the session
// that decides where a row stands: the newest of its run that is live, if any is.
func (s *sessionList) runs() (lead func(listRow) *sessions.Info) {
	byHost := map[tap.Process][]int{}
	for i := range s.rows {
		if h := s.rows[i].info.Header; h != nil && h.Host != nil {
			byHost[*h.Host] = append(byHost[*h.Host], i)
		}
	}
	leads := map[int]*sessions.Info{}
	run := 0
	for _, rows := range byHost {
		slices.SortFunc(rows, func(a, b int) int { return s.rows[b].info.Start.Compare(s.rows[a].info.Start) })
		for from := 0; from < len(rows); {
			to := from + 1
			for to < len(rows) && s.rows[rows[to-1]].info.Start.Sub(s.rows[rows[to]].info.Start) <= sameRun {
				to++
			}
			if to-from > 1 {
				run++
				leads[run] = s.rows[rows[from]].info
				for _, i := range rows[from:to] {
					s.rows[i].run, s.rows[i].of = run, to-from
					if liveFirst(s.rows[i].info, leads[run]) < 0 {
						leads[run] = s.rows[i].info
					}
				}
			}
			from = to
		}
	}
	return func(r listRow) *sessions.Info { return cmp.Or(leads[r.run], r.info) }
}

func liveFirst(a, b *sessions.Info) int {
	live := func(i *sessions.Info) int {
		if i.State == sessions.Live {
			return 0
		}
		return 1
	}
	return cmp.Compare(live(a), live(b))
}

// words are what the filter looks at.
func (s *sessionList) words(i *sessions.Info) string {
	sum := s.sums[i.ID]
	text := []string{i.ID, i.Label(), string(i.State), sum.Server, sum.Client, sum.Revision, sum.Era, hostOf(i)}
	if i.Header != nil {
		text = append(text, i.Header.Transport)
		text = append(text, i.Header.Command...)
	}
	if i.Kept {
		text = append(text, "kept")
	}
	if i.Problem != "" {
		text = append(text, "not a recording", i.Problem)
	}
	for outcome := range sum.Outcomes {
		text = append(text, outcome)
	}
	return strings.ToLower(strings.Join(text, " "))
}

func hostOf(i *sessions.Info) string {
	if i.Header == nil || i.Header.Host == nil {
		return ""
	}
	return i.Header.Host.Name
}

// bracket joins neighbours that one process of a host started.
func (s *sessionList) bracket() {
	same := func(i, j int) bool {
		return i >= 0 && j < len(s.rows) && s.rows[i].run != 0 && s.rows[i].run == s.rows[j].run
	}
	for i := range s.rows {
		up, down := same(i-1, i), same(i, i+1)
		switch {
		case up && down:
			s.rows[i].bracket = "│"
		case up:
			s.rows[i].bracket = "╰"
		case down:
			s.rows[i].bracket = "╭"
		}
	}
}

// current is the session with the cursor; nil if there is none.
func (s *sessionList) current() *sessions.Info {
	if s.list.Len() == 0 || s.list.Cursor() >= len(s.rows) {
		return nil
	}
	return s.rows[s.list.Cursor()].info
}

func (s *sessionList) do(id string) (tea.Cmd, bool) {
	if moveList(&s.list, id) {
		return nil, true
	}
	i := s.current()
	switch id {
	case "sort":
		s.order = (s.order + 1) % len(sessionOrders)
		s.arrange()
		return nil, true
	case "filter":
		s.filterPrompt()
		return nil, true
	case "unfilter":
		s.setFilter("")
		return nil, true
	case "find":
		return openFind(s.env, &s.findLine), true
	case "open", "keep", "delete", "copy-file":
		if i == nil {
			return nil, true
		}
	default:
		return nil, false
	}
	switch id {
	case "keep":
		return s.keep(*i), true
	case "delete":
		return s.ask(*i), true
	case "copy-file":
		path := i.Path
		return s.env.copy(func() (copied, error) { return copied{what: "file name", b: []byte(path)}, nil }), true
	}
	return s.env.openSession(i.Path, -1), true
}

func (s *sessionList) filterPrompt() {
	done := func(text string) tea.Cmd { s.narrow(text); return nil }
	judge := func(text string) styled {
		if term := termIn(text); term != "" {
			return styled{termHint(term), s.env.th.Warn}
		}
		if s.filter != "" {
			return styled{itoa(len(s.rows)) + " of " + plural(len(s.infos), "recording") + " with all these words", s.env.th.Faint}
		}
		return styled{"words of a label, server, client, host, command, revision, state (live, crashed, kept) or failure", s.env.th.Faint}
	}
	s.env.root.prompt = &prompt{label: "filter", line: &s.line, change: done, accept: done, judge: judge, cancel: func() tea.Cmd {
		s.setFilter("")
		return nil
	}}
}

// setFilter shows the recordings that have all words of a text, and narrow does while it
// is typed.
func (s *sessionList) setFilter(text string) {
	s.line.Set(text)
	s.narrow(text)
}

func (s *sessionList) narrow(text string) {
	s.filter = strings.TrimSpace(text)
	s.arrange()
}

// termIn gives the first word of a text that is a term of the language of filters, which
// this list does not go by; "" if there is none.
func termIn(text string) string {
	for word := range strings.FieldsSeq(text) {
		at := strings.IndexAny(word, ":<>=")
		for _, field := range filter.Complete("", 0, nil) {
			if at > 0 && strings.EqualFold(strings.TrimRight(field.Text, ":>"), strings.TrimLeft(word[:at], "-!(")) {
				return word
			}
		}
	}
	return ""
}

func termHint(term string) string {
	return "esc, then F searches all recordings for " + strconv.Quote(term) + "; this list looks for plain words"
}

func (s *sessionList) keep(i sessions.Info) tea.Cmd {
	store, read := s.env.Store, s.read()
	return func() tea.Msg {
		if err := store.Keep(i, !i.Kept); err != nil {
			return noteMsg{"keeping " + i.ID + ": " + err.Error(), true}
		}
		return read()
	}
}

func (s *sessionList) ask(i sessions.Info) tea.Cmd {
	switch {
	case i.Kept:
		return send(noteMsg{"it is kept; * ends that", true})
	case i.State == sessions.Live:
		return s.removed(removedMsg{i.ID, sessions.ErrLive})
	}
	store := s.env.Store
	remove := func() tea.Msg { return removedMsg{i.ID, store.Remove(i)} }
	what := plural(s.sums[i.ID].Calls, "call") + ", " + humanize.Bytes(uint64(i.Size)) + ", with its marks and notes"
	if i.Problem != "" {
		what = "not a recording: " + i.Problem + "; " + humanize.Bytes(uint64(i.Size))
	}
	s.env.root.dialog = &dialog{title: "delete", yes: "delete it", do: remove, lines: []string{
		cmp.Or(i.Label(), i.ID) + ", " + s.when(&i), i.ID, what + ". It can't be brought back.",
	}}
	return nil
}

func (s *sessionList) removed(m removedMsg) tea.Cmd {
	switch {
	case errors.Is(m.err, sessions.ErrLive):
		return send(noteMsg{"it is live, and can't be deleted; end its server first", true})
	case errors.Is(m.err, fs.ErrNotExist):
		return tea.Batch(s.read(), send(noteMsg{m.id + " was deleted meanwhile", false}))
	case m.err != nil:
		return send(noteMsg{"deleting " + m.id + ": " + m.err.Error(), true})
	}
	return tea.Batch(s.read(), send(noteMsg{"deleted " + m.id, false}))
}

func (s *sessionList) click(m tea.MouseMsg) tea.Cmd {
	if wheel(&s.list, m) || !pressed(m) {
		return nil
	}
	if m.Y == headLines-1 {
		s.clickHead(m.X)
		return nil
	}
	row, ok := s.list.At(m.Y - headLines)
	switch {
	case !ok:
		return nil
	case row == s.list.Cursor():
		cmd, _ := s.do("open")
		return cmd
	}
	s.list.Go(row)
	return nil
}

// headLines is how many lines stand above the rows.
const headLines = 3

func (s *sessionList) view(w, h int) []string {
	th := s.env.th
	rest := plural(len(s.infos), "recording") + ", " + sessionOrders[s.order].name
	if s.filter != "" {
		rest = strconv.Itoa(len(s.rows)) + " of " + rest + ", with " + strconv.Quote(s.filter)
	}
	if !s.listed {
		rest = "reading…"
	}
	lines := []string{titleLine(th, w, "mcptap", rest), draw.Blank(w)}
	switch {
	case s.err != nil:
		return append(lines, draw.NewLine(w, "").Gap(1).Text(th.Bad, "reading "+s.env.Store.Dir+": "+s.err.Error()).String())
	case !s.listed:
		return lines
	case len(s.infos) == 0:
		return append(lines, s.empty(w)...)
	}
	if len(s.rows) == 0 {
		return append(lines, s.nothing(w)...)
	}
	d := listDrawer{s: s, w: w}
	d.layout()
	lines = append(lines, d.heading())
	below := s.below(w, h)
	rows := max(1, h-len(lines)-len(below))
	s.list.SetHeight(rows)
	now := s.env.Now()
	version := s.ver<<32 | uint64(now.Unix()&0xffffff)<<4 | uint64(th.Version&15)
	lines = append(lines, draw.Fill(s.list.Rows(w, func(int) uint64 { return version }, litFocus, func(i int, lit uint8) string {
		return d.row(&s.rows[i], base(th, lit))
	}), w, rows)...)
	return append(lines, below...)
}

// nothing says that the filter leaves no recording, and what to do.
func (s *sessionList) nothing(w int) (lines []string) {
	words := []styled{{"No recording has all these words: / changes them, esc takes them away.", ""}}
	if term := termIn(s.filter); term != "" && s.env.root.prompt == nil { // which says it itself
		words = append(words, styled{termHint(term) + ".", s.env.th.Dim})
	}
	for _, p := range words {
		for _, l := range wrapText(p.text, w-4) {
			lines = append(lines, draw.NewLine(w, "").Gap(2).Text(p.style, l).String())
		}
	}
	return lines
}

// empty says how to make a recording.
func (s *sessionList) empty(w int) []string {
	th := s.env.th
	words := []styled{
		{"Nothing is recorded yet.", th.Strong}, {},
		{"Put mcptap -- in front of a server's command, in your host's configuration or here:", ""}, {},
		{"    mcptap -- python server.py", th.Accent},
		{`    {"mcpServers": {"tickets": {"command": "mcptap", "args": ["--", "python", "server.py"]}}}`, th.Accent}, {},
		{"A session shows up here the moment it begins. To see one at once:", ""}, {},
		{"    mcptap demo", th.Accent},
		{"    mcptap browse --samples", th.Accent}, {},
		{"Recordings lie in " + s.env.Store.Dir, th.Dim},
	}
	var lines []string
	for _, p := range words {
		style := p.style
		indent := len(p.text) - len(strings.TrimLeft(p.text, " "))
		for _, l := range wrapText(p.text, w-4-indent) {
			lines = append(lines, draw.NewLine(w, "").Gap(2+indent).Text(style, l).String())
		}
	}
	return lines
}

// below says more about the session with the cursor.
func (s *sessionList) below(w, h int) []string {
	i := s.current()
	if i == nil || h < 12 {
		return nil
	}
	th := s.env.th
	lines := []string{rule(th, w, th.Dim, i.ID, "")}
	command, cwd := "", ""
	if i.Header != nil {
		command, cwd = strings.Join(i.Header.Command, " "), i.Header.Cwd
	}
	l := draw.NewLine(w, "").Gap(1).Text("", command)
	if i.Problem != "" {
		l.Text(th.Warn, "not a recording: "+i.Problem)
	}
	if cwd != "" {
		l.Gap(2).Text(th.Faint, "in "+cwd)
	}
	return append(append(lines, l.String()), s.about(i, w, max(1, h/8))...)
}

// about says in up to so many lines how the session ended, and whose it was.
func (s *sessionList) about(i *sessions.Info, w, most int) (lines []string) {
	l := draw.NewLine(w, "").Gap(1)
	for _, p := range s.aboutParts(i) {
		if p.text == "" {
			continue
		}
		if l.Used() > 1 && draw.Width(draw.Safe(p.text, w))+2 > l.Left() && len(lines)+1 < most {
			lines = append(lines, l.String())
			l = draw.NewLine(w, "").Gap(1)
		}
		if l.Used() > 1 {
			l.Gap(2)
		}
		l.Text(p.style, p.text)
	}
	return append(lines, l.String())
}

func (s *sessionList) aboutParts(i *sessions.Info) []styled {
	th := s.env.th
	client, host := "", hostOf(i)
	if c := s.sums[i.ID].Client; c != "" {
		client = "client " + c
	}
	if host != "" {
		host = "started by " + host
		if r := s.rows[s.list.Cursor()]; r.run != 0 {
			host += ", with " + plural(r.of-1, "other") + " of the same run"
		}
	}
	return []styled{s.ending(i), {client, th.Dim}, {host, th.Dim}}
}

// ending says how a session ended.
func (s *sessionList) ending(i *sessions.Info) styled {
	th := s.env.th
	switch {
	case i.Problem != "":
		return styled{"written " + s.when(i), th.Dim}
	case i.State == sessions.Live:
		return styled{"live since " + s.when(i), th.Good}
	case i.State == sessions.Crashed && i.Header == nil:
		return styled{"recorded by another program", th.Dim}
	case i.State == sessions.Crashed:
		return styled{"it has no end: its tap was killed, or the machine stopped", th.Warn}
	case i.End == nil:
		return styled{}
	}
	words := "ended with status " + strconv.Itoa(i.End.Exit)
	if i.End.Reason != "" {
		words += ": " + i.End.Reason
	}
	if i.End.Lost > 0 {
		words += "; " + plural(int(i.End.Lost), "frame") + " lost"
	}
	return styled{words, th.Dim}
}

// when is the moment at which a session began, here.
func (s *sessionList) when(i *sessions.Info) string {
	return i.Start.In(s.env.Zone).Format("2006-01-02 15:04:05")
}
