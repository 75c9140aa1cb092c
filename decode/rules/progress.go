package rules

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, progressRules) }

var progressRules = []Rule{
	{ID: "PROG-01", Severity: Error, Side: Either, Span: All, Page: "basic/utilities/progress", Whole: true,
		Title: "the token of a progress notification was given in a request of the other side",
		Words: "$1 for the token $2, which no request gave", check: checkProgressToken},
	{ID: "PROG-02", Severity: Error, Side: Either, Span: All, Page: "basic/utilities/progress",
		Title: "progress grows with every notification",
		Words: "progress of $1 did not grow: $2 after $3", check: checkProgressGrows},
	{ID: "PROG-03", Severity: Error, Side: Either, Span: All, Page: "basic/utilities/progress",
		Title: "no progress comes after the response, or after a task has ended",
		Words: "progress of $1 came after it had ended", check: checkProgressLate},
	{ID: "PROG-04", Severity: Error, Side: Either, Span: All, Page: "basic/utilities/progress", Whole: true,
		Title: "progress tokens in use are unique, and strings or integers",
		Words: "progress token $2 $1", check: checkProgressTokens},
	{ID: "PROG-05", Severity: Warning, Side: Either, Span: All,
		Title: "progress is not above its total",
		Words: "progress of $1 is $2 of $3", check: checkProgressTotal},
	{ID: "CANC-01", Severity: Error, Side: Either, Span: All, Page: "basic/utilities/cancellation", Whole: true,
		Title: "a cancellation names a request that its sender made and that is open",
		Words: "a cancellation of request $2, which $1", check: checkCancelled},
	{ID: "CANC-02", Severity: Warning, Side: Either, Span: All, Page: "basic/utilities/cancellation",
		Title: "a cancelled request is not answered",
		Words: "$1 was answered $2 after its cancellation", check: checkLateAnswer},
	{ID: "CANC-03", Severity: Error, Side: Server, Span: Modern, Page: "basic/patterns/cancellation",
		Title: "the server cancels listen requests only",
		Words: "the server sent a cancellation for what is no listen request", check: checkServerCancels},
	{ID: "CANC-05", Severity: Error, Side: Client, Span: only25c, Page: "basic/utilities/cancellation",
		Title: "a task is cancelled with tasks/cancel",
		Words: "$1 runs as a task, and was cancelled with a notification", check: checkTaskCancelled},
	{ID: "CANC-06", Severity: Error, Side: Either, Span: All, Page: "basic/utilities/cancellation",
		Title: "a cancellation has a requestId",
		Words: "a cancellation without a requestId", check: checkCancelID},
	{ID: "LOG-01", Severity: Error, Side: Server, Span: All, Page: "server/utilities/logging",
		Title: "log messages come only from servers that declared logging",
		Words: "log messages from a server that did not declare logging", check: checkLogDeclared},
	{ID: "LOG-02", Severity: Error, Side: Server, Span: All, Page: "server/utilities/logging",
		Title: "a log message has one of the eight levels, and data",
		Words: "a log message with $1", check: checkLogForm},
	{ID: "LOG-03", Severity: Warning, Side: Server, Span: Legacy, Page: "server/utilities/logging", Whole: true,
		Title: "no log message is below the level that the client set",
		Words: "log messages of level $1, below the $2 that was set", check: checkLogLevel},
	{ID: "LOG-04", Severity: Error, Side: Server, Span: Modern, Page: "server/utilities/logging", Whole: true,
		Title: "log messages come only while a request that asked for them is in flight, at its level or above",
		Words: "a log message $1", check: checkLogAsked},
	{ID: "LOG-05", Severity: Warning, Side: Server, Span: All, Page: "server/utilities/logging",
		Title: "log messages hold no credentials",
		Words: "a log message holds what looks like a secret ($1) at $2", check: checkLogSecrets},
}

const (
	progressNote  = "notifications/progress"
	cancelledNote = "notifications/cancelled"
	logNote       = "notifications/message"
)

func checkProgressToken(p *pass, r *Rule) {
	p.notifications(r, progressNote, func(f *decode.Frame, params gjson.Result) {
		if _, elsewhere := p.strayProgress(f, params); !f.Unjoined || elsewhere {
			return
		}
		token := params.Get("progressToken").Raw
		if token == "" {
			token = "(none)"
		}
		p.report(r, f.Index, f.Call, "progress", brief(token))
	})
}

// progress visits the progress notifications that name a call.
func (p *pass) progress(r *Rule, visit func(*decode.Frame, *decode.Call, gjson.Result)) {
	p.notifications(r, progressNote, func(f *decode.Frame, params gjson.Result) {
		if f.Call < 0 {
			return
		}
		c := p.Call(f.Call)
		visit(f, &c, params)
	})
}

