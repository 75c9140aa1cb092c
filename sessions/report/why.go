package report

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
)

// Bytes sums up an operation's bytes on the wire, by direction.
func Bytes(s *decode.Session, o *decode.Operation) (c2s, s2c int64) {
	for _, leg := range o.Legs {
		for _, i := range leg.Frames {
			f := s.Frame(i)
			if f.Dir == tap.C2S {
				c2s += f.Size
			} else {
				s2c += f.Size
			}
		}
	}
	return c2s, s2c
}

// Why says what an outcome rests on, the server's own words first: text from the outside,
// of decode.MaxReason characters at most and as many lines as it has. Whoever has less
// room cuts it.
func Why(l *sessions.Loaded, o *decode.Operation) string {
	frame, words := Reason(l, o)
	if frame < 0 {
		return words(nil)
	}
	return words(l.Body(frame))
}

// Reason is Why for a session that is read on meanwhile: words needs the body of a frame,
// which may be long, and nothing of the session. The frame is -1 if it needs none.
func Reason(l *sessions.Loaded, o *decode.Operation) (frame int, words func(body []byte) string) {
	last := l.Call(o.Legs[len(o.Legs)-1].Call)
	frame, say := reason(l, o, &last)
	end := remark(l, &last)
	return frame, func(body []byte) string {
		return decode.Shorten(strings.TrimSpace(say(body)+end), decode.MaxReason)
	}
}

// remark is what was wrong with an exchange whose answer was recorded nevertheless:
// its client may not have taken it.
func remark(l *sessions.Loaded, c *decode.Call) string {
	if c.Exchange < 0 || c.Response < 0 || l.Frame(c.Response).Exchange != c.Exchange {
		return ""
	}
	if x := l.Exchange(c.Exchange); x.Error != "" && !x.Stream {
		return " [" + x.Error + "]"
	}
	return ""
}

func reason(l *sessions.Loaded, o *decode.Operation, last *decode.Call) (frame int, say func(body []byte) string) {
	switch {
	case o.Outcome == decode.ProtocolError, o.Outcome == decode.RefusedProbe && last.HasError():
		code, revision, end := last.Code, last.Revision, status(l, last)
		return last.Response, func(body []byte) string {
			if e, ok := decode.DescribeError(body, revision); ok {
				return ErrorWords(e) + end
			}
			return fmt.Sprint(code) + end
		}
	case o.Outcome == decode.HiddenError:
		hint := last.Hidden.Reason
		return last.Response, func(body []byte) string { return said(decode.FailureText(body)) + "reads as a success; " + hint }
	case o.Outcome == decode.ToolError:
		return last.Response, decode.ResultText
	}
	known := o.Why
	if known == "" {
		known = last.Why
	}
	return -1, func([]byte) string { return known }
}

// said leads with the payload's own words, if it has any.
func said(words string) string {
	if words == "" {
		return ""
	}
	return strconv.Quote(strings.Join(strings.Fields(words), " ")) + "; "
}

// status is the HTTP status that an answer came with, if it says more than the answer.
func status(l *sessions.Loaded, c *decode.Call) string {
	if c.Exchange < 0 {
		return ""
	}
	if x := l.Exchange(c.Exchange); x.Status != 0 && x.Status != http.StatusOK && !x.Old {
		return " [HTTP " + strconv.Itoa(x.Status) + "]"
	}
	return ""
}

// ErrorWords is an error in words: what the server says of it, then its code and what that
// means, as far as the server does not say so itself.
func ErrorWords(e decode.ErrorInfo) string {
	said := strings.ToLower(e.Message)
	var notes []string
	if code := fmt.Sprint(e.Code); !strings.Contains(said, code) {
		notes = append(notes, code)
	}
	if name := e.Name.Name; name != "" && !strings.Contains(said, strings.ToLower(name)) {
		notes = append(notes, name)
	}
	note := strings.Join(notes, " ")
	switch {
	case e.Detail != "" && note != "":
		note += "; " + e.Detail
	case e.Detail != "":
		note = e.Detail
	}
	switch {
	case note == "":
		return e.Message
	case e.Message == "":
		return note
	}
	return e.Message + " (" + note + ")"
}

// Excerpt is the beginning of a text, as much as fits a row.
func Excerpt(s string) string {
	return decode.Shorten(s, 100)
}

// OperationOf gives the operation that a call leads. What a server asks while it
// works on a call belongs to that call's operation; here it counts for itself.
func OperationOf(s *decode.Session, i int) decode.Operation {
	if s.Leads(i) {
		return s.Operation(i)
	}
	c := s.Call(i)
	frames := []int{c.Request}
	if c.Response >= 0 {
		frames = append(frames, c.Response)
	}
	return decode.Operation{Dir: c.Dir, Method: c.Method, Name: c.Name, Outcome: c.Outcome, Start: c.Start, End: c.End,
		Legs: []decode.Leg{{Call: i, Role: "request", Frames: frames}}}
}
