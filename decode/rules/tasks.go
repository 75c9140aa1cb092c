package rules

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/tap"
)

func init() { tables = append(tables, taskRules) }

var taskRules = []Rule{
	{ID: "TASK-01", Severity: Error, Side: Either, Span: only25c, Page: "basic/utilities/tasks",
		Title: "a task is created only for a request that asked for one",
		Words: "$1 did not ask for a task, and was answered with one", check: checkTaskUnasked},
	{ID: "TASK-02", Severity: Error, Side: Server, Span: Modern, Page: "ext-tasks",
		Title: "a task answers only tools/call, and only where the request declared the extension",
		Words: "$1 was answered with a task, and $2", check: checkTaskUndeclared},
	{ID: "TASK-03", Severity: Error, Side: Either, Span: From25c, Page: "basic/utilities/tasks",
		Title: "the status of a task changes in legal ways, and a final one is final",
		Words: "the task of $1 went from $2 to $3", check: checkTaskStates},
	{ID: "TASK-04", Severity: Error, Side: Either, Span: only25c, Page: "basic/utilities/tasks",
		Title: "a task starts as working",
		Words: "the task of $1 started as $2", check: checkTaskStart},
	{ID: "TASK-05", Severity: Error, Side: Either, Span: From25c, Page: "basic/utilities/tasks",
		Title: "a task has createdAt and lastUpdatedAt, in ISO 8601, and a ttl",
		Words: "a task has $1", check: checkTaskForm},
	{ID: "TASK-06", Severity: Error, Side: Server, Span: Modern, Page: "ext-tasks",
		Title: "a task brings what its status promises: result, error or inputRequests, and nothing else",
		Words: "a task is $1 and has $2", check: checkTaskPayload},
	{ID: "TASK-07", Severity: Warning, Side: Either, Span: From25c, Page: "basic/utilities/tasks",
		Title: "a task is not polled faster than its poll interval",
		Words: "the task of $1 was polled after $2; its poll interval is $3", check: checkTaskPolling},
	{ID: "TASK-08", Severity: Error, Side: Either, Span: only25c, Page: "basic/utilities/tasks",
		Title: "the answer to tasks/result names its task in _meta",
		Words: "a tasks/result answer without related-task in _meta", check: checkRelatedTask},
	{ID: "TASK-09", Severity: Error, Side: Either, Span: only25c, Page: "basic/utilities/tasks",
		Title: "cancelling a task that is over gives the error -32602",
		Words: "tasks/cancel for the task of $1, which was over, gave $2, not the error -32602", check: checkTaskCancelOver},
	{ID: "TASK-10", Severity: Warning, Side: Client, Span: only25c, Whole: true,
		Title: "the result of a task is collected",
		Words: "the task of $1 is $2, and nobody asked for its result", check: checkTaskCollected},
	{ID: "TASK-11", Severity: Error, Side: Client, Span: Modern, Page: "ext-tasks", Whole: true,
		Title: "tasks/update answers only what was asked",
		Words: "tasks/update for the task of $1 answers $2, which was not asked", check: checkTaskAnswers},
}

const (
	relatedTask   = `_meta.io\.modelcontextprotocol/related-task`
	taskExtension = `_meta.io\.modelcontextprotocol/clientCapabilities.extensions.io\.modelcontextprotocol/tasks`
)

var finalStates = []string{"completed", "failed", "cancelled"}

var taskStates = append([]string{"working", "input_required"}, finalStates...)

// taskEnd is when a task is known to have ended, -1 if that is not known.
func taskEnd(states []decode.TaskStatus) time.Duration {
	i := slices.IndexFunc(states, func(s decode.TaskStatus) bool { return slices.Contains(finalStates, s.Status) })
	if i < 0 {
		return -1
	}
	return states[i].At
}

// tasks visits the calls that made a task, with all that followed. Of several in
// one operation, as when a question is answered twice, the first stands for all.
func (p *pass) tasks(r *Rule, visit func(*decode.Call, *decode.Operation)) {
	seen := map[int]bool{}
	p.calls(r, func(c *decode.Call) {
		if !c.MadeTask || c.Response < 0 || seen[c.Index] {
			return
		}
		o := p.Operation(c.Index)
		for _, l := range o.Legs {
			seen[l.Call] = true
		}
		visit(c, &o)
	})
}