func checkProgressGrows(p *pass, r *Rule) {
	last := map[int]gjson.Result{}
	p.progress(r, func(f *decode.Frame, c *decode.Call, params gjson.Result) {
		now := params.Get("progress")
		if now.Type != gjson.Number {
			return
		}
		if before, ok := last[c.Index]; ok && now.Num <= before.Num {
			p.report(r, f.Index, c.Index, subject(c), brief(now.Raw), brief(before.Raw))
		}
		last[c.Index] = now
	})
}

// checkProgressLate knows two ends: the response, and for a call that became a
// task the status that is final.
func checkProgressLate(p *pass, r *Rule) {
	p.calls(r, func(c *decode.Call) {
		if !c.WantsProgress {
			return
		}
		for _, n := range p.Notes(c.Index) {
			if n.Kind == decode.NoteLateProgress {
				p.report(r, n.Frame, c.Index, subject(c))
			}
		}
	})
	p.tasks(r, func(c *decode.Call, o *decode.Operation) {
		over := taskEnd(o.Task)
		for _, n := range p.Notes(c.Index) {
			if n.Kind == decode.NoteProgress && over >= 0 && p.Frame(n.Frame).Time > over {
				p.report(r, n.Frame, c.Index, subject(c))
			}
		}
	})
}

// askedToken is what makes progress tokens one space: who asked, and where.
type askedToken struct {
	scope decode.Scope
	dir   tap.Dir
	token string
}

func checkProgressTokens(p *pass, r *Rule) {
	newest := map[askedToken]int{}
	p.calls(r, func(c *decode.Call) {
		if !c.WantsProgress {
			return
		}
		token := p.params(c).Get("_meta.progressToken")
		if !token.Exists() {
			return
		}
		if !isIDLike(token) {
			p.report(r, c.Request, c.Index, "is neither a string nor an integer", brief(token.Raw))
			return
		}
		key := askedToken{c.Scope, c.Dir, token.Raw}
		if before, ok := newest[key]; ok && p.openAt(before, c.Request) {
			p.report(r, c.Request, c.Index, "is in use by another request", brief(token.Raw))
		}
		newest[key] = c.Index
	})
}

// openAt reports whether a call was still waited for when that frame crossed.
func (p *pass) openAt(call, frame int) bool {
	c := p.Call(call)
	switch {
	case c.Cancelled || c.Outcome == decode.TransportError:
		return false
	case c.MadeTask:
		return false // it is known when a task ends only if somebody asked
	}
	return c.Response < 0 || c.Response > frame
}

// isIDLike reports whether a value is a string or an integer.
func isIDLike(v gjson.Result) bool {
	return v.Type == gjson.String || v.Type == gjson.Number && v.Num == float64(int64(v.Num))
}

func checkProgressTotal(p *pass, r *Rule) {
	p.progress(r, func(f *decode.Frame, c *decode.Call, params gjson.Result) {
		now, total := params.Get("progress"), params.Get("total")
		if now.Type == gjson.Number && total.Type == gjson.Number && now.Num > total.Num {
			p.report(r, f.Index, c.Index, subject(c), brief(now.Raw), brief(total.Raw))
		}
	})
}

// onExchanges reports that ids are scoped by more than the session: a
// cancellation that travels in an exchange of its own can't be joined then.
func (p *pass) onExchanges() bool {
	return p.Calls() > 0 && p.Call(0).Scope != 0
}

// checkCancelled takes a cancellation that crossed with the answer for the race
// that it is.
func checkCancelled(p *pass, r *Rule) {
	p.notifications(r, cancelledNote, func(f *decode.Frame, params gjson.Result) {
		id := params.Get("requestId")
		modern := Modern.Has(p.revision(f))
		if !id.Exists() || modern && (f.Dir == tap.S2C || p.onExchanges()) {
			return
		}
		if f.Unjoined {
			p.report(r, f.Index, f.Call, "its sender did not make", brief(id.Raw))
			return
		}
		if f.Call >= 0 && p.answeredBefore(f.Call, f.Index) {
			p.reportAs(r, Info, f.Index, f.Call, "had its answer already", brief(id.Raw))
		}
	})
}

func (p *pass) answeredBefore(call, frame int) bool {
	c := p.Call(call)
	return c.Response >= 0 && c.Response < frame && !c.MadeTask
}

// race is how long after a cancellation an answer may have been on its way.
const race = 100 * time.Millisecond

// checkLateAnswer leaves out listen streams: their result is the end that the
// subscriptions page asks for.
func checkLateAnswer(p *pass, r *Rule) {
	p.calls(r, func(c *decode.Call) {
		if !c.Late || c.Listen {
			return
		}
		for _, n := range p.Notes(c.Index) {
			if n.Kind != decode.NoteCancel {
				continue
			}
			after := c.End - p.Frame(n.Frame).Time
			severity := r.Severity
			if after < race {
				severity = Info
			}
			p.reportAs(r, severity, c.Response, c.Index, subject(c), after.Round(time.Millisecond).String())
			return
		}
	})
}

