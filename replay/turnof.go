package replay

// CallTurns tells of which turn, counted from 1, each call of a session is, by the call's
// index: those of the model, with the legs that belong to them and with what the server
// asked meanwhile. Calls that are of none are not in it.
func (t *Timeline) CallTurns(session int) map[int]int {
	of := map[int]int{}
	s := t.Sessions[session]
	for i := range t.Turns {
		for _, c := range t.Turns[i].Calls {
			if t.Calls[c].Session != session {
				continue
			}
			for _, leg := range s.Operation(t.Calls[c].Index).Legs {
				of[leg.Call] = i + 1
			}
		}
	}
	for c := range s.Calls() { // a parent comes before what is asked in it
		if parent := s.Call(c).Parent; parent >= 0 && of[parent] > 0 {
			of[c] = of[parent]
		}
	}
	return of
}

// TurnOf gives the turn of a call as CallTurns does, 0 for one that is of none. It works
// that out when it is first asked, and anew when the session has grown since.
func TurnOf(s *Session) func(call int) int {
	var line *Timeline
	var of map[int]int
	known := -1
	return func(call int) int {
		if n := s.Len(); n != known {
			if line == nil {
				line = New(Options{}, s)
			} else {
				line.Refresh()
			}
			of, known = line.CallTurns(0), n
		}
		return of[call]
	}
}
