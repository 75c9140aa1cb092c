package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	keyedStart = "«redacted:"
	keyedEnd   = "»"
	keyedHex   = 6
	keyedLen   = len(keyedStart) + keyedHex + len(keyedEnd)
)

// keyedMask is the mask that is the same for equal secrets under one key, and
// says nothing to whoever has no key.
func keyedMask(key []byte, secret string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(secret))
	return keyedStart + hex.EncodeToString(mac.Sum(nil))[:keyedHex] + keyedEnd
}

// isMask tells whether s is a mask, and nothing else.
func isMask(s string) bool {
	if s == Mask {
		return true
	}
	return len(s) == keyedLen && strings.HasPrefix(s, keyedStart) && strings.HasSuffix(s, keyedEnd) &&
		strings.Trim(s[len(keyedStart):len(keyedStart)+keyedHex], "0123456789abcdef") == ""
}

// isMasks tells whether s is a mask, or two with a colon between them.
func isMasks(s string) bool {
	for _, n := range []int{len(Mask), keyedLen} {
		if len(s) > n && s[n] == ':' && isMask(s[:n]) {
			return isMask(s[n+1:])
		}
	}
	return isMask(s)
}

// hasMask tells whether there is a mask in s, or the start of one.
func hasMask(s string) bool {
	return strings.Contains(s, Mask) || strings.Contains(s, keyedStart)
}
