// Package cost reckons what a conversation's requests cost when everything is sent
// again each time: without caching, and with Anthropic's prompt cache of five minutes
// or one hour.
//
// A request is a row of blocks in the order of the cache's prefix: tools, system,
// messages. A [Sim] takes the requests of one conversation with one model, one after
// the other, and says for each how many tokens were read from the cache, written to
// it, or paid in full, what that costs, and which block broke the prefix if it broke.
//
// What it knows of the cache is what the documentation says (prompt caching, read
// 2026-08-22): the prefix must match byte for byte; entries are written at breakpoints
// only, and read at one or up to twenty blocks before it; their life is counted from
// the start of the request that wrote or read them last; they can be read once the
// answer to their first request began; shorter prefixes than the model's minimum are
// silently not cached. All breakpoints of a request have the same life here; the API
// also takes some of an hour before some of five minutes.
//
// The package is pure: times come with the requests. Counts of tokens may be
// estimates; whoever fills them in knows, and says so beside the result.
package cost
