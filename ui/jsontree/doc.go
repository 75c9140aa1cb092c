// Package jsontree shows JSON text as a tree of rows that fold.
//
// It promises to be lazy: a value is looked into when it is opened, and a row is
// made when it is asked for, so that neither hundreds of megabytes nor ten thousand
// levels cost more than what is open and in view. It takes any bytes, valid JSON or
// not, without panicking and without recursion over them.
//
// What takes longer than a key may (LongOpen, LongAll, LongWrap tell) is for a command to
// do with a Clone, which then takes the tree's place.
//
// A string opens as what it holds: JSON as a tree of its own, text as lines, bytes in
// base64 as a dump. Rows are made safe to draw; the bytes themselves stay as they
// are and are given back by Value. It knows nothing of MCP.
package jsontree
