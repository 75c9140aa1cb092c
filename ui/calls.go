package ui

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions/filter"
	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/ui/feed"
	"github.com/mcptap/mcptap/ui/vlist"
)

// calls is the pane that lists a session: a row for each operation, which unfolds to
// its frames, or a row for each frame. The session's lock is held whenever one of its
// methods runs.
type calls struct {
	env   *env
	feed  *feed.Feed
	list  vlist.List
	marks *marks.Marks // nil until they are read

	frames   bool // a row a frame
	unfolded []unfolding
	turns    []turnStart          // of the model, by row
	turnOf   map[int]int          // of calls; nil until they are known
	follow   bool                 // the cursor stays on the last row
	pinned   int                  // frame to show instead of the row's; -1 if none
	since    func() time.Duration // time of a live session; nil if it has ended

	filter    string          // as it was typed
	matcher   *filter.Matcher // nil if there is no filter
	asksMore  bool            // it looks into frames: that is for commands
	asksTurns bool            // it asks for turns, which may not be known yet
	filterID  int
	selected  []int32           // rows that the filter selects
	upto      int               // rows it has looked at
	filtering bool              // a command is at it
	words     filter.Vocabulary // that occur, for completion

	details map[detailKey]feed.Detail
	asked   map[detailKey]bool
	version uint64 // of what rows look like
}

// unfolding is an operation that shows its frames.
type unfolding struct {
	base  int // index among the rows, as if nothing were unfolded
	parts []feed.Part
}

// detailKey is a row at a stage: what it says changes when its call ends.
type detailKey struct {
	row     feed.Row
	outcome decode.Outcome
}

// item is what a row of the list shows.
type item struct {
	row  feed.Row
	part *feed.Part // a frame of an unfolded operation
	turn *turnStart // the line of the turn that begins with the row
	base int
}

// bases is how many rows there are as if nothing were unfolded.
func (c *calls) bases() int {
	switch {
	case c.matcher != nil:
		return len(c.selected)
	case c.frames:
		return c.feed.Len()
	}
	return len(c.feed.Rows)
}

func (c *calls) all() int {
	if c.frames {
		return c.feed.Len()
	}
	return len(c.feed.Rows)
}

// base gives a row as if nothing were unfolded.
func (c *calls) base(i int) feed.Row {
	if c.matcher != nil {
		i = int(c.selected[i])
	}
	if c.frames {
		return feed.FrameRow(i)
	}
	return c.feed.Rows[i]
}

func (c *calls) item(i int) (it item, ok bool) {
	n := c.bases()
	if i < 0 || i >= c.count() {
		return item{}, false
	}
	base := sort.Search(n, func(b int) bool { return c.rowOfBase(b) >= i })
	switch {
	case base < n && c.rowOfBase(base) == i:
		return item{row: c.base(base), base: base}, true
	case base < n && c.rowOfBase(base) == i+1 && c.turnAt(base) != nil:
		return item{row: c.base(base), turn: c.turnAt(base), base: base}, true
	}
	base-- // a frame of the row above
	for j := range c.unfolded {
		if u := &c.unfolded[j]; u.base == base {
			return item{row: c.base(base), part: &u.parts[i-c.rowOfBase(base)-1], base: base}, true
		}
	}
	return item{}, false
}

// rowOfBase is where a row stands in the list: below what is unfolded above it, and
// below the lines of turns.
func (c *calls) rowOfBase(base int) int {
	row := base + c.turnsUpTo(base)
	for _, u := range c.unfolded {
		if u.base < base {
			row += len(u.parts)
		}
	}
	return row
}

func (c *calls) count() int { return c.rowOfBase(c.bases()) }

// changed tells the list that there are other rows, or that they look otherwise.
func (c *calls) changed() {
	c.version++
	c.list.SetLen(c.count(), c.follow && c.list.Len() > 0)
}

// grown takes what was read since. The cursor follows the end only once the session
// was read as far as it went at first.
func (c *calls) grown(follow bool) {
	for i := range c.unfolded {
		u := &c.unfolded[i]
		u.parts = c.feed.Parts(c.base(u.base).Call())
	}
	c.filterOn(4096)
	c.version++
	c.list.SetLen(c.count(), c.follow && follow)
}

