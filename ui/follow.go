package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/ui/draw"
)

// Times of following a live session.
const (
	reportEvery = 500 * time.Millisecond // between two readings, at least
	reportPause = 20                     // and times of what a reading took
	reportSoon  = 3 * time.Second        // what is made good within that needs no word
)

const narrowReport = 60 // width of a screen below which that is said in fewer words

// reportWork is how a report comes by what it shows, and how far that goes.
type reportWork struct {
	work  func() (*review, error) // reads the session once more; commands call it
	id    int                     // of the last reading; answers to others are dropped
	busy  bool
	asked int       // frames there were when it was asked for
	known int       // frames that are in what is shown
	done  time.Time // of the last reading
	took  time.Duration
	stale error // why it could not be read again
}

// start gives the command that works out what the screen shows.
func (r *reportScreen) start() tea.Cmd {
	r.id++
	r.busy, r.asked = true, r.frames()
	id, work, now := r.id, r.work, r.env.Now
	return func() tea.Msg {
		begin := now()
		found, err := work()
		return reportMsg{of: r, id: id, review: found, err: err, took: now().Sub(begin)}
	}
}

// frames is how many the session has by now.
func (r *reportScreen) frames() int {
	r.of.feed.Lock()
	defer r.of.feed.Unlock()
	return r.of.feed.Len()
}

// next is the moment from which on a grown session is read again.
func (r *reportScreen) next() time.Time {
	return r.done.Add(max(reportEvery, reportPause*r.took))
}

// follow reads the session again if it has grown; a live one as seldom as that is dear.
func (r *reportScreen) follow() tea.Cmd {
	st := r.of.status
	switch {
	case r.busy, r.of.closed, st.More, r.frames() <= r.known:
		return nil
	case st.Live && r.env.Now().Before(r.next()):
		return nil
	}
	return r.start()
}

// again reads the session again because the user says so.
func (r *reportScreen) again() tea.Cmd {
	if r.busy {
		return nil
	}
	return r.start()
}

// leave gives up an answer that is on its way: nobody brings it while the screen is not
// one of those that are open.
func (r *reportScreen) leave() {
	r.id++
	r.busy = false
}

// took takes an answer. The cursor stays on its row, wherever that is by now.
func (r *reportScreen) answer(m reportMsg) tea.Cmd {
	r.busy, r.done, r.took = false, r.env.Now(), m.took
	r.known = r.asked
	switch {
	case m.err != nil && r.review == nil:
		r.err = m.err
	case m.err != nil:
		r.stale = m.err
	default:
		r.err, r.stale = nil, nil
		r.known = max(r.known, m.review.frames)
		r.keepRow(func() {
			r.review = m.review
			r.page.load(m.review)
		})
	}
	return r.follow()
}

// keepRow lets the rows change and puts the cursor on the row that it was on, at the
// same line of the screen.
func (r *reportScreen) keepRow(change func()) {
	row, line, had := rowKey{}, r.list.Cursor()-r.list.Top(), r.review != nil && r.list.Len() > 0
	if had {
		row = r.page.key(r.list.Cursor())
	}
	change()
	r.changed()
	if !had {
		if r.page.len() > 1 && r.page.key(0).kind == "head" { // there is nothing to do with a heading
			r.list.SetHeight(max(2, r.h/2)) // so that it stays in view
			r.list.Go(1)
		}
		return
	}
	for i := range r.page.len() {
		if r.page.key(i) == row {
			r.list.Place(i, line)
			return
		}
	}
}

// state says how new what is shown is.
func (r *reportScreen) state() styled {
	th, st := r.env.th, r.of.status
	if r.review == nil {
		return styled{}
	}
	missing := r.frames() > r.known
	switch {
	case r.stale != nil:
		return styled{"✗ not read again: " + r.stale.Error(), th.Bad}
	case missing && r.busy && r.took > time.Second:
		return styled{"reading again…", th.Dim}
	case missing && !r.busy && r.next().Sub(r.env.Now()) > reportSoon:
		if r.w < narrowReport {
			return styled{"to frame " + r.lastKnown() + ", R: anew", th.Warn}
		}
		return styled{"as of frame " + r.lastKnown() + ", R reads again", th.Warn}
	case r.review.otherLive:
		return styled{"B is live, R reads again", th.Warn}
	case st.Live:
		return styled{"● live", th.Good}
	}
	return styled{}
}

// lastKnown is the number of the last frame that is in what is shown.
func (r *reportScreen) lastKnown() string {
	r.of.feed.Lock()
	defer r.of.feed.Unlock()
	if r.known < 1 || r.known > r.of.feed.Len() {
		return "0"
	}
	return itoa(int(r.of.feed.Frame(r.known - 1).N))
}

// heading is the first line: what is shown, of what, and how new it is.
func (r *reportScreen) heading(w int) string {
	th := r.env.th
	r.of.feed.Lock()
	name := r.of.feed.Name()
	r.of.feed.Unlock()
	state := r.state()
	text := draw.Safe(state.text, w*2/3)
	l := draw.NewLine(w, "").Gap(1).Raw(th.Title, r.title).Gap(2)
	room := w - l.Used()
	if text != "" {
		room -= draw.Width(text) + 3
	}
	l.Within(th.Dim, r.about(name, max(0, room-1)), room)
	if text != "" {
		l.Pin(w-draw.Width(text)-1).Raw(state.style, text)
	}
	return l.String()
}
