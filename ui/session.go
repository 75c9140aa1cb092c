package ui

import (
	"maps"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/draw"
	"github.com/mcptap/mcptap/ui/feed"
	"github.com/mcptap/mcptap/ui/lineedit"
)

// session is the screen of one recording: its calls, the frame that the cursor is on,
// and a line of time. What it needs from files it asks for in commands.
type session struct {
	env   *env
	from  *reportScreen // whose row led here; esc goes back to it
	path  string
	feed  *feed.Feed
	calls calls
	frame framePane
	play  player

	side   sidePane      // nil if there is none
	fate   sessions.Fate // what became of its file
	others bool          // the other sessions of the host count in what the model reads
	asked  bool          // the user has said whether there is to be one, or it was offered

	panes
	w, h int
	at   arrangement
	hold line // that the mouse has hold of

	goal      int   // frame to go to as soon as it is read; -1 for none
	spot      spot  // in that frame
	landed    place // that another screen led to; 0 if none did. esc goes back from there
	turns     turnWatch
	status    feed.Status
	started   bool // something was read
	closed    bool
	sum       sessions.Summary
	summed    int       // calls that sum counts
	frames    int       // that there were when all were counted
	counted   time.Time // when all were counted
	countTook time.Duration
	summing   bool

	filterLine, searchLine lineedit.Line
}

// Times of reading: how long a piece may take, and how often a live session is asked
// for more.
const (
	budget      = 4 * time.Millisecond
	followEvery = 50 * time.Millisecond
)

// begin sets the filter that a session is opened with.
func (s *session) begin(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	s.feed.Lock()
	defer s.feed.Unlock()
	s.filterLine.Set(text)
	return tea.Batch(s.calls.setFilter(text), s.findTurns())
}

func newSession(e *env, path string, f *feed.Feed, goal int) (*session, tea.Cmd) {
	s := &session{env: e, path: path, feed: f, goal: goal, panes: panes{focus: inCalls, rows: 50, cols: 50}}
	s.calls = calls{env: e, feed: f, follow: true, pinned: -1}
	s.frame = framePane{env: e, want: -1}
	s.play = newPlayer(&s.calls)
	return s, tea.Batch(s.advance(), loadMarks(f, path), s.watchFile())
}

func (s *session) advance() tea.Cmd {
	f, now := s.feed, s.env.Now
	return func() tea.Msg { return advancedMsg{f, f.Advance(now, budget)} }
}

func (s *session) place() place { return s.focus }

func (s *session) close() {
	s.closed = true
	if s.side != nil {
		s.side.stop()
	}
	f := s.feed
	go func() { _ = f.Close() }() // its lock may be held by a read
}

func (s *session) update(msg tea.Msg) tea.Cmd {
	if s.closed {
		return nil
	}
	if s.side != nil {
		s.feed.Lock()
		s.side.take(msg)
		s.feed.Unlock()
	}
	cmd := s.take(msg)
	switch msg.(type) {
	case modelMsg, bodyMsg:
		s.dim()
	}
	return tea.Batch(cmd, s.need())
}

func (s *session) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.w, s.h = msg.Width, msg.Height-1
		s.arrange()
	case advancedMsg:
		if msg.feed == s.feed {
			return s.advanced(msg.status)
		}
	case followMsg:
		if msg.feed == s.feed && s.fate == sessions.There {
			return s.advance()
		}
	case fateMsg:
		if msg.feed == s.feed {
			return s.learnFate(msg.fate)
		}
	case summedMsg:
		if msg.feed == s.feed {
			s.sum, s.summed, s.summing = msg.sum, msg.done, false
			if msg.anew {
				s.counted, s.countTook = s.env.Now(), msg.took
			}
		}
	case detailsMsg:
		if msg.feed == s.feed {
			s.calls.learn(msg.details)
		}
	case bodyMsg:
		if msg.feed == s.feed {
			return s.frame.show(msg.body)
		}
	case accountMsg:
		if msg.body == s.frame.body {
			s.frame.body.Account = msg.account
		}
	case frameJobMsg:
		return s.frame.did(msg)
	case filteredMsg:
		if msg.feed == s.feed {
			return s.calls.filtered(msg)
		}
	case playMsg:
		return s.playOn(msg)
	case marksMsg:
		if msg.feed == s.feed {
			return s.tookMarks(msg)
		}
	case turnsMsg:
		if msg.feed == s.feed {
			return s.tookTurns(msg)
		}
	case savedMsg:
		if msg.of == s {
			return s.saved(msg)
		}
	}
	return nil
}

