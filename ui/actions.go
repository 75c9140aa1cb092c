package ui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// A place is where an action works; places add up.
type place uint16

const (
	inSessions place = 1 << iota
	inCalls
	inFrame
	inSide   // a third pane
	inReport // findings, statistics, peers, rent
	inSearch // would a search find the tool
	inChoice // of the session to compare with
	inDiff   // two sessions compared
	inHelp
	inFind // search in all recordings
)

const (
	inSession  = inCalls | inFrame | inSide
	inReports  = inReport | inSearch | inChoice | inDiff
	inLists    = inSessions | inCalls | inReports | inFrame | inSide | inHelp | inFind
	everywhere = ^place(0)
)

// An Action is something a user can do: its keys, its name in the palette, and its
// line of help.
type Action struct {
	ID    string
	Keys  []string // as bubbletea names them; "c f" is f in the menu that c opens
	Name  string
	Help  string
	Hint  string // a word for the line of keys at the bottom; "" if it is not there
	Group string // heading in help

	where place
}

// Groups of help.
const (
	groupMove    = "Moving"
	groupShow    = "Showing"
	groupTime    = "Time"
	groupSession = "Recordings"
	groupCopy    = "Copying"
	groupProgram = "Program"
)

var actions = []Action{
	{"up", []string{"up", "k"}, "up", "the row above", "", groupMove, inLists},
	{"down", []string{"down", "j"}, "down", "the row below", "", groupMove, inLists},
	{"page-up", []string{"pgup", "ctrl+b"}, "page up", "a page up", "", groupMove, inLists},
	{"page-down", []string{"pgdown", "ctrl+f"}, "page down", "a page down", "", groupMove, inLists},
	{"first", []string{"home", "g"}, "first row", "the first row", "", groupMove, inLists},
	{"last", []string{"end", "G"}, "last row", "the last row; of a live session, its end from now on", "", groupMove, inLists},
	{"open", []string{"enter"}, "open", "open what the cursor is on", "open", groupMove, inSessions | inCalls | inReports | inFrame | inSide | inFind},
	{"back", []string{"esc", "backspace"}, "back", "back to where you came from", "back", groupMove, everywhere &^ inSessions},
	{"other-pane", []string{"tab", "shift+tab"}, "other pane", "between calls and frame", "pane", groupMove, inSession},

	{"unfold", []string{"right", "l"}, "unfold", "show what is in the row", "", groupShow, inCalls | inFrame},
	{"fold", []string{"left", "h"}, "fold", "hide it, or go to what the row is in", "", groupShow, inCalls | inFrame},
	{"unfold-all", []string{"E"}, "unfold all", "show all that is in the frame", "", groupShow, inFrame},
	{"fold-all", []string{"C"}, "fold all", "fold all of the frame", "", groupShow, inFrame},
	{"swap", []string{"s"}, "request or response", "from a response to its request, and back", "swap", groupShow, inSession},
	{"raw", []string{"v"}, "tree, text or bytes", "the frame as a tree, as its exact text, as hexadecimal", "raw", groupShow, inSession},
	{"frames", []string{"f"}, "calls or frames", "a row for each call, or for each frame", "frames", groupShow, inSession},
	{"filter", []string{"/"}, "filter or search", "rows with these words; in the frame, search the text", "find", groupShow, inSessions | inSession},
	{"unfilter", []string{"esc", "backspace"}, "all recordings", "take the filter of the list away", "", groupShow, inSessions},
	{"next-match", []string{"n"}, "next match", "the next match of the search", "", groupShow, inFrame},
	{"next-failure", []string{"e"}, "next failure", "the next call that failed", "failure", groupShow, inSession},
	{"model", []string{"m"}, "what the model reads", "the request that a host would make of it, with its tokens; again to hide it", "model", groupShow, inSession},
	{"reach", []string{"x"}, "dim what is never read", "in the frame, dim what the model never reads, or show all alike", "", groupShow, inSession},
	{"zoom", []string{"z"}, "one pane", "give the pane the whole screen, and back", "", groupShow, inSession | inReports},
	{"grow", []string{"+", "="}, "larger pane", "make the pane larger", "", groupShow, inSession},
	{"shrink", []string{"-"}, "smaller pane", "make the pane smaller", "", groupShow, inSession},
	{"mark", []string{"b"}, "mark", "mark the frame, or take its mark away; the filter mark:yes finds them", "", groupShow, inSession},
	{"note", []string{"N"}, "note", "write a note on the frame; it is kept beside the recording", "", groupShow, inSession},
	{"play", []string{" "}, "play", "play the session at its own pace; again to stop", "play", groupTime, inSession},
	{"faster", []string{">", "."}, "faster", "play twice as fast", "", groupTime, inSession},
	{"slower", []string{"<", ","}, "slower", "play half as fast", "", groupTime, inSession},
	{"step", []string{"]"}, "next frame", "one frame on, in the order in which they crossed", "", groupTime, inSession},
	{"step-back", []string{"["}, "previous frame", "one frame back", "", groupTime, inSession},
	{"step-call", []string{")"}, "next call", "on to where the next call was sent", "", groupTime, inSession},
	{"step-call-back", []string{"("}, "previous call", "back to where the call before was sent", "", groupTime, inSession},
	{"step-turn", []string{"}"}, "next turn", "on to the model's next turn", "", groupTime, inSession},
	{"step-turn-back", []string{"{"}, "previous turn", "back to the turn before", "", groupTime, inSession},

	{"findings", []string{"i"}, "findings", "what in the session breaks the specification", "findings", groupSession, inSession},
	{"stats", []string{"t"}, "statistics", "times and bytes, by tool and by part", "stats", groupSession, inSession},
	{"peers", []string{"p"}, "peers", "who spoke, and what each declared", "peers", groupSession, inSession},
	{"rent", []string{"r"}, "rent", "what tools and answers cost, turn for turn, and how it could be less", "rent", groupSession, inSession},
	{"diff", []string{"d"}, "compare", "what another session does otherwise, and what that costs", "compare", groupSession, inSession},
	{"search", []string{"S"}, "tool search", "would a model that searches find the tool? type a query, see the ranks", "", groupSession, inSession},
	{"save", []string{"w"}, "save what is selected", "write what the filter selects to a new file, a recording of its own", "", groupSession, inSession},
	{"together", []string{"T"}, "together", "count the other sessions of the same host in, or leave them out", "", groupSession, inSession | inReport},
	{"query", []string{"/", "i"}, "search", "another query", "query", groupShow, inSearch | inFind},
	{"engine", []string{"tab"}, "engine", "search as another engine does", "engine", groupShow, inSearch},
	{"again", []string{"R"}, "read again", "read again, with what was recorded by now", "", groupShow, inReports | inFind},
	{"open-other", []string{"O"}, "open in the other", "the frame of the other session", "other", groupMove, inDiff},
	{"differing", []string{"o"}, "only what differs", "hide what is the same on both sides, or show it again", "differing", groupShow, inDiff},
	{"sort", []string{"o"}, "order", "order the list otherwise", "order", groupSession, inSessions | inReport},
	{"find", []string{"F"}, "search all recordings", "which recordings have something, and where: by the language of filters", "search all", groupSession, inSessions},
	{"keep", []string{"*"}, "keep", "protect the recording from being removed for room, or end that", "keep", groupSession, inSessions},
	{"delete", []string{"delete", "D"}, "delete", "delete the recording, after asking", "delete", groupSession, inSessions},

	{"copy", []string{"y"}, "copy", "copy the frame; in a frame the value at the cursor, in what the model reads the block", "", groupCopy, inSession},
	{"copy-menu", []string{"c"}, "copy…", "choose what to copy", "copy", groupCopy, inSession},
	{"copy-frame", []string{"c f"}, "copy frame", "the frame, byte for byte", "", groupCopy, inSession},
	{"copy-value", []string{"c v"}, "copy value", "the value that the frame's cursor is on", "", groupCopy, inSession},
	{"copy-path", []string{"Y", "c p"}, "copy path", "the path of that value, for gjson and tools like jq", "", groupCopy, inSession},
	{"copy-block", []string{"c b"}, "copy block", "the block that the cursor is on, as the model reads it", "", groupCopy, inSession},
	{"copy-request", []string{"c r"}, "copy whole request", "the request that the model reads then, as JSON", "", groupCopy, inSession},
	{"copy-shell", []string{"c s"}, "copy as command", "curl, or a pipe into the server, that sends it again", "", groupCopy, inSession},
	{"copy-file", []string{"y"}, "copy file name", "the path of the recording's file", "", groupCopy, inSessions},

	{"palette", []string{":", "ctrl+p"}, "commands", "find an action by its name", "", groupProgram, everywhere},
	{"help", []string{"?", "f1"}, "help", "the keys that work here", "help", groupProgram, everywhere},
	{"filter-help", []string{"H"}, "how to filter", "the language of filters, with examples", "filters", groupProgram, inSession | inHelp | inFind},
	{"redraw", []string{"ctrl+l"}, "redraw", "draw the whole screen anew, if something else has written on it", "", groupProgram, everywhere},
	{"quit", []string{"q", "ctrl+c"}, "quit", "leave", "", groupProgram, everywhere},
}

