package stdio

// withoutPath is a matter of Unix systems.
func withoutPath() ([]string, bool) { return nil, false }