// advanced goes on reading: at once, or when a live session may have more.
func (s *session) advanced(st feed.Status) tea.Cmd {
	st.Live = st.Live && s.fate == sessions.There
	ended := s.status.Live && !st.Live
	s.status = st
	s.calls.since = nil
	s.feed.Lock()
	if h := s.feed.Header; st.Live && h != nil {
		s.calls.since = func() time.Duration { return s.env.Now().Sub(h.Start) }
	}
	s.calls.grown(s.started && !st.More)
	filter := s.calls.filterMore()
	sum := tea.Cmd(nil)
	if s.feed.Len() != s.frames || ended {
		sum = s.sumUp()
	}
	s.feed.Unlock()
	if s.started = s.started || !st.More; s.started {
		s.offerModel()
	}
	if !st.More && s.calls.follow && !st.Live && !ended {
		s.calls.follow = false // an ended session is read from its beginning
		s.calls.list.Go(0)
	}
	if s.goal >= 0 && s.goal < s.feed.Len() && !st.More {
		s.leadTo(s.goal, s.spot)
		s.goal = -1
	}
	cmds := []tea.Cmd{s.findTurns()}
	switch {
	case st.Err != nil:
	case st.More, st.Behind:
		cmds = append(cmds, s.advance())
	case st.Live:
		f := s.feed
		cmds = append(cmds, s.env.tick(followEvery, func(time.Time) tea.Msg { return followMsg{f} }))
	}
	return tea.Batch(append(cmds, sum, filter)...)
}

// sumUp counts the calls for the heading. While much is still to be read, it adds what
// is new; then it counts anew, since open calls have been answered. The longer that
// takes, the seldomer it is done.
func (s *session) sumUp() tea.Cmd {
	anew := !s.status.More && (!s.status.Live || s.env.Now().Sub(s.counted) >= sumPause*s.countTook)
	if s.summing || s.status.More && s.feed.Calls()-s.summed < sumStep {
		return nil
	}
	from, sum := s.summed, s.sum
	if anew {
		from, s.frames = 0, s.feed.Len()
	}
	s.summing = true
	f, now := s.feed, s.env.Now
	return func() tea.Msg {
		start := now()
		sum, n := addCalls(f, sum, from)
		return summedMsg{f, sum, n, anew, now().Sub(start)}
	}
}

const (
	sumStep  = 20000 // calls
	sumPause = 20    // times what counting took
)

// addCalls adds the calls from one on to a sum; from 0 on it begins a new one. It takes
// the lock for a piece at a time.
func addCalls(f *feed.Feed, sum sessions.Summary, from int) (sessions.Summary, int) {
	f.Lock()
	head := sessions.Heading(f.Session)
	n := f.Calls()
	f.Unlock()
	if from > 0 { // the old sum may be on the screen: it stays as it is
		head.Calls, head.Requests, head.Failures, head.Outcomes = sum.Calls, sum.Requests, sum.Failures, maps.Clone(sum.Outcomes)
	}
	const calls = 2000
	for at := from; at < n; at += calls {
		f.Lock()
		head.Add(f.Session, at, min(n, at+calls))
		f.Unlock()
	}
	return head, n
}

// need asks for what the screen shows and does not have yet.
func (s *session) need() tea.Cmd {
	s.feed.Lock()
	defer s.feed.Unlock()
	frame := s.calls.frameAtCursor()
	s.frame.verdict, s.frame.note, s.frame.turn = s.calls.verdict(), s.calls.noteOf(frame), s.calls.turnReason()
	cmds := []tea.Cmd{s.calls.need(), s.frame.need(s.feed, frame, s.at.frame.w)}
	if s.side != nil {
		cmds = append(cmds, s.side.need(s.feed, frame, s.at.side.w))
	}
	return tea.Batch(cmds...)
}

