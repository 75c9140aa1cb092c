package httptap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/mcptap/mcptap/tap"
)

// MaxDocument is the size in bytes up to which a metadata document or a form has
// to be held back to be translated. Clients read no more of one either.
const MaxDocument = 1 << 20

// A Role is what a path of the server is for in OAuth.
type Role int

// The roles. Which paths have which is known from the names that RFC 8414, RFC 9728
// and OpenID Connect Discovery reserve, from what the documents there say, and from
// what 2025-03-26 prescribes for servers without any.
const (
	RoleNone      Role = iota
	RoleResource       // protected-resource metadata: for Document
	RoleServer         // authorization-server metadata: for Document
	RoleAuthorize      // authorization endpoint: for Query and Browser
	RoleForm           // token endpoint, and others that take a resource in a form: for Form
	RoleRegister       // registration endpoint
)

var wellKnown = []struct {
	name string
	role Role
}{
	{"/.well-known/oauth-protected-resource", RoleResource},
	{"/.well-known/oauth-authorization-server", RoleServer},
	{"/.well-known/openid-configuration", RoleServer},
}

var defaultRoles = map[string]Role{"/authorize": RoleAuthorize, "/token": RoleForm, "/register": RoleRegister}

// Role tells what a path is for. A well-known name may have the path of what it
// describes after it or, for OpenID, before it.
func (m *Mapping) Role(path string) Role {
	if role := m.roleOf(path); role != RoleNone {
		return role
	}
	for _, w := range wellKnown {
		if path == w.name || strings.HasPrefix(path, w.name+"/") || strings.HasSuffix(path, w.name) {
			return w.role
		}
	}
	return defaultRoles[path]
}

// Document translates a metadata document for the path that it was fetched from,
// and learns from it. Other documents stay. Only the bytes of the addresses change.
func (m *Mapping) Document(path string, body []byte) ([]byte, []tap.Rewrite) {
	role := m.Role(path)
	if role != RoleResource && role != RoleServer || len(body) > MaxDocument || !json.Valid(body) {
		return body, nil
	}
	d := &document{m: m, body: body}
	root := gjson.ParseBytes(body)
	root.Index = len(body) - len(bytes.TrimLeft(body, " \t\r\n"))
	if !root.IsObject() {
		return body, nil
	}
	root.ForEach(func(key, value gjson.Result) bool {
		if role == RoleResource {
			d.resourceMember(key.Str, value)
		} else {
			d.serverMember(key.Str, value)
		}
		return true
	})
	return d.result()
}

// document is a metadata document under translation.
type document struct {
	m        *Mapping
	body     []byte
	out      []byte
	done     int // bytes of body that are in out
	rewrites []tap.Rewrite
}

func (d *document) result() ([]byte, []tap.Rewrite) {
	if d.rewrites == nil {
		return d.body, nil
	}
	return append(d.out, d.body[d.done:]...), d.rewrites
}

func (d *document) resourceMember(name string, v gjson.Result) {
	switch name {
	case "resource":
		if from, to, ok := d.swap(name, v); ok {
			d.m.learnResource(to, from)
		} else if v.Type == gjson.String {
			d.m.learnStranger(v.Str)
		}
	case "authorization_servers":
		v.ForEach(func(_, element gjson.Result) bool {
			if _, _, ok := d.swap(name, element); !ok && element.Type == gjson.String {
				d.m.learnForeign(element.Str)
			}
			return true
		})
	}
}

func (d *document) serverMember(name string, v gjson.Result) {
	switch {
	case name == "authorization_response_iss_parameter_supported":
		d.m.learnIssuer(v.Bool())
	case name == "mtls_endpoint_aliases" && v.IsObject():
		v.ForEach(func(key, value gjson.Result) bool {
			d.serverMember(key.Str, value)
			return true
		})
	case name == "protected_resources" && v.IsArray():
		v.ForEach(func(_, element gjson.Result) bool {
			if from, to, ok := d.swap(name, element); ok {
				d.m.learnResource(to, from)
			}
			return true
		})
	case name == "issuer" || name == "jwks_uri" || strings.HasSuffix(name, "_endpoint"):
		if from, _, ok := d.swap(name, v); ok {
			d.m.learn(path(from), endpointRole(name))
		}
	}
}

