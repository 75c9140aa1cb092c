package decode

const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaClient       = metaPrefix + "clientInfo"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaLogLevel     = metaPrefix + "logLevel"
	metaServer       = metaPrefix + "serverInfo"
	metaSubscription = metaPrefix + "subscriptionId"
	metaRelatedTask  = metaPrefix + "related-task"
)

// meta are the members of _meta that join or describe messages.
type meta struct {
	token, version, client, capabilities, logLevel, server, subscription, task span
}

func lookMeta(b []byte, in span) (m meta) {
	if !in.there() || !isObject(b, in) {
		return m
	}
	for w := walk(b, in); w.next(); {
		switch string(w.name()) {
		case "progressToken":
			m.token = w.value
		case metaVersion:
			m.version = w.value
		case metaClient:
			m.client = w.value
		case metaCapabilities:
			m.capabilities = w.value
		case metaLogLevel:
			m.logLevel = w.value
		case metaServer:
			m.server = w.value
		case metaSubscription:
			m.subscription = w.value
		case metaRelatedTask:
			m.task = member(b, w.value, "taskId")
		}
	}
	return m
}

// params are the members of a request's or notification's params that matter to
// more than one message.
type params struct {
	meta meta

	name, uri, arguments, cursor span
	state, responses             span // multi-round-trip: requestState, inputResponses
	task, taskID                 span
	version, client              span // initialize
	requestID, token             span // cancelled, progress
	elicitation                  span
}

func lookParams(b []byte, in span) (p params) {
	if !in.there() || !isObject(b, in) {
		return p
	}
	for w := walk(b, in); w.next(); {
		if at := p.place(string(w.name())); at != nil {
			*at = w.value
		} else if string(w.name()) == "_meta" {
			p.meta = lookMeta(b, w.value)
		}
	}
	return p
}

func (p *params) place(name string) *span {
	switch name {
	case "name":
		return &p.name
	case "uri":
		return &p.uri
	case "arguments":
		return &p.arguments
	case "cursor":
		return &p.cursor
	case "requestState":
		return &p.state
	case "inputResponses":
		return &p.responses
	case "task":
		return &p.task
	case "taskId":
		return &p.taskID
	case "protocolVersion":
		return &p.version
	case "clientInfo":
		return &p.client
	case "requestId":
		return &p.requestID
	case "progressToken":
		return &p.token
	case "elicitationId":
		return &p.elicitation
	}
	return nil
}

// result are the members of a result that matter to more than one message.
type result struct {
	meta meta

	kind, isError, content, structured span
	state, requests                    span // multi-round-trip: requestState, inputRequests
	next                               span // nextCursor
	task, taskID, status               span
	version, server, versions          span // initialize, server/discover
}

func lookResult(b []byte, in span) (r result) {
	if !in.there() || !isObject(b, in) {
		return r
	}
	for w := walk(b, in); w.next(); {
		if at := r.place(string(w.name())); at != nil {
			*at = w.value
		} else if string(w.name()) == "_meta" {
			r.meta = lookMeta(b, w.value)
		}
	}
	return r
}

func (r *result) place(name string) *span {
	switch name {
	case "resultType":
		return &r.kind
	case "isError":
		return &r.isError
	case "content":
		return &r.content
	case "structuredContent":
		return &r.structured
	case "requestState":
		return &r.state
	case "inputRequests":
		return &r.requests
	case "nextCursor":
		return &r.next
	case "task":
		return &r.task
	case "taskId":
		return &r.taskID
	case "status":
		return &r.status
	case "protocolVersion":
		return &r.version
	case "serverInfo":
		return &r.server
	case "supportedVersions":
		return &r.versions
	}
	return nil
}