func (s *session) arrange() {
	s.panes.side = s.side != nil
	s.at = arrange(s.w, s.h, s.panes)
	s.calls.list.SetHeight(s.at.calls.h)
	s.frame.resize(s.at.frame.w, s.at.frame.h)
}

func (s *session) do(id string) (tea.Cmd, bool) {
	cmd, ok := s.act(id)
	if !ok {
		return nil, false
	}
	s.arrange()
	return tea.Batch(cmd, s.need()), true
}

func (s *session) act(id string) (cmd tea.Cmd, ok bool) {
	if why := s.lacks(id); why != "" {
		return send(noteMsg{why, true}), true
	}
	if cmd, ok := s.actHere(id); ok {
		return cmd, true
	}
	switch id {
	case "other-pane":
		s.focus = s.next()
		if s.only != 0 {
			s.only = s.focus
		}
	case "zoom":
		if s.only != 0 {
			s.only = 0
		} else {
			s.only = s.focus
		}
	case "grow", "shrink":
		s.grow(s.at, map[string]int{"grow": 5, "shrink": -5}[id])
	case "swap":
		s.swap()
	case "raw":
		s.frame.nextMode()
	case "frames":
		s.feed.Lock()
		s.calls.toggleFrames()
		s.feed.Unlock()
	case "model":
		if note := s.toggleModel(); note != "" {
			return send(noteMsg{note, false}), true
		}
	case "together":
		return s.toggleTogether(), true
	case "save":
		s.savePrompt()
	case "reach":
		return s.toggleReach(), true
	case "play", "faster", "slower":
		return s.playKey(id), true
	case "step", "step-call", "step-turn":
		return s.step(stepUnits[id], 1), true
	case "step-back", "step-call-back", "step-turn-back":
		return s.step(stepUnits[strings.TrimSuffix(id, "-back")], -1), true
	case "copy", "copy-frame", "copy-value", "copy-path", "copy-block", "copy-request", "copy-shell":
		return s.copy(id), true
	case "findings", "stats", "peers", "rent", "diff", "search":
		return s.openReport(id), true
	case "back":
		if s.only != 0 {
			s.only = 0
			return nil, true
		}
		if s.focus != inCalls && !s.backFromSpot() {
			s.focus = inCalls
			return nil, true
		}
		if from := s.from; from != nil {
			s.from = nil
			return s.env.root.push(from, nil), true
		}
		return s.dropFilter()
	default:
		return nil, false
	}
	return nil, true
}

// dim tells the frame what of it the model never reads.
func (s *session) dim() {
	if s.side == nil {
		s.frame.setNever(nil)
		return
	}
	s.frame.setNever(s.side.never)
}

// toggleModel shows or hides what the model reads, and says what it did where that is
// not plain to see. A pane that is there but out of sight is shown.
func (s *session) toggleModel() (note string) {
	s.asked = true
	if s.side != nil && s.at.side.h > 0 {
		s.hideModel()
		return "what the model reads is hidden; m shows it again"
	}
	if s.side == nil {
		s.side = newModelPane(s.env, s.path, s.others)
	}
	s.only = 0
	if s.arrange(); s.at.side.h == 0 || s.at.frame.h == 0 {
		s.focus = inSide
		return "shown in place of the frame; m brings the frame back"
	}
	return ""
}

func (s *session) hideModel() {
	s.side.stop()
	s.side = nil
	s.dim()
	if s.focus == inSide {
		s.focus, s.only = inCalls, 0
	}
	if s.only == inSide {
		s.only = 0
	}
}

// modelFrames is up to how many frames what the model reads is shown unasked.
const modelFrames = 50000

// offerModel shows what the model reads where there is room, unless the user has said
// something about it.
func (s *session) offerModel() {
	if !s.asked && s.w >= sideWidth && s.feed.Len() <= modelFrames {
		s.toggleModel()
		s.arrange()
	}
}

// next is the pane after the one with the focus.
func (s *session) next() place {
	switch {
	case s.focus == inCalls:
		return inFrame
	case s.focus == inFrame && s.side != nil:
		return inSide
	}
	return inCalls
}