func endpointRole(member string) Role {
	switch member {
	case "authorization_endpoint":
		return RoleAuthorize
	case "registration_endpoint":
		return RoleRegister
	case "token_endpoint", "pushed_authorization_request_endpoint", "device_authorization_endpoint", "backchannel_authentication_endpoint":
		return RoleForm
	}
	return RoleNone
}

// swap translates one string of the document, if it is an address at the server.
func (d *document) swap(name string, v gjson.Result) (from, to string, ok bool) {
	if v.Type != gjson.String {
		return "", "", false
	}
	if to, ok = d.m.upstream.swap(v.Str, d.m.tap); !ok {
		return "", "", false
	}
	d.out = append(d.out, d.body[d.done:v.Index]...)
	d.out = append(d.out, jsonString(to)...)
	d.done = v.Index + len(v.Raw)
	d.rewrites = append(d.rewrites, tap.Rewrite{What: name, From: v.Str, To: to})
	return v.Str, to, true
}

func jsonString(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string can always be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Hint is what a user should be told when a request is answered with 401 or 403
// and the client may not get further by itself; "" if there is nothing to say. It
// holds addresses that the server chose: make it safe before it is printed.
func (m *Mapping) Hint(status int) string {
	if status != 401 && status != 403 {
		return ""
	}
	foreign, stranger := m.strangers()
	const ways = "put a ready token into the client's own headers (Authorization: Bearer ...), or start the tap with " +
		"MCPTAP_AUTHORIZATION='Bearer ...' in its environment, which it sends when the client sends none; see 'mcptap help http'"
	switch {
	case stranger != "":
		return fmt.Sprintf("the server says that it is %s, which is not where the tap was told to go (%s): clients refuse that, with a tap or without; start the tap with --to %s, or %s",
			stranger, m.upstream.text, stranger, ways)
	case foreign != "":
		return fmt.Sprintf("the authorization server is %s, which the client asks without the tap; it will ask there for a token for %s, and a strict one refuses that, "+
			"or gives a token that is not for %s. If the login fails: %s", foreign, m.tap.text, m.upstream.text, ways)
	case status == 401:
		return "the server asks for authorization; if the client does not get through by itself: " + ways
	}
	return ""
}

// maxLearnt bounds what a server can make the tap remember, of each kind.
const maxLearnt = 100

// learnt is what has been read out of the documents that passed.
type learnt struct {
	mu        sync.Mutex
	roles     map[string]Role
	resources map[string]string // by the tap's name for it
	foreign   []string          // authorization servers elsewhere
	stranger  string            // a resource that is not at the server's origin
	issuer    bool
}

func newLearnt() *learnt {
	return &learnt{roles: map[string]Role{}, resources: map[string]string{}}
}

func (l *learnt) learn(path string, role Role) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if role != RoleNone && len(l.roles) < maxLearnt {
		l.roles[path] = role
	}
}

func (l *learnt) roleOf(path string) Role {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.roles[path]
}

func (l *learnt) learnResource(own, upstream string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stranger = ""
	if len(l.resources) < maxLearnt {
		l.resources[own] = upstream
	}
}

func (l *learnt) original(own string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	upstream, ok := l.resources[own]
	return upstream, ok
}

func (l *learnt) learnForeign(server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.foreign) < maxLearnt && !slices.Contains(l.foreign, server) {
		l.foreign = append(l.foreign, server)
	}
}

func (l *learnt) learnStranger(resource string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stranger = resource
}

func (l *learnt) learnIssuer(sends bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.issuer = sends
}

func (l *learnt) sendsIssuer() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.issuer
}

func (l *learnt) strangers() (foreign, stranger string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.foreign, ", "), l.stranger
}
