package decode

import (
	"bytes"
	"encoding/json"
)

// mostIndented is how deep JSON may be nested to be indented: of what is far deeper the
// indentation would be most of it, and grow with the square of the depth.
const mostIndented = 200

// Indented is a JSON text with a line for each value, two spaces a level; as it is if it is
// no JSON, or nested without measure.
func Indented(b []byte) []byte {
	var out bytes.Buffer
	if Depth(b) > mostIndented || json.Indent(&out, b, "", "  ") != nil {
		return b
	}
	return out.Bytes()
}
