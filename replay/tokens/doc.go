// Package tokens says how many tokens a text is for a Claude model, without a
// network and without a vocabulary, and what a token costs.
//
// Anthropic publishes no tokenizer, so everything here is an estimate, and a
// [Count] says so wherever it is printed: with a ~, a range, and on request the
// reason for both. Exact figures come from elsewhere (a recorded usage, the
// count_tokens endpoint) and keep that mark; a sum of both is marked as mixed.
//
// The estimator cuts a text into runs of one kind (words, capitals, digits,
// punctuation, line ends, spaces, other letters) and weighs them by kind. There
// are two families of tokenizers, and each has its weights. Weights, models,
// preambles, cache minima, windows and prices are one dated file, models.json,
// which [Load] can replace. What is doubtful in it says so, with its source.
//
// The package is pure: it opens no file and knows no clock.
package tokens
