package ui

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/feed"
)

// findGroup is what a search found in one recording: text from the outside.
type findGroup struct {
	info   sessions.Info
	server string
	words  filter.Vocabulary // that occur in it
	hits   []findHit
	more   bool   // there may be more than it was to give
	broken string // why it, or a part of it, was not searched
	err    bool   // nothing of it was
}

// findHit is a row of a session that the filter selects.
type findHit struct {
	frame   int    // to look at: where the text stands, or what the row is about
	n       uint64 // its number
	at      time.Duration
	dir     tap.Dir
	method  string
	name    string
	sign    outcomeSign
	failed  string // why, if it did
	gist    string
	passage filter.Passage
	inText  bool // there is a passage
	marked  bool // the frame is
	note    string
}

// A finding is the search in one recording. It runs in a command, and closes what it has
// opened before the command ends.
type finding struct {
	ctx   context.Context
	now   func() time.Time
	most  int // hits
	query *filter.Filter

	feed    *feed.Feed
	marks   *marks.Marks
	matcher *filter.Matcher
	texts   *filter.Texts
	body    func(frame int) []byte
}

// in searches a recording; ok is false if it was stopped.
func (f *finding) in(info sessions.Info) (g findGroup, ok bool) {
	g.info = info
	err := f.search(&g)
	if f.ctx.Err() != nil {
		return g, false
	}
	if err != nil {
		g.broken, g.err = err.Error(), true
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		g.broken = path.Err.Error() // where it lies is said beside it
	}
	return g, true
}

func (f *finding) stopped() bool { return f.ctx.Err() != nil }

func (f *finding) search(g *findGroup) error {
	if needs := f.query.Needs(); needs != nil {
		if may, err := sessions.Mentions(g.info.Path, needs, f.stopped); !may {
			return err
		}
	}
	var err error
	if f.feed, err = feed.Open(g.info.Path, f.now()); err != nil {
		return err
	}
	defer func() { _ = f.feed.Close() }()
	for more := true; more; {
		if f.stopped() {
			return sessions.ErrStopped
		}
		st := f.feed.Advance(f.now, budget)
		if more = st.More; st.Err != nil {
			return st.Err
		}
	}
	f.feed.Lock()
	g.server = sessions.Heading(f.feed.Session).Server
	g.words.Grow(f.feed.Session, g.info.Label(), vocabularyStep)
	f.feed.Unlock()
	if n := unreadable(f.feed.Loaded); n > 0 {
		g.broken = plural(n, "line") + " can't be read"
	}
	if err := f.match(); err != nil {
		return err
	}
	f.collect(g)
	return nil
}

// unreadable is how many lines of a recording are no records, as far as that was
// counted.
func unreadable(l *sessions.Loaded) (n int) {
	for i := range l.Remarks {
		if l.Remarks[i].Bad != nil {
			n++
		}
	}
	return n
}

func (f *finding) match() (err error) {
	if f.marks, err = marks.Load(marks.Path(f.feed.Path())); err != nil {
		f.marks = new(marks.Marks) // the session's screen says what is wrong with them
	}
	f.matcher, err = f.query.On(filter.Source{Session: f.feed.Session, Body: f.feed.Bodies(), Label: f.feed.Name(), MarkOf: f.marks.Get, TurnOf: replay.TurnOf(playedSession(f.feed.Loaded))})
	f.texts, f.body = f.query.Texts(), f.feed.Bodies()
	return err
}

// collect goes through the rows that the session's screen has.
func (f *finding) collect(g *findGroup) {
	for _, row := range f.feed.Rows {
		if f.stopped() {
			return
		}
		if call := row.Call(); call >= 0 && !f.matcher.Call(call) || call < 0 && !f.matcher.Frame(row.Frame()) {
			continue
		}
		if len(g.hits) == f.most {
			g.more = true
			return
		}
		g.hits = append(g.hits, f.hit(row))
	}
}

func (f *finding) hit(row feed.Row) (h findHit) {
	d := f.feed.Detail(row)
	h.gist, h.frame = d.Gist, f.feed.Main(row)
	f.find(&h, f.frames(row))
	frame := f.feed.Frame(h.frame)
	h.n, h.at, h.dir = frame.N, frame.Time, frame.Dir
	if call := row.Call(); call >= 0 {
		o := f.feed.Operation(call)
		h.method, h.name, h.sign, h.failed = o.Method, o.Name, signOf(o.Outcome), d.Why
		if f.feed.Call(o.Legs[0].Call).Listen {
			h.sign = outcomeSign{sign: "≈", short: "listen"}
		}
		return h
	}
	h.method = frameWords(&frame)
	return h
}

// frames are the frames of a row.
func (f *finding) frames(row feed.Row) (frames []int) {
	if row.Call() < 0 {
		return []int{row.Frame()}
	}
	for _, p := range f.feed.Parts(row.Call()) {
		frames = append(frames, p.Frame)
	}
	return frames
}

// find looks which of a row's frames has a text of the filter; if none has, which one is
// marked.
func (f *finding) find(h *findHit, frames []int) {
	for _, i := range frames {
		if h.passage, h.inText = f.texts.Passage(f.body(i)); h.inText {
			h.frame = i
			break
		}
	}
	for _, i := range frames {
		note, marked := f.marks.Get(f.feed.Frame(i).N)
		if marked && !h.inText {
			h.frame = i
		}
		if h.marked = marked; marked {
			h.note = note
			return
		}
	}
}

// frameWords say what a frame is that belongs to no call.
func frameWords(f *decode.Frame) string {
	switch {
	case f.Method != "":
		return f.Method
	case f.Orphan:
		return "orphan " + string(f.Kind)
	case f.Kind == decode.Log:
		return "stderr"
	case f.Kind == decode.Batch:
		return "batch of " + strconv.Itoa(len(f.Batch))
	}
	return strings.TrimSpace(string(f.Kind) + " " + string(f.Stray))
}
