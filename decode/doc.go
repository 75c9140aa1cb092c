// Package decode gives frames their meaning: bytes in, values out.
//
// It promises to be pure (no IO, no clock, no state of its own), never to panic
// whatever the bytes are, and to keep what it read as it was sent: an id is its
// own text, since 1, 1.0 and "1" are three different ids.
//
// It must not change, repair or re-encode what it looks at.
package decode
