// Package ui is the terminal program that shows recordings: a root model that routes,
// and screens that are structs with methods.
//
// It promises that drawing costs what is in view, that nothing is read or written in
// Update (commands do it, and what they bring back says what it answers, so that what
// comes too late is dropped), that all text from the outside is made safe before it
// is drawn, and that the terminal is given back as it was on every way out.
//
// It must not start processes, listen on the network or write into journals. What a
// key does is said once, in the table of actions.go: keys, palette, help screen and
// 'mcptap help keys' come from it.
//
// # Where things are
//
// The root is app.go. A screen is a file: sessionlist.go, session.go with its panes
// calls.go, frame.go, model.go and clock.go, reports.go with findings.go, stats.go,
// peers.go, rent.go with rentreview.go, search.go and diff.go: follow.go keeps those up
// with a session that grows, and columns.go lays out their tables. find.go searches all
// recordings, finding.go one of them. Where the model's turns begin is turns.go, the bars
// below panes are bar.go, how a selection is saved save.go; what they read of a session
// once more, reading.go. How a screen leads to a place in a frame is spot.go; texts to read
// are moved in by pager.go.
// What travels between commands and screens is in msgs.go; where panes stand is
// decided in layout.go. Widgets that know nothing of MCP are packages of their own:
// draw, theme, vlist, jsontree, syntax, density, lineedit. Package feed is a session as
// the screens read it.
package ui
