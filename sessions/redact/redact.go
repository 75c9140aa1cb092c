// Package redact masks secrets in text that is about to be written to disk or
// shared: the command line in a journal's header, and later what an export
// holds.
//
// It promises that
//   - every secret it recognises, by the name it is given or by its shape, is
//     replaced by a mask, whole, and nothing else in the text changes;
//   - masking again changes nothing;
//   - the work grows linearly with the text, whatever the text is.
//
// A secret that nothing names and that has no known shape is not recognised:
// this is a safety net under private files, not a reason to publish them.
// Where a name leaves a doubt the value is masked: a masked harmless value
// costs a reader a moment, a kept secret costs more.
//
// What secrets are called and look like changes with time and is data:
// secrets.json, embedded, with the day it was true. It is read on first use.
//
// The package must not touch bytes on their way between client and server, and
// does no IO. [Text] reads no structure, [JSON] reads that of one JSON text, and [HTTP]
// that of HTTP.
package redact

// Mask stands where a secret was, unless a key gives masks that can be told apart
// (see [HTTP]).
const Mask = "***"

// masker gives the mask for a secret; nil gives Mask for all.
type masker func(secret string) string

func (m masker) of(secret string) string {
	if m == nil {
		return Mask
	}
	return m(secret)
}

// Text returns s with the secrets it shows masked: user information in URLs,
// secret query parameters, tokens of a known shape, private keys, and the
// values of secret-like names in KEY=value, --option value, "member": "value"
// and Header: value form.
//
// An object below a secret-like member is kept apart from the secret-like
// members in it: a JSON Schema has a property named api_key and is no secret.
func Text(s string) string {
	return sweep(data(), s, false)
}

// rounds bounds how often a text is swept. A mask can take away what hid the
// next secret, a ? that ended a URL's host for example: two rounds find nearly
// all of that, and a text without secrets needs one.
const rounds = 8

// sweep masks s until there is nothing left to mask. Shapes come first, since
// a key block may hold anything that the other passes would take for
// structure. With deep set, all strings in an object below a secret-like
// member are masked as well.
func sweep(t *table, s string, deep bool) string {
	for range rounds {
		before := s
		s = t.maskShapes(s)
		s = t.maskUserinfo(s)
		s = t.maskPairs(s, deep)
		if s == before {
			break
		}
	}
	return s
}