// groups are the headings of help, in their order.
var groups = []string{groupMove, groupShow, groupTime, groupSession, groupCopy, groupProgram}

// Actions gives every action, in the order of help.
func Actions() []Action {
	all := slices.Clone(actions)
	slices.SortStableFunc(all, func(a, b Action) int { return slices.Index(groups, a.Group) - slices.Index(groups, b.Group) })
	return all
}

// Where says where an action works that is only for one or two screens; "" if it is for
// more, or for a recording.
func (a *Action) Where() string {
	if a.where&inSession != 0 {
		return ""
	}
	var names []string
	for at := place(1); at != 0; at <<= 1 {
		if a.where&at != 0 && placeNames[at] != "" {
			names = append(names, placeNames[at])
		}
	}
	if len(names) > 2 {
		return ""
	}
	return strings.Join(names, " and ")
}

// Binding is the action as bubbles has keys: what matches it, and what help says.
func (a *Action) Binding() key.Binding {
	names := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		names[i] = KeyName(k)
	}
	return key.NewBinding(key.WithKeys(a.Keys...), key.WithHelp(strings.Join(names, " or "), a.Help))
}

// actionFor finds what a key does at a place.
func actionFor(k tea.KeyMsg, at place) *Action {
	for _, a := range actionsAt(at) {
		if key.Matches(k, a.Binding()) {
			return a
		}
	}
	return nil
}