// frameAtCursor is the frame to look into; -1 if there is none.
func (c *calls) frameAtCursor() int {
	it, ok := c.item(c.list.Cursor())
	switch {
	case !ok:
		return -1
	case c.pinned >= 0:
		return c.pinned
	case it.part != nil:
		return it.part.Frame
	}
	return c.feed.Main(it.row)
}

// moment is when the row with the cursor was.
func (c *calls) moment() time.Duration {
	it, ok := c.item(c.list.Cursor())
	switch {
	case !ok:
		return 0
	case it.part != nil:
		return c.feed.Frame(it.part.Frame).Time
	}
	return c.feed.Time(it.row)
}

func (c *calls) do(id string) bool {
	switch id {
	case "fold":
		return c.fold()
	default:
		if !moveList(&c.list, id) {
			return false
		}
		c.offLine(id == "up" || id == "page-up")
		c.pinned = -1
	}
	c.follow = id == "last" || id == "down" && c.follow && c.list.AtEnd()
	return true
}

// unfold shows the frames of an operation; false if the row has none to show.
func (c *calls) unfold() bool {
	it, ok := c.item(c.list.Cursor())
	if !ok || it.part != nil || it.row.Call() < 0 || c.frames {
		return false
	}
	i, found := slices.BinarySearchFunc(c.unfolded, it.base, func(u unfolding, b int) int { return u.base - b })
	if found {
		return false
	}
	parts := c.feed.Parts(it.row.Call())
	if len(parts) == 0 {
		return false
	}
	c.unfolded = slices.Insert(c.unfolded, i, unfolding{it.base, parts})
	c.follow = false
	c.changed()
	c.list.Reveal(c.rowOfBase(it.base) + len(parts))
	return true
}

// fold hides the frames of the operation that the cursor is in.
func (c *calls) fold() bool {
	it, ok := c.item(c.list.Cursor())
	if !ok {
		return true
	}
	c.unfolded = slices.DeleteFunc(c.unfolded, func(u unfolding) bool { return u.base == it.base })
	c.pinned = -1
	c.changed()
	c.list.Go(c.rowOfBase(it.base))
	return true
}

// nextFailure goes to the next row that failed, and from the last to the first: then it
// says so.
func (c *calls) nextFailure() tea.Cmd {
	it, _ := c.item(c.list.Cursor())
	n := c.bases()
	c.follow = false
	for i := 1; i <= n; i++ {
		base := (it.base + i) % n
		if !c.failed(c.base(base)) {
			continue
		}
		c.pinned = -1
		c.list.Go(c.rowOfBase(base))
		switch {
		case i == n:
			return send(noteMsg{"the only failure", false})
		case base < it.base:
			return send(noteMsg{"from the top again: no failure below", false})
		}
		return nil
	}
	return send(noteMsg{c.noFailures(), false})
}

func (c *calls) noFailures() string {
	switch {
	case c.matcher != nil:
		return "no failures among the rows that the filter selects"
	}
	return "no failures"
}

func (c *calls) failed(r feed.Row) bool {
	call := r.Call()
	if call < 0 {
		if call = c.feed.Frame(r.Frame()).Call; call < 0 || c.feed.Call(call).Response != r.Frame() {
			return false
		}
		return feed.Failed(c.feed.Call(call).Outcome)
	}
	return feed.Failed(c.feed.Operation(call).Outcome)
}

// toggleFrames changes between a row a call and a row a frame; the cursor stays on
// what it is on.
func (c *calls) toggleFrames() {
	at := c.frameAtCursor()
	c.frames = !c.frames
	c.unfolded = nil
	c.refilter()
	c.changed()
	c.goFrame(at)
}

// goFrame puts the cursor on a frame, or on the operation that it is part of.
func (c *calls) goFrame(frame int) {
	frame = max(0, min(frame, c.feed.Len()-1))
	if c.feed.Len() == 0 {
		return
	}
	c.follow = false
	base := frame
	if !c.frames {
		base = c.feed.RowOf(frame)
	}
	c.goBase(base)
	c.pinned = -1
	if c.frameAtCursor() != frame {
		c.pinned = frame
	}
}

// goTime puts the cursor on the last row that had begun at a moment.
func (c *calls) goTime(t time.Duration) {
	c.follow, c.pinned = false, -1
	if c.frames {
		c.goBase(c.feed.FrameAt(t))
		return
	}
	c.goBase(c.feed.RowAt(t))
}

