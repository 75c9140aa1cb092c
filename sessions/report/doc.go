// Package report says of a session what commands and screens alike say: why an
// operation ended as it did, what it cost in bytes, and how the operations of one
// kind add up.
//
// It must not format for a certain output, and it promises nothing about the safety
// of texts that came from the outside.
package report
