//go:build race

package main

const raceEnabled = true // memory figures mean nothing then