// goBase goes to a row by its number among all; with a filter, to the last selected
// one up to it.
func (c *calls) goBase(base int) {
	if c.matcher != nil {
		i, found := slices.BinarySearch(c.selected, int32(base))
		if !found {
			i--
		}
		base = max(0, i)
	}
	c.list.Go(c.rowOfBase(base))
}

// setFilter shows only the rows that a filter selects. Of one that is not finished, the
// beginning counts that is valid.
func (c *calls) setFilter(text string) tea.Cmd {
	typed := filter.Typing(text)
	matcher, asksMore := c.matcherOf(&typed)
	if text == c.filter {
		return nil
	}
	at := c.frameAtCursor()
	c.filter, c.matcher, c.asksMore = text, matcher, asksMore
	c.asksTurns = typed.Filter.NeedsTurns()
	c.unfolded = nil
	c.refilter()
	c.changed()
	if at >= 0 && c.bases() > 0 {
		c.goBase(map[bool]int{true: at, false: c.feed.RowOf(at)}[c.frames])
	}
	return c.filterMore()
}

// matcherOf joins a filter to the session; nil if it selects everything.
func (c *calls) matcherOf(typed *filter.Typed) (m *filter.Matcher, asksMore bool) {
	if typed.Filter == nil || typed.Filter.String() == "" {
		return nil, false
	}
	m, err := typed.Filter.On(c.source(bodiesOf(c.feed)))
	if err != nil {
		return nil, false
	}
	return m, typed.Filter.NeedsBodies()
}

// longBody is from how many bytes on the lock is not held while a body is read.
const longBody = 1 << 20

// bodiesOf gives the bodies of a feed to a command that holds its lock.
func bodiesOf(f *feed.Feed) func(frame int) []byte {
	read := f.Bodies()
	return func(frame int) []byte {
		if f.Frame(frame).Size < longBody {
			return read(frame)
		}
		again := f.Reread(frame)
		f.Unlock()
		defer f.Lock()
		return f.BodyOf(again())
	}
}

// source is what a filter looks at here. Turns that are not known yet are none: when they
// are, the filter is set anew.
func (c *calls) source(body func(frame int) []byte) filter.Source {
	return filter.Source{Session: c.feed.Session, Body: body, Label: c.feed.Name(), MarkOf: c.markOf(), TurnOf: func(call int) int { return c.turnOf[call] }}
}

// markOf is how a filter finds marks; nil as long as they are not read.
func (c *calls) markOf() func(n uint64) (note string, marked bool) {
	if c.marks == nil {
		return nil
	}
	return c.marks.Get
}

// judge says of a filter that is being typed whether it is right, and how it may go on.
func (c *calls) judge(text string) styled {
	th := c.env.th
	typed := filter.Typing(text)
	if typed.State == filter.Valid && typed.Filter != nil {
		if _, err := typed.Filter.On(c.source(c.feed.Bodies())); err != nil {
			return styled{err.Error(), th.Bad}
		}
	}
	switch typed.State {
	case filter.Invalid:
		return styled{typed.Err.What + "; " + typed.Err.Hint, th.Bad}
	case filter.Empty:
		return styled{"a word, tool:add_*, status:failed, ms>100, … (f1 lists all)", th.Faint}
	}
	if c.turnOf == nil && typed.Filter.NeedsTurns() {
		return styled{"the turns are being worked out…", th.Faint}
	}
	c.words.Grow(c.feed.Session, c.feed.Name(), vocabularyStep)
	var ways []string
	for _, w := range filter.Complete(text, len(text), &c.words) {
		if w.From >= 0 && w.To <= len(text) && text[w.From:w.To] == w.Text {
			continue // it is there
		}
		if ways = append(ways, w.Text); len(ways) == 6 {
			break
		}
	}
	if len(ways) == 0 {
		return styled{}
	}
	return styled{"tab " + strings.Join(ways, "  "), th.Faint}
}

// refuse tells why a filter can't stay as it is; empty if it can.
func (c *calls) refuse(text string) string {
	typed := filter.Typing(text)
	if typed.Err != nil {
		return typed.Err.What + "; " + typed.Err.Hint
	}
	if typed.Filter != nil {
		if _, err := typed.Filter.On(c.source(c.feed.Bodies())); err != nil {
			return err.Error()
		}
	}
	return ""
}

// vocabularyStep is how many calls one key looks at for the values that occur.
const vocabularyStep = 20000

