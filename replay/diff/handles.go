package diff

import (
	"slices"
	"strconv"
)

// A handle is a value that a server made up and a client gave back: where the same
// place of two results held x and y, and a later call of the one session asks with x
// where that of the other asks with y, the two calls are the same.

// How long a text can be that is a handle.
const (
	minHandle = 3
	maxHandle = 100
)

// handlePair gives the two values of a place that could be handles.
func handlePair(l *leaf) (k [2]string, ok bool) {
	a, okA := l.a.(string)
	b, okB := l.b.(string)
	return [2]string{a, b}, okA && okB && len(a) >= minHandle && len(b) >= minHandle && max(len(a), len(b)) <= maxHandle
}

// noteHandle remembers values that differ between two results.
func (w *work) noteHandle(l *leaf) {
	if k, ok := handlePair(l); ok {
		w.handles[k]++
	}
}

// isHandle reports arguments that differ as earlier results did.
func (w *work) isHandle(l *leaf) bool {
	k, ok := handlePair(l)
	if !ok || w.handles[k] == 0 {
		return false
	}
	w.handles[k] = usedHandle
	return true
}

// usedHandle marks values that were given back.
const usedHandle = -1

// takeHandles moves the places of results that turned out to hold handles from the
// changes to what varies.
func (w *work) takeHandles() {
	used := map[[2]string]bool{}
	for k, n := range w.handles {
		if n == usedHandle {
			a, b := Excerpts(wholeJSON(k[0]), wholeJSON(k[1]), maxShown)
			used[[2]string{a, b}] = true
		}
	}
	if len(used) == 0 {
		return
	}
	for i := range w.d.Rows {
		r := &w.d.Rows[i]
		r.Changes = slices.DeleteFunc(r.Changes, func(c Difference) bool {
			handle := c.What == WhatResult && used[[2]string{c.A, c.B}]
			if handle {
				w.varies(r, kindHandle, c.Path, c.A, c.B)
			}
			return handle
		})
	}
}

// varies notes a place whose values vary by themselves.
func (w *work) varies(r *Row, kind, path, a, b string) {
	k := volatileKey{kind, r.Method, r.Name, path}
	v := w.vary[k]
	if v == nil {
		v = &Volatile{Kind: kind, Method: r.Method, Name: r.Name, Path: path, A: a, B: b}
		w.vary[k] = v
		w.keys = append(w.keys, k)
	}
	v.Count++
}

func (w *work) listVolatile() {
	for _, k := range w.keys {
		w.d.Volatile = append(w.d.Volatile, *w.vary[k])
	}
}

func itoa64[N int64 | uint64 | int](n N) string { return strconv.FormatInt(int64(n), 10) }
