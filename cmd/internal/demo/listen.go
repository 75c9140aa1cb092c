package demo

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// listen is an open subscriptions/listen request. Its id is the subscription id.
type listen struct {
	id     json.RawMessage
	filter filter
}

// filter names the notifications that a client asks for, and the part of them
// that the server promises.
type filter struct {
	ToolsListChanged      bool     `json:"toolsListChanged,omitempty"`
	PromptsListChanged    bool     `json:"promptsListChanged,omitempty"`
	ResourcesListChanged  bool     `json:"resourcesListChanged,omitempty"`
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitempty"`
}

func (f filter) empty() bool {
	lists := f.ToolsListChanged || f.PromptsListChanged || f.ResourcesListChanged
	return !lists && len(f.ResourceSubscriptions) == 0
}

// streamParams are the params of a notification on a listen stream.
type streamParams struct {
	URI           string     `json:"uri,omitempty"`
	Notifications *filter    `json:"notifications,omitempty"`
	Meta          resultMeta `json:"_meta"`
}

// listenResult ends a listen; its envelope holds the subscription id.
type listenResult struct{ envelope }

// seal keeps to what the closing result may hold: the subscription id alone.
func (r *listenResult) seal(string) { r.ResultType = "complete" }

// listen opens a subscription. The lists of this server never change, so their
// notifications are promised and never due; updates of tickets are real.
func (s *server) listen(c call) (result, *rpcError) {
	var asked filter
	if _, ok := c.params.object("notifications"); !ok || json.Unmarshal(c.params["notifications"], &asked) != nil {
		return nil, fail(codeInvalidParams, "Invalid params: notifications is not a filter")
	}
	if s.listenIndex(c.id) >= 0 {
		return nil, fail(codeInvalidRequest, "Invalid Request: id is in use")
	}
	asked.ResourceSubscriptions = slices.DeleteFunc(asked.ResourceSubscriptions, func(uri string) bool {
		return !strings.HasPrefix(uri, ticketScheme)
	})
	s.notify(c.id, "notifications/subscriptions/acknowledged", streamParams{Notifications: &asked})
	if asked.empty() {
		return &listenResult{envelope{Meta: &resultMeta{SubscriptionID: c.id}}}, nil
	}
	s.listens = append(s.listens, listen{c.id, asked})
	return nil, nil
}

func (s *server) listenIndex(id json.RawMessage) int {
	return slices.IndexFunc(s.listens, func(l listen) bool { return bytes.Equal(l.id, id) })
}

// endListen ends a subscription that the client cancelled, without an answer, as
// for every cancelled request. Other ids belong to requests long answered.
func (s *server) endListen(id json.RawMessage) {
	if i := s.listenIndex(id); i >= 0 {
		s.listens = slices.Delete(s.listens, i, i+1)
	}
}

func (s *server) resourceUpdated(uri string) {
	for _, l := range s.listens {
		if slices.Contains(l.filter.ResourceSubscriptions, uri) {
			s.notify(l.id, "notifications/resources/updated", streamParams{URI: uri})
		}
	}
}

func (s *server) notify(subscription json.RawMessage, method string, params streamParams) {
	params.Meta = resultMeta{SubscriptionID: subscription}
	s.send(notification{JSONRPC: "2.0", Method: method, Params: params})
}