// actionsAt are the actions that work at a place.
func actionsAt(at place) (out []*Action) {
	for i := range actions {
		if actions[i].where&at != 0 {
			out = append(out, &actions[i])
		}
	}
	return out
}

// hintOrder is which hints are worth most, for a line that does not have room for all.
// Those that it does not name come after its first part; help is always there.
var hintOrder = []string{"open", "back", "filter", "find", "next-failure", "model", "play", "diff", "rent", "findings", "stats"}

// hintsLast are worth least.
var hintsLast = []string{"other-pane", "copy-menu", "raw", "swap", "frames", "peers", "filter-help"}

// hintedAt are the actions at a place that have a hint, those first that are worth most.
func hintedAt(at place) []*Action {
	out := slices.DeleteFunc(actionsAt(at), func(a *Action) bool { return a.Hint == "" })
	slices.SortStableFunc(out, func(a, b *Action) int { return hintRank(a.ID) - hintRank(b.ID) })
	return out
}

func hintRank(id string) int {
	if i := slices.Index(hintOrder, id); i >= 0 {
		return i
	}
	return len(hintOrder) + slices.Index(hintsLast, id) + 1
}

// keyNames are keys as people call them.
var keyNames = map[string]string{" ": "space", "up": "↑", "down": "↓", "left": "←", "right": "→", "pgdown": "pgdn", "delete": "del"}

// KeyName is a key as people call it.
func KeyName(key string) string {
	if name, ok := keyNames[key]; ok {
		return name
	}
	return key
}