func checkTaskUnasked(p *pass, r *Rule) {
	p.calls(r, func(c *decode.Call) {
		switch c.Method {
		case "tools/call", "sampling/createMessage", "elicitation/create":
		default:
			return
		}
		if c.WantsTask || c.Response < 0 {
			return
		}
		if result := p.result(c); result.Get("task.taskId").Exists() && !result.Get("content").Exists() {
			p.report(r, c.Response, c.Index, subject(c))
		}
	})
}

func checkTaskUndeclared(p *pass, r *Rule) {
	p.tasks(r, func(c *decode.Call, _ *decode.Operation) {
		params := p.params(c)
		switch {
		case c.Method != "tools/call":
			p.report(r, c.Response, c.Index, subject(c), "only tools/call may be")
		case params.Exists() && !params.Get(taskExtension).Exists():
			p.report(r, c.Response, c.Index, subject(c), "had not declared the extension")
		}
	})
}

func checkTaskStates(p *pass, r *Rule) {
	p.tasks(r, func(c *decode.Call, o *decode.Operation) {
		for i := 1; i < len(o.Task); i++ {
			from, to := o.Task[i-1].Status, o.Task[i].Status
			if slices.Contains(finalStates, from) && slices.Contains(taskStates, to) {
				p.report(r, p.frameAt(o, o.Task[i].At), c.Index, subject(c), from, to)
			}
		}
	})
}

// frameAt is the frame of an operation that crossed at that time, else its last.
func (p *pass) frameAt(o *decode.Operation, at time.Duration) int {
	last := -1
	for _, l := range o.Legs {
		for _, f := range l.Frames {
			if p.Frame(f).Time == at {
				return f
			}
			last = max(last, f)
		}
	}
	return last
}

func checkTaskStart(p *pass, r *Rule) {
	p.tasks(r, func(c *decode.Call, _ *decode.Operation) {
		status := p.result(c).Get("task.status")
		if status.Exists() && status.String() != "working" {
			p.report(r, c.Response, c.Index, subject(c), brief(status.String()))
		}
	})
}

// taskBodies visits every description of a task, wherever it travels.
func (p *pass) taskBodies(r *Rule, visit func(frame, call int, task gjson.Result)) {
	p.calls(r, func(c *decode.Call) {
		switch {
		case c.Response < 0 || c.HasError():
		case c.MadeTask:
			result := p.result(c)
			if nested := result.Get("task"); nested.IsObject() {
				result = nested
			}
			visit(c.Response, c.Index, result)
		case c.Method == "tasks/get", c.Method == "tasks/cancel" && c.Era == decode.Legacy:
			visit(c.Response, c.Index, p.result(c))
		case c.Method == "tasks/list":
			for _, t := range p.result(c).Get("tasks").Array() {
				visit(c.Response, c.Index, t)
			}
		}
	})
	for _, method := range []string{"notifications/tasks", "notifications/tasks/status"} {
		p.notifications(r, method, func(f *decode.Frame, params gjson.Result) { visit(f.Index, f.Call, params) })
	}
}

func checkTaskForm(p *pass, r *Rule) {
	p.taskBodies(r, func(frame, call int, task gjson.Result) {
		if !task.IsObject() {
			return
		}
		for _, m := range []string{"createdAt", "lastUpdatedAt"} {
			if at := task.Get(m); at.Type != gjson.String || !isTime(at.String()) {
				p.report(r, frame, call, "no "+m+" in ISO 8601")
			}
		}
		ttl := "ttl"
		if f := p.Frame(frame); Modern.Has(p.revision(&f)) {
			ttl = "ttlMs"
		}
		if !task.Get(ttl).Exists() {
			p.report(r, frame, call, "no "+ttl)
		}
	})
}

// timeForms are the forms of ISO 8601 that people write.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05.999999999-0700", "20060102T150405Z07:00"}

func isTime(s string) bool {
	for _, form := range timeForms {
		if _, err := time.Parse(form, s); err == nil {
			return true
		}
	}
	return false
}

// promised is what each status of a task brings along (ext-tasks).
var promised = []struct{ status, member string }{{"completed", "result"}, {"failed", "error"}, {"input_required", "inputRequests"}}

// checkTaskPayload leaves out the answer that creates a task: it tells no more than
// that there is one.
func checkTaskPayload(p *pass, r *Rule) {
	p.taskBodies(r, func(frame, call int, task gjson.Result) {
		if call >= 0 && p.Call(call).MadeTask && p.Call(call).Response == frame || !task.IsObject() {
			return
		}
		status := task.Get("status").String()
		for _, want := range promised {
			switch has := task.Get(want.member).Exists(); {
			case has && status != want.status:
				p.report(r, frame, call, brief(status), "a member "+want.member)
			case !has && status == want.status:
				p.report(r, frame, call, brief(status), "no member "+want.member)
			}
		}
	})
}

