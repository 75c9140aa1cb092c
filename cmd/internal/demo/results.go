package demo

import "encoding/json"

// result is the payload of a response. seal adds what 2026-07-28 wants beside
// the payload; a result that is not sealed is a legacy one.
type result interface{ seal(method string) }

// envelope holds the members that every modern result has and no legacy one. It
// stands last in each result, so that both eras share the bytes before it.
type envelope struct {
	ResultType string      `json:"resultType,omitempty"`
	TTLMs      *int        `json:"ttlMs,omitempty"`
	CacheScope string      `json:"cacheScope,omitempty"`
	Meta       *resultMeta `json:"_meta,omitempty"`
}

type resultMeta struct {
	ServerInfo     *implementation `json:"io.modelcontextprotocol/serverInfo,omitempty"`
	SubscriptionID json.RawMessage `json:"io.modelcontextprotocol/subscriptionId,omitempty"`
}

// cacheable are the methods whose results must say how long they stay fresh.
var cacheable = map[string]bool{
	"server/discover":          true,
	"tools/list":               true,
	"prompts/list":             true,
	"resources/list":           true,
	"resources/templates/list": true,
	"resources/read":           true,
}

func (e *envelope) seal(method string) {
	e.ResultType = "complete"
	e.Meta = &resultMeta{ServerInfo: &serverInfo}
	if cacheable[method] {
		e.TTLMs, e.CacheScope = new(int), "private"
	}
}

// capabilities says false where it could leave a member out: that is what the
// Python SDK sends, and the session is measured against one of its sessions.
type capabilities struct {
	Prompts   changing  `json:"prompts"`
	Resources watchable `json:"resources"`
	Tools     changing  `json:"tools"`
}

type changing struct {
	ListChanged bool `json:"listChanged"`
}

type watchable struct {
	Subscribe   bool `json:"subscribe"`
	ListChanged bool `json:"listChanged"`
}

// capabilitiesWith declares notifications or not. Only the modern era has them
// here, through subscriptions/listen: to a legacy client this server declares no
// subscriptions, and refuses them.
func capabilitiesWith(notifications bool) capabilities {
	list := changing{ListChanged: notifications}
	return capabilities{
		Prompts:   list,
		Resources: watchable{Subscribe: notifications, ListChanged: notifications},
		Tools:     list,
	}
}

type emptyResult struct{ envelope }

type initializeResult struct {
	ProtocolVersion string         `json:"protocolVersion"`
	Capabilities    capabilities   `json:"capabilities"`
	ServerInfo      implementation `json:"serverInfo"`
	Instructions    string         `json:"instructions"`
	envelope
}

type discoverResult struct {
	SupportedVersions []string     `json:"supportedVersions"`
	Capabilities      capabilities `json:"capabilities"`
	Instructions      string       `json:"instructions"`
	envelope
}

type toolsResult struct {
	Tools []tool `json:"tools"`
	envelope
}

type callToolResult struct {
	Content           []textContent `json:"content"`
	StructuredContent any           `json:"structuredContent,omitempty"`
	IsError           bool          `json:"isError"`
	envelope
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func text(s string) textContent { return textContent{Type: "text", Text: s} }

type resourcesResult struct {
	Resources []struct{} `json:"resources"`
	envelope
}

type templatesResult struct {
	ResourceTemplates []resourceTemplate `json:"resourceTemplates"`
	envelope
}

type resourceTemplate struct {
	Name        string `json:"name"`
	URITemplate string `json:"uriTemplate"`
	Description string `json:"description"`
	MIMEType    string `json:"mimeType"`
}

type readResult struct {
	Contents []resourceContents `json:"contents"`
	envelope
}

type resourceContents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
}

type promptsResult struct {
	Prompts []prompt `json:"prompts"`
	envelope
}

type prompt struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Arguments   []promptArgument `json:"arguments"`
}

type promptArgument struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
}

type promptResult struct {
	Description string          `json:"description"`
	Messages    []promptMessage `json:"messages"`
	envelope
}

type promptMessage struct {
	Role    string      `json:"role"`
	Content textContent `json:"content"`
}
