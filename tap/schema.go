package tap

import _ "embed"

// Schema is the JSON Schema (draft 2020-12) that every line of a journal keeps
// to. 'mcptap help format' describes the same for people.
//
//go:embed journal.schema.json
var Schema string
