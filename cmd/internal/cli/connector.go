package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/replay"
	"github.com/mcptap/mcptap/replay/connector"
	"github.com/mcptap/mcptap/replay/ledger"
	"github.com/mcptap/mcptap/sessions"
)

// connectorOptions are the flags of request --connector.
type connectorOptions struct {
	on   bool
	pin  bool
	urls []string
}

func (o *connectorOptions) add(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.on, "connector", false, "the same as a request that lets the API speak to the servers itself (its MCP connector)")
	f.StringSliceVar(&o.urls, "url", nil, "with --connector: https address of the server; once for each SESSION (default: as recorded)")
	f.BoolVar(&o.pin, "pin", false, "with --connector: the recorded list of tools goes into the request")
}

// printConnector prints sessions as a request to the API's MCP connector.
func (a *app) printConnector(r *reading, o *requestOptions) error {
	var servers []connector.Server
	for i, s := range r.line.Sessions {
		if r.line.IsProbe(i) {
			continue
		}
		c := connector.Server{Label: s.Name, URL: addressOf(r.loaded[i]), Authorized: authorized(r.loaded[i])}
		if i < len(o.connector.urls) {
			c.URL = o.connector.urls[i]
		}
		if c.URL == "" {
			return fmt.Errorf("the recording of %s names no address, and the connector reaches servers on https only; --url says where it is", s.Name)
		}
		servers = append(servers, c)
	}
	fillTools(servers, r)
	fillCalls(servers, r)
	q, err := connector.Build(servers, connector.Options{Model: r.book.Model(), MaxTokens: r.book.MaxTokens(), Pin: o.connector.pin})
	if err != nil {
		return fmt.Errorf("%w; --url says where else it is", err)
	}
	a.say("header anthropic-beta: %s; shapes as of %s", q.Beta, connector.Date())
	for _, n := range q.Notes {
		a.say("%s", strings.TrimSpace(n.Path+" "+n.Text))
	}
	out := &jsonOut{Writer: bufio.NewWriterSize(a.Stdout, 64<<10), terminal: isTerminal(a.Stdout)}
	out.raw(q.Body, true)
	return out.Flush()
}

func addressOf(l *sessions.Loaded) string {
	if l.Header == nil {
		return ""
	}
	return l.Header.URL
}

// authorized reports whether requests carried credentials.
func authorized(l *sessions.Loaded) bool {
	s, err := sessions.Open(l.Path())
	if err != nil {
		return false // read from standard input
	}
	defer s.Close()
	for {
		rec, err := s.Next()
		if err != nil {
			return false
		}
		if rec.HTTP != nil && slices.ContainsFunc(rec.HTTP.Headers, isAuthorization) {
			return true
		}
	}
}

func isAuthorization(h [2]string) bool { return strings.EqualFold(h[0], "authorization") }

func serverAt(servers []connector.Server, r *reading, session int) *connector.Server {
	for i := range servers {
		if servers[i].Label == r.line.Sessions[session].Name {
			return &servers[i]
		}
	}
	return nil
}

func fillTools(servers []connector.Server, r *reading) {
	all, _ := ledger.Catalogue(r.book)
	for _, d := range all {
		if s := serverAt(servers, r, d.Session); s != nil {
			def := gjson.ParseBytes(d.Raw)
			s.Tools = append(s.Tools, connector.Tool{Name: d.Bare, Description: def.Get("description").String(), Schema: []byte(def.Get("inputSchema").Raw)})
		}
	}
}

// fillCalls takes the calls as they crossed: what a host made of them is not the
// connector's.
func fillCalls(servers []connector.Server, r *reading) {
	for i := range r.line.Calls {
		c := &r.line.Calls[i]
		s := serverAt(servers, r, c.Session)
		if s == nil {
			continue
		}
		asked := r.loaded[c.Session].Body(c.Request.Frame)
		call := connector.Call{Order: i, Tool: c.Tool, Arguments: []byte(gjson.GetBytes(asked, "params.arguments").Raw)}
		fillAnswer(&call, r.line, c, r.loaded[c.Session])
		s.Calls = append(s.Calls, call)
	}
}

func fillAnswer(call *connector.Call, line *replay.Timeline, c *replay.Call, l *sessions.Loaded) {
	if !c.Answer.There() {
		return
	}
	v := line.ResultValue(c, l.Body(c.Answer.Frame))
	if strings.HasSuffix(c.Answer.Path, "/error") {
		call.Error = v.Get("message").Text()
		return
	}
	call.Result = []byte(v.Raw)
}
