package ui

import (
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/replay/toolsearch"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/sessions/marks"
	"github.com/mcptap/mcptap/ui/feed"
	"github.com/mcptap/mcptap/ui/jsontree"
)

// Messages between commands and screens. Each result carries what it answers; a
// screen drops what is not for it, or not for what it shows by now.

// listedMsg is the list of recordings.
type listedMsg struct {
	infos []sessions.Info
	sums  map[string]sessions.Summary // of those that are new or have changed
	mark  time.Time                   // the store's, when it was listed
	err   error
}

// watchMsg is a look at the store: whether recordings came or went.
type watchMsg struct{ mark time.Time }

// openedMsg is a session that was opened.
type openedMsg struct {
	path string
	feed *feed.Feed
	goal int  // frame to go to; -1 for none
	spot spot // in it
	err  error

	filter string // to begin with
}

// advancedMsg tells how far a session was read.
type advancedMsg struct {
	feed   *feed.Feed
	status feed.Status
}

// followMsg is the moment to look for more of a live session.
type followMsg struct{ feed *feed.Feed }

// summedMsg is what a session adds up to.
type summedMsg struct {
	feed *feed.Feed
	sum  sessions.Summary
	done int  // calls looked at
	anew bool // all were
	took time.Duration
}

// detailsMsg is what rows are about.
type detailsMsg struct {
	feed    *feed.Feed
	details map[detailKey]feed.Detail
}

// bodyMsg is a frame to look into.
type bodyMsg struct {
	feed *feed.Feed
	body *feed.Body
}

// accountMsg is what the bytes of a long frame are spent on.
type accountMsg struct {
	body    *feed.Body
	account decode.Account
}

// filteredMsg is the rows that a filter selects.
type filteredMsg struct {
	feed *feed.Feed
	id   int
	rows []int32
	upto int // rows looked at
}

// playMsg is a moment of playing.
type playMsg struct {
	id int
	at time.Time
}

// reportMsg is what was worked out of a whole session, for one screen.
type reportMsg struct {
	of     *reportScreen
	id     int // of the reading
	review *review
	err    error
	took   time.Duration
}

// noteMsg is a sentence for the user; bad ones are errors.
type noteMsg struct {
	text string
	bad  bool
}

// noteOverMsg ends a note.
type noteOverMsg struct{ id int }

// removedMsg tells that a recording is gone, or why not.
type removedMsg struct {
	id  string
	err error
}

// review is what the screens on a whole session show.
type review struct {
	frames   int // of the session, when it was read
	findings []rules.Finding
	stats    *statsReview
	peers    []peerRow
	rent     *rentReview
	search   *searchReview
	diff     *diffReview
	others   []otherSession

	otherLive bool // the session it was compared with is being recorded
}

// turnsMsg is where turns of the model begin.
type turnsMsg struct {
	feed   *feed.Feed
	frames int // that there were
	turns  []turnStart
	of     map[int]int // turn of each call that is of one
	took   time.Duration
}

// savedMsg tells what became of saving a selection.
type savedMsg struct {
	of   *session
	name string
	said string
	err  error
}

// findListMsg is the recordings that a search is to go through.
type findListMsg struct {
	of    *findScreen
	id    int // of the search
	infos []sessions.Info
	err   error
}

// foundMsg is what a search found in the next of them.
type foundMsg struct {
	of    *findScreen
	id    int
	group findGroup
}

// groundMsg tells whether the terminal's background is dark.
type groundMsg struct{ dark bool }

// fateMsg is a look at the file of a session that is open.
type fateMsg struct {
	feed *feed.Feed
	fate sessions.Fate
}

// frameJobMsg is what a job made.
type frameJobMsg struct {
	job  *frameJob
	body *feed.Body
	tree *jsontree.Tree // nil: the frame was not shown as one
	at   int            // row to go to; byte, without a tree
	ok   bool
}

// marksMsg is what was marked in a session before.
type marksMsg struct {
	feed  *feed.Feed
	marks *marks.Marks
	err   error
}

// modelMsg is a request that was assembled.
type modelMsg struct {
	pane    *modelPane
	request *modelRequest
}

// brokenMsg is a panic in a command.
type brokenMsg struct{ err error }

// searchMsg is what a query found.
type searchMsg struct {
	page   *searchPage
	id     int
	in     *searchReview
	again  bool // it was asked before: the tools have changed
	result *toolsearch.Result
	err    error
}

// explainMsg is where a query matches a tool.
type explainMsg struct {
	page   *searchPage
	id     int // of the query
	tool   int
	fields []toolsearch.Field
}