// actHere is what the pane with the focus does.
func (s *session) actHere(id string) (tea.Cmd, bool) {
	s.feed.Lock()
	defer s.feed.Unlock()
	switch id {
	case "mark":
		return s.mark(), true
	case "note":
		s.annotate()
		return nil, true
	case "next-failure":
		s.play.stop(s.env.Now())
		return s.calls.nextFailure(), true
	}
	if s.focus == inFrame {
		switch id {
		case "filter":
			s.searchPrompt()
			return nil, true
		case "next-match":
			return s.frame.find(s.frame.search), true
		}
		return nil, s.frame.do(id)
	}
	if s.focus == inSide {
		switch id {
		case "filter":
			s.filterPrompt()
			return nil, true
		case "open":
			if frame := s.side.leads(); frame >= 0 {
				s.calls.goFrame(frame)
			}
			return nil, true
		}
		return nil, s.side.do(id)
	}
	switch id {
	case "filter":
		s.filterPrompt()
		return nil, true
	case "open":
		s.focus = inFrame
		return nil, true
	case "unfold":
		if !s.calls.unfold() {
			s.focus = inFrame
		}
		return nil, true
	}
	if !s.calls.do(id) {
		return nil, false
	}
	s.play.stop(s.env.Now())
	return nil, true
}

// swap shows the response in place of the request, or the reverse.
func (s *session) swap() {
	s.feed.Lock()
	defer s.feed.Unlock()
	if at := s.calls.frameAtCursor(); at >= 0 {
		if other := s.feed.Counterpart(at); other >= 0 {
			s.calls.pinned = other
		}
	}
}

// jump puts the cursor on a frame: other screens lead here.
func (s *session) jump(frame int) {
	s.feed.Lock()
	defer s.feed.Unlock()
	s.focus = inCalls
	s.calls.goFrame(frame)
}

func (s *session) filterPrompt() {
	before := s.calls.filter
	set := func(text string) tea.Cmd {
		s.feed.Lock()
		cmd := tea.Batch(s.calls.setFilter(text), s.findTurns())
		s.feed.Unlock()
		return tea.Batch(cmd, s.need())
	}
	judge := func(text string) styled {
		s.feed.Lock()
		defer s.feed.Unlock()
		return s.calls.judge(text)
	}
	refuse := func(text string) string {
		s.feed.Lock()
		defer s.feed.Unlock()
		return s.calls.refuse(text)
	}
	s.env.root.prompt = &prompt{label: "filter", line: &s.filterLine, change: set, accept: set, judge: judge, refuse: refuse, ways: s.calls.ways, where: filterWrongAt, cancel: func() tea.Cmd {
		s.filterLine.Set(before)
		return set(before)
	}}
}

// dropFilter shows all rows again; ok is false if it does already.
func (s *session) dropFilter() (cmd tea.Cmd, ok bool) {
	s.feed.Lock()
	defer s.feed.Unlock()
	if s.calls.filter == "" {
		return nil, false
	}
	s.filterLine.Set("")
	return s.calls.setFilter(""), true
}

func (s *session) searchPrompt() {
	s.env.root.prompt = &prompt{label: "search the frame", line: &s.searchLine, accept: func(text string) tea.Cmd {
		return tea.Batch(s.frame.find(text), s.need())
	}, cancel: func() tea.Cmd { return nil }}
}

func (s *session) view(w, h int) []string {
	if w != s.w || h != s.h {
		s.w, s.h = w, h
		s.arrange()
	}
	s.feed.Lock()
	defer s.feed.Unlock()
	lines := append([]string{s.heading(w)}, s.body(w)...)
	if s.at.clock.h > 0 {
		lines = append(lines, s.clock(w))
	}
	return draw.Fill(lines, w, h)
}

