// Package apicheck looks at tool definitions before anybody pays for a request:
// which will the Claude API, a host or a client's SDK refuse, cut or lose?
//
// Each finding names the tool, the place in its definition, who refuses it, what
// happens then, and on what evidence of which date. Who refuses what is data
// (hosts.json), grouped into profiles: a profile is a host with everything that
// its tools pass through.
//
// It promises to be pure and bounded whatever the definitions are, and to follow
// no reference. It must not judge by the specification: that is for decode/rules.
package apicheck