// eager is the part of a poll interval that is long enough: timers are not exact.
const eager = 0.9

func checkTaskPolling(p *pass, r *Rule) {
	p.tasks(r, func(c *decode.Call, o *decode.Operation) {
		last := c.Start
		interval := p.pollInterval(c, 0)
		for _, l := range o.Legs[1:] {
			poll := p.Call(l.Call)
			if poll.Method != "tasks/get" {
				continue
			}
			if since := poll.Start - last; interval > 0 && since < time.Duration(eager*float64(interval)) {
				p.report(r, poll.Request, poll.Index, subject(c), since.Round(time.Millisecond).String(), interval.String())
			}
			last, interval = poll.Start, p.pollInterval(&poll, interval)
		}
	})
}

// pollInterval is what the answer to a call asks for, else what was asked for
// before.
func (p *pass) pollInterval(c *decode.Call, before time.Duration) time.Duration {
	if c.Response < 0 {
		return before
	}
	result := p.result(c)
	for _, path := range []string{"task.pollInterval", "pollInterval", "pollIntervalMs"} {
		if v := result.Get(path); v.Type == gjson.Number && v.Num > 0 && v.Num < 1e9 {
			return time.Duration(v.Num * float64(time.Millisecond))
		}
	}
	return before
}

func checkRelatedTask(p *pass, r *Rule) {
	p.calls(r, func(c *decode.Call) {
		if c.Method != "tasks/result" || c.Response < 0 || c.HasError() {
			return
		}
		if result := p.result(c); result.IsObject() && !result.Get(relatedTask).Exists() {
			p.report(r, c.Response, c.Index)
		}
	})
}

func checkTaskCancelOver(p *pass, r *Rule) {
	p.tasks(r, func(c *decode.Call, o *decode.Operation) {
		end := taskEnd(o.Task)
		for _, l := range o.Legs[1:] {
			leg := p.Call(l.Call)
			if leg.Method != "tasks/cancel" || leg.Response < 0 || end < 0 || leg.Start <= end {
				continue
			}
			switch {
			case leg.HasError() && leg.Code != -32602:
				p.report(r, leg.Response, leg.Index, subject(c), "the error "+itoa(leg.Code))
			case leg.Outcome == decode.OK:
				p.report(r, leg.Response, leg.Index, subject(c), "a result")
			}
		}
	})
}

// checkTaskCollected waits for the end of the session: until then the client may
// yet ask.
func checkTaskCollected(p *pass, r *Rule) {
	if !p.Gaps().Ended {
		return
	}
	p.tasks(r, func(c *decode.Call, o *decode.Operation) {
		if c.Dir != tap.C2S || taskEnd(o.Task) < 0 {
			return
		}
		status := o.Task[len(o.Task)-1].Status
		asked := slices.ContainsFunc(o.Legs, func(l decode.Leg) bool { return p.Call(l.Call).Method == "tasks/result" })
		if !asked && status != "cancelled" {
			p.report(r, c.Response, c.Index, subject(c), brief(status))
		}
	})
}

// checkTaskAnswers counts a key as asked once any description of the task had it.
func checkTaskAnswers(p *pass, r *Rule) {
	p.tasks(r, func(c *decode.Call, o *decode.Operation) {
		asked := map[string]bool{}
		for _, l := range o.Legs {
			leg := p.Call(l.Call)
			if leg.Method == "tasks/update" {
				p.checkUpdate(r, c, &leg, asked)
			}
			for _, f := range l.Frames {
				p.collectAsked(f, asked)
			}
		}
	})
}

func (p *pass) collectAsked(frame int, asked map[string]bool) {
	body := p.json(frame)
	for _, path := range []string{"result.inputRequests", "params.inputRequests"} {
		body.Get(path).ForEach(func(key, _ gjson.Result) bool {
			asked[key.String()] = true
			return true
		})
	}
}

func (p *pass) checkUpdate(r *Rule, c, update *decode.Call, asked map[string]bool) {
	p.params(update).Get("inputResponses").ForEach(func(key, _ gjson.Result) bool {
		if !asked[key.String()] {
			p.report(r, update.Request, update.Index, subject(c), brief(key.String()))
		}
		return true
	})
}