// body draws the panes, each below its title.
func (s *session) body(w int) []string {
	a, th := s.at, s.env.th
	left := w
	if a.down.h > 0 {
		left = a.down.x
	}
	var lines, right []string
	for _, p := range []place{inCalls, inFrame, inSide} {
		r := *a.pane(p)
		switch {
		case r.h == 0:
		case r.x > 0:
			right = append(right, s.titled(p, r)...)
		default:
			lines = append(lines, s.titled(p, r)...)
		}
	}
	if right == nil {
		return lines
	}
	lines, right = draw.Fill(lines, left, a.down.h), draw.Fill(right, w-left-1, a.down.h)
	for i := range lines {
		bar := "│"
		switch i {
		case 0:
			bar = "┬"
		case a.across.y - 1:
			if a.across.h > 0 {
				bar = "┤"
			}
		}
		lines[i] += th.Line.Paint(bar) + right[i]
	}
	return lines
}

// titled draws a pane with the line above it.
func (s *session) titled(p place, r rect) []string {
	th, focus := s.env.th, s.focus == p
	switch p {
	case inFrame:
		name, rest := s.frame.title(s.feed)
		return append([]string{rule(th, r.w, s.titleStyle(p), name, rest)}, s.frame.view(r.w, r.h, focus)...)
	case inSide:
		name, rest := s.side.title()
		return append([]string{rule(th, r.w, s.titleStyle(p), name, rest)}, s.side.view(r.w, r.h, focus)...)
	}
	return append([]string{s.calls.head(r.w, s.titleStyle(p))}, s.calls.view(r.w, r.h, focus)...)
}

func (s *session) titleStyle(p place) draw.Style {
	if s.focus == p {
		return s.env.th.Title
	}
	return s.env.th.Dim
}

// heading says what session this is; what fits no more is left out from its end.
func (s *session) heading(w int) string {
	th := s.env.th
	state, style := "", th.Dim
	switch {
	case s.fate != sessions.There:
		state, style = "✗ "+fates[s.fate].word, th.Warn
	case s.status.Err != nil:
		state, style = "✗ "+s.status.Err.Error(), th.Bad
	case s.status.More || !s.started:
		state = "reading…"
	case s.status.Live:
		state, style = s.liveWords(w), th.Good
	case s.feed.Cut():
		state, style = "no end: its tap was killed", th.Warn
	}
	room := w - draw.Width(draw.Safe(state, w/2)) - 2
	l := draw.NewLine(w, "").Gap(1)
	l.Text(th.Title, s.feed.Name()).Gap(2)
	for _, part := range s.headingParts(room - l.Used()) {
		if part.text == "" {
			continue
		}
		if l.Used()+draw.Width(draw.Safe(part.text, w))+2 > room {
			break
		}
		l.Text(part.style, part.text).Gap(2)
	}
	return l.To(w-draw.Width(draw.Safe(state, w/2))-1).Raw(style, draw.Safe(state, w/2)).String()
}

// liveWords say of a live session whether the cursor follows its end.
func (s *session) liveWords(w int) string {
	switch {
	case s.calls.follow:
		return "● live, following"
	case w < 54:
		return "● paused, G follows"
	}
	return "● live, paused: G follows"
}

type styled struct {
	text  string
	style draw.Style
}

// headingParts are what there is to say, that which matters most first. Failures are told
// by kind if all of that fits in room cells, else by their number.
func (s *session) headingParts(room int) (parts []styled) {
	th := s.env.th
	sum := s.sum
	wide := draw.Width(sum.CallWords()) + 2
	for _, o := range outcomeSigns {
		if n := sum.Outcomes[o.outcome.String()]; n > 0 && feed.Failed(o.outcome) {
			parts = append(parts, styled{plural(n, o.word), outcomeStyle(th, o.outcome)})
			wide += draw.Width(parts[len(parts)-1].text) + 2
		}
	}
	if wide > room && sum.Failures > 0 {
		parts = []styled{{"✗ " + itoa(sum.Failures) + " failed", th.Bad}}
	}
	parts = append(parts, styled{sum.CallWords(), ""}, styled{eraWords(&sum), th.Dim})
	if h := s.feed.Header; h != nil {
		parts = append(parts, styled{h.Transport, th.Dim})
	}
	who := sum.Server
	if sum.Client != "" {
		who = sum.Client + " → " + who
	}
	return append(parts, styled{who, th.Dim})
}