// refilter begins to filter anew; what fits one step is there at once.
func (c *calls) refilter() {
	c.filterID++
	c.selected, c.upto = nil, 0
	c.filterOn(4096)
}

// filterOn looks at so many more rows, unless files have to be read for that.
func (c *calls) filterOn(n int) {
	if c.matcher == nil || c.asksMore {
		return
	}
	c.selected = append(c.selected, c.match(c.upto, min(c.upto+n, c.all()))...)
	c.upto = min(c.upto+n, c.all())
}

// match gives the rows between two that the filter selects.
func (c *calls) match(from, to int) (rows []int32) {
	for i := from; i < to; i++ {
		row := feed.FrameRow(i)
		if !c.frames {
			row = c.feed.Rows[i]
		}
		if call := row.Call(); call >= 0 && c.matcher.Call(call) || call < 0 && c.matcher.Frame(row.Frame()) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// filterMore looks at further rows in a command, a piece at a time.
func (c *calls) filterMore() tea.Cmd {
	if c.matcher == nil || c.upto >= c.all() || c.filtering {
		return nil
	}
	c.filtering = true
	id, from, f, now := c.filterID, c.upto, c.feed, c.env.Now
	probe := *c // the filter as it is now
	step := 64
	if c.asksMore {
		step = 1 // one row may take long
	}
	return func() tea.Msg {
		f.Lock()
		defer f.Unlock()
		m := filteredMsg{feed: f, id: id, upto: from}
		for start := now(); m.upto < probe.all() && now().Sub(start) < budget; {
			to := min(m.upto+step, probe.all())
			m.rows = append(m.rows, probe.match(m.upto, to)...)
			m.upto = to
		}
		return m
	}
}

func (c *calls) filtered(m filteredMsg) tea.Cmd {
	c.feed.Lock()
	defer c.feed.Unlock()
	c.filtering = false
	if m.id != c.filterID || m.upto <= c.upto {
		return c.filterMore()
	}
	c.selected = append(c.selected, m.rows...)
	c.upto = m.upto
	c.changed()
	return c.filterMore()
}

// learn takes what rows are about.
func (c *calls) learn(details map[detailKey]feed.Detail) {
	if c.details == nil || len(c.details) > 4096 {
		c.details, c.asked = map[detailKey]feed.Detail{}, map[detailKey]bool{}
	}
	for k, d := range details {
		c.details[k] = d
	}
	c.version++
}

func (c *calls) key(r feed.Row) detailKey {
	if call := r.Call(); call >= 0 {
		return detailKey{r, c.feed.Operation(call).Outcome}
	}
	return detailKey{row: r}
}

// need asks for what the rows in view are about.
func (c *calls) need() tea.Cmd {
	var keys []detailKey
	from, to := c.list.Range()
	for i := from; i < to; i++ {
		it, ok := c.item(i)
		if !ok {
			continue
		}
		k := c.key(it.row)
		if it.part != nil {
			k = detailKey{row: feed.FrameRow(it.part.Frame)}
		}
		if _, have := c.details[k]; !have && !c.asked[k] {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if c.asked == nil {
		c.asked = map[detailKey]bool{}
	}
	for _, k := range keys {
		c.asked[k] = true
	}
	f := c.feed
	return func() tea.Msg {
		out := make(map[detailKey]feed.Detail, len(keys))
		for _, k := range keys {
			out[k] = f.Detail(k.row)
		}
		return detailsMsg{f, out}
	}
}

// verdict says why the call with the cursor failed, and how.
func (c *calls) verdict() styled {
	it, ok := c.item(c.list.Cursor())
	if !ok || it.row.Call() < 0 {
		return styled{}
	}
	k := c.key(it.row)
	d := c.details[k]
	if !feed.Failed(k.outcome) {
		return styled{}
	}
	return styled{strings.TrimSuffix(signOf(k.outcome).word+": "+d.Why, ": "), outcomeStyle(c.env.th, k.outcome)}
}

func (c *calls) title() string {
	if c.frames {
		return "frames"
	}
	return "calls"
}

func (c *calls) titleRest() string {
	if c.matcher == nil {
		return ""
	}
	s := c.filter + ": " + strconv.Itoa(len(c.selected)) + " of " + strconv.Itoa(c.all())
	if c.upto < c.all() {
		s += "…"
	}
	if c.frames {
		return s
	}
	return s + " rows"
}