func checkServerCancels(p *pass, r *Rule) {
	p.frames(r, func(f *decode.Frame) {
		if f.Method != cancelledNote || f.Dir != tap.S2C || f.Kind != decode.Notification {
			return
		}
		if f.Call < 0 || !p.Call(f.Call).Listen {
			p.report(r, f.Index, f.Call)
		}
	})
}

func checkTaskCancelled(p *pass, r *Rule) {
	p.calls(r, func(c *decode.Call) {
		if !c.MadeTask || c.Dir != tap.C2S {
			return
		}
		for _, n := range p.Notes(c.Index) {
			if n.Kind == decode.NoteCancel || n.Kind == decode.NoteLateCancel {
				p.report(r, n.Frame, c.Index, subject(c))
			}
		}
	})
}

// checkCancelID: the schema of 2025-11-25 made the id optional, for tasks.
func checkCancelID(p *pass, r *Rule) {
	p.notifications(r, cancelledNote, func(f *decode.Frame, params gjson.Result) {
		if only25c.Has(p.revision(f)) && params.Get(relatedTask).Exists() {
			return
		}
		if !params.Get("requestId").Exists() {
			p.report(r, f.Index, f.Call)
		}
	})
}

func checkLogDeclared(p *pass, r *Rule) {
	offers := p.offers()
	p.frames(r, func(f *decode.Frame) {
		if f.Method != logNote || f.Kind != decode.Notification || f.Dir != tap.S2C {
			return
		}
		if can := offers(p.revision(f)); can.Exists() && !can.Get("logging").Exists() {
			p.report(r, f.Index, f.Call)
		}
	})
}

var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// levelOf is the height of a log level, -1 if it is none.
func levelOf(v gjson.Result) int {
	if v.Type != gjson.String {
		return -1
	}
	return slices.Index(logLevels, v.Str)
}

func checkLogForm(p *pass, r *Rule) {
	p.notifications(r, logNote, func(f *decode.Frame, params gjson.Result) {
		level := params.Get("level")
		switch {
		case !level.Exists():
			p.report(r, f.Index, f.Call, "no level")
		case levelOf(level) < 0:
			p.report(r, f.Index, f.Call, "the level "+brief(level.Raw))
		}
		if !params.Get("data").Exists() {
			p.report(r, f.Index, f.Call, "no data")
		}
	})
}

// checkLogLevel goes by what the server had agreed to when it sent a message.
func checkLogLevel(p *pass, r *Rule) {
	set := -1
	p.frames(r, func(f *decode.Frame) {
		switch {
		case f.Kind == decode.Result && f.Call >= 0:
			if c := p.Call(f.Call); c.Method == "logging/setLevel" {
				set = levelOf(p.params(&c).Get("level"))
			}
		case f.Kind == decode.Notification && f.Method == logNote && set > 0:
			if is := levelOf(p.json(f.Index).Get("params.level")); is >= 0 && is < set {
				p.report(r, f.Index, f.Call, logLevels[is], logLevels[set])
			}
		}
	})
}

const logLevelKey = `_meta.io\.modelcontextprotocol/logLevel`

// logWishes counts the open requests that asked for log messages, by level.
type logWishes struct {
	open  map[int]int // call -> level
	level [8]int
}

func (w *logWishes) ask(call, level int) {
	w.open[call] = level
	w.level[level]++
}

func (w *logWishes) answer(call int) {
	if level, ok := w.open[call]; ok {
		w.level[level]--
		delete(w.open, call)
	}
}

// lowest is the lowest level that is asked for, -1 if none is.
func (w *logWishes) lowest() int {
	return slices.IndexFunc(w.level[:], func(n int) bool { return n > 0 })
}

// checkLogAsked holds a message against all requests in flight, since on stdio
// nothing says which of them it belongs to.
func checkLogAsked(p *pass, r *Rule) {
	wishes := logWishes{open: map[int]int{}}
	p.frames(r, func(f *decode.Frame) {
		switch {
		case f.Kind == decode.Request:
			if c := p.Call(f.Call); c.WantsLogs {
				wishes.ask(c.Index, max(0, levelOf(p.params(&c).Get(logLevelKey))))
			}
		case f.Kind == decode.Result || f.Kind == decode.Error:
			wishes.answer(f.Call)
		case f.Kind == decode.Notification && f.Method == logNote:
			p.checkWish(r, f, wishes.lowest())
		}
	})
}

func (p *pass) checkWish(r *Rule, f *decode.Frame, lowest int) {
	if lowest < 0 {
		p.report(r, f.Index, f.Call, "while no request that asked for any was in flight")
		return
	}
	if is := levelOf(p.json(f.Index).Get("params.level")); is >= 0 && is < lowest {
		p.report(r, f.Index, f.Call, "below the level that was asked for")
	}
}

func checkLogSecrets(p *pass, r *Rule) {
	p.notifications(r, logNote, func(f *decode.Frame, params gjson.Result) {
		for _, s := range secretsIn(params.Get("data"), "data") {
			p.report(r, f.Index, f.Call, s.kind, s.path)
		}
	})
}
