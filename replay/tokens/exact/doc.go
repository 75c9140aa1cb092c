// Package exact counts tokens with Anthropic's count_tokens endpoint: what a list of
// tools adds to every request, and each tool's share of it.
//
// Counting sends descriptions to a third party, so it takes two steps. A plan says how
// many requests with how many bytes would go to which host, and sends nothing; running
// the plan sends them. Who calls asks in between.
//
// A tool's share is the list with it less the list without it. Counting a tool alone
// would add the fixed preamble of having tools each time. Answers are kept by the hash
// of what was sent, so nothing is sent twice.
//
// The key goes into one header of requests to the configured host, and nowhere else: it
// is in no error, redirects are not followed, and plain http is for this machine only.
// Answers are taken as hostile input.
//
// HTTP client, key, host, waiting and the cache's folder come from outside.
package exact
