package claude

// Compose gives the name of a tool by this host's rule, where the server is the only
// one that it has.
func (h *Profile) Compose(server, tool string) Name {
	return h.compose(h.serverParts([]string{server})[0], tool)
}

// NameOf gives the name of the tool that a call of the timeline calls.
func (b *Book) NameOf(call int) Name {
	c := &b.line.Calls[call]
	return b.name(c.Session, c.Tool)
}

// MaxTokens is what the requests name as the longest answer: the profiles' default.
func (b *Book) MaxTokens() int { return b.profile.defaults.MaxTokens }
