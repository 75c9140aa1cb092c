// Package toolsearch answers offline: would the model find the tool with this
// query? It simulates the two engines of the Claude API's tool search (a regular
// expression with Python's semantics, and BM25) and Claude Code's ToolSearch.
//
// It promises to show what is not known: where the documentation leaves a choice
// open (whether fields are joined, which parameters rank), a query is run under
// every choice, and a tool has a range of ranks besides its rank. Claude Code's
// ranking is not published; BM25 stands in for it, and [Result.StandIn] says so.
//
// It must not do IO, nor call a rank certain. Facts with a date stand in
// search.json.
//
// An [Index] is built once from a plain catalogue and may be asked at every key
// that is typed. It is not changed by a search; several may run at once.
package toolsearch
