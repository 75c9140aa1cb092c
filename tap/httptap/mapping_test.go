package httptap

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcptap/mcptap/tap"
)

const (
	ownOrigin = "http://127.0.0.1:4000"
	upOrigin  = "https://up.example"
)

func mapping(t testing.TB) *Mapping {
	t.Helper()
	m, err := NewMapping(ownOrigin+"/mcp", upOrigin+"/mcp")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// show makes a list of rewrites comparable.
func show(list []tap.Rewrite) string {
	var b strings.Builder
	for _, r := range list {
		fmt.Fprintf(&b, "%s: %s -> %s\n", r.What, r.From, r.To)
	}
	return b.String()
}

func TestSwap(t *testing.T) {
	up := func(s string) origin {
		o, err := parseOrigin(s)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	tests := []struct{ origin, in, want string }{
		{"https://up.example", "https://up.example", "TAP"},
		{"https://up.example", "https://up.example/", "TAP/"},
		{"https://up.example", "https://up.example/mcp?x=https://up.example#y", "TAP/mcp?x=https://up.example#y"},
		{"https://up.example", "HTTPS://Up.Example:443/mcp", "TAP/mcp"},
		{"https://up.example:443", "https://up.example?x", "TAP?x"},
		{"https://up.example", "//up.example/x", "TAP/x"},
		{"https://up.example:8443", "https://up.example:8443/x", "TAP/x"},
		{"http://[::1]:80", "http://[::1]/x", "TAP/x"},
		{"http://[::1]:3000", "http://[::1]:3000/x", "TAP/x"},
		{"http://127.0.0.1:3000", "http://127.0.0.1:3000", "TAP"},
		{"https://up.example", "http://up.example/x", ""},
		{"https://up.example", "https://up.example:8443/x", ""},
		{"https://up.example", "https://up.example.evil.example/x", ""},
		{"https://up.example", "https://up.example@evil.example/x", ""},
		{"https://up.example", "https://u@up.example/x", ""},
		{"https://up.example", `https://up.example\@evil.example/x`, `TAP\@evil.example/x`},
		{"https://up.example", "https://evil.example/https://up.example/", ""},
		{"https://up.example", "x?https://up.example/", ""},
		{"https://up.example", "/mcp", ""},
		{"https://up.example", "", ""},
		{"https://up.example", "https://", ""},
		{"https://up.example", " https://up.example", ""},
	}
	for _, tt := range tests {
		got, ok := up(tt.origin).swap(tt.in, origin{text: "TAP"})
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: swap(%q) = %q, %v; want %q", tt.origin, tt.in, got, ok, tt.want)
		}
	}
}

func TestNewMappingRefuses(t *testing.T) {
	for _, bad := range []string{"", "up.example", "ftp://up.example", "https://", "http://a b/", "https:up.example"} {
		if _, err := NewMapping(ownOrigin, bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestChallenge(t *testing.T) {
	const meta = upOrigin + "/.well-known/oauth-protected-resource/mcp"
	const own = ownOrigin + "/.well-known/oauth-protected-resource/mcp"
	tests := []struct{ in, want string }{
		{`Bearer resource_metadata="` + meta + `"`, `Bearer resource_metadata="` + own + `"`},
		{`Bearer realm="x", Resource_Metadata = "` + meta + `", scope="a b"`, `Bearer realm="x", Resource_Metadata = "` + own + `", scope="a b"`},
		{`Bearer resource_metadata=` + meta + `,scope=a`, `Bearer resource_metadata=` + own + `,scope=a`},
		{`Basic realm="resource_metadata=\"` + meta + `\"", Bearer resource_metadata="` + meta + `"`, `Basic realm="resource_metadata=\"` + meta + `\"", Bearer resource_metadata="` + own + `"`},
		{`Bearer resource_metadata="https:\/\/up.example/x"`, `Bearer resource_metadata="` + ownOrigin + `/x"`},
		{`Bearer resource_metadata="https://other.example/x"`, ""},
		{`Bearer x_resource_metadata="` + meta + `"`, ""},
		{`Bearer realm="cut resource_metadata=` + meta, ""},
		{`Bearer resource_metadata="` + meta, `Bearer resource_metadata="` + own},
		{`Bearer resource_metadata=`, ""},
		{`Bearer`, ""},
		{``, ""},
	}
	for _, tt := range tests {
		want, changes := tt.want, 1
		if want == "" {
			want, changes = tt.in, 0
		}
		if got, done := mapping(t).Challenge(tt.in); got != want || len(done) != changes {
			t.Errorf("Challenge(%s)\n got %s %v\nwant %s", tt.in, got, done, want)
		}
	}
}

// TestChallengeTeaches has a metadata document at a path that only the challenge tells.
func TestChallengeTeaches(t *testing.T) {
	m := mapping(t)
	const doc = `{"resource":"https://up.example/mcp"}`
	if got, _ := m.Document("/meta", []byte(doc)); string(got) != doc {
		t.Errorf("a document that nobody named became %s", got)
	}
	m.Challenge(`Bearer resource_metadata="https://up.example/meta"`)
	if got, done := m.Document("/meta", []byte(doc)); string(got) != `{"resource":"http://127.0.0.1:4000/mcp"}` || len(done) != 1 {
		t.Errorf("it became %s", got)
	}
}

func TestDocument(t *testing.T) {
	const (
		resource = "/.well-known/oauth-protected-resource"
		server   = "/.well-known/oauth-authorization-server"
		openid   = "/tenant/.well-known/openid-configuration"
	)
	tests := []struct{ path, in, want string }{
		{resource + "/mcp", `{"resource":"https://up.example/mcp","authorization_servers":["https://up.example","https://login.example"],"scopes_supported":["https://up.example/read"]}`,
			`{"resource":"http://127.0.0.1:4000/mcp","authorization_servers":["http://127.0.0.1:4000","https://login.example"],"scopes_supported":["https://up.example/read"]}`},
		{resource, " {\n  \"b\" : 1.50,\n  \"resource\" : \"https:\\/\\/up.example\\/mcp\" , \"resource_documentation\":\"https://up.example/doc\"\n} \n",
			" {\n  \"b\" : 1.50,\n  \"resource\" : \"http://127.0.0.1:4000/mcp\" , \"resource_documentation\":\"https://up.example/doc\"\n} \n"},
		{resource, `{"resource":"https://up.example/a","resource":"https://up.example/b"}`, `{"resource":"http://127.0.0.1:4000/a","resource":"http://127.0.0.1:4000/b"}`},
		{resource, `{"resource":"https://other.example/mcp"}`, ""},
		{resource, `{"resource":["https://up.example/mcp"],"authorization_servers":"https://up.example"}`, `{"resource":["https://up.example/mcp"],"authorization_servers":"http://127.0.0.1:4000"}`},
		{resource, `{"resource":"https://up.example/mcp"`, ""},
		{resource, `["https://up.example/mcp"]`, ""},
		{resource, ``, ""},
		{server, `{"issuer":"https://up.example","authorization_endpoint":"https://up.example/auth?x=y","token_endpoint":"https://login.example/token","jwks_uri":"https://up.example/jwks","op_policy_uri":"https://up.example/policy","mtls_endpoint_aliases":{"token_endpoint":"https://up.example/mtls"},"protected_resources":["https://up.example/mcp"]}`,
			`{"issuer":"http://127.0.0.1:4000","authorization_endpoint":"http://127.0.0.1:4000/auth?x=y","token_endpoint":"https://login.example/token","jwks_uri":"http://127.0.0.1:4000/jwks","op_policy_uri":"https://up.example/policy","mtls_endpoint_aliases":{"token_endpoint":"http://127.0.0.1:4000/mtls"},"protected_resources":["http://127.0.0.1:4000/mcp"]}`},
		{server + "/tenant", `{"issuer":"https://up.example/tenant"}`, `{"issuer":"http://127.0.0.1:4000/tenant"}`},
		{openid, `{"issuer":"https://up.example/tenant"}`, `{"issuer":"http://127.0.0.1:4000/tenant"}`},
		{"/mcp", `{"resource":"https://up.example/mcp","issuer":"https://up.example"}`, ""},
		{"/.well-known/oauth-protected-resources", `{"resource":"https://up.example/mcp"}`, ""},
	}
	for _, tt := range tests {
		want := tt.want
		if want == "" {
			want = tt.in
		}
		got, done := mapping(t).Document(tt.path, []byte(tt.in))
		if string(got) != want || (len(done) > 0) != (tt.want != "") {
			t.Errorf("%s: %s\n got %s\nwant %s\n%s", tt.path, tt.in, got, want, show(done))
		}
	}
}

// TestDocumentChangesOnlyAddresses puts the addresses back and compares all bytes.
func TestDocumentChangesOnlyAddresses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Just(`"https://up.example/a"`), rapid.Just(`"https://up.example"`), rapid.Just(`"x"`), rapid.Just(`[ "https://up.example/b" ,1]`),
			rapid.Just(`{"issuer":"https://up.example"}`), rapid.Just(`1.0e5`), rapid.Just(`null`))
		name := rapid.SampledFrom([]string{"resource", "issuer", "authorization_servers", "token_endpoint", "other", "mtls_endpoint_aliases", "protected_resources", "a.b", "*"})
		space := rapid.SampledFrom([]string{"", " ", "\n\t"})
		var b strings.Builder
		b.WriteString(space.Draw(t, "s") + "{")
		for i := range rapid.IntRange(0, 6).Draw(t, "members") {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "%s%q%s:%s%s", space.Draw(t, "s"), name.Draw(t, "name"), space.Draw(t, "s"), space.Draw(t, "s"), value.Draw(t, "value"))
		}
		b.WriteString("}" + space.Draw(t, "s"))
		for _, w := range wellKnown {
			m, _ := NewMapping(ownOrigin, upOrigin)
			got, done := m.Document(w.name, []byte(b.String()))
			if back := strings.ReplaceAll(string(got), ownOrigin, upOrigin); back != b.String() || strings.Count(string(got), ownOrigin) != len(done) {
				t.Fatalf("%s\nbecame %s", b.String(), got)
			}
		}
	})
}

func TestLocation(t *testing.T) {
	iss := url.QueryEscape(upOrigin)
	own := url.QueryEscape(ownOrigin)
	tests := []struct{ in, want string }{
		{"https://up.example/login?next=%2F", "http://127.0.0.1:4000/login?next=%2F"},
		{"http://127.0.0.1:9/cb?code=a%20b&state=c&iss=" + iss, "http://127.0.0.1:9/cb?code=a%20b&state=c&iss=" + own},
		{"myapp://cb?error=access_denied&iss=" + iss + "#f", "myapp://cb?error=access_denied&iss=" + own + "#f"},
		{"https://up.example/cb?code=a&iss=" + iss, "http://127.0.0.1:4000/cb?code=a&iss=" + own},
		{"http://127.0.0.1:9/cb?code=a&iss=https%3A%2F%2Fother.example", ""},
		{"https://login.example/authorize?resource=https%3A%2F%2Fup.example%2Fmcp&state=x", ""},
		{"https://other.example/?iss=" + iss, ""},
		{"/relative?state=1", ""},
		{"", ""},
	}
	for _, tt := range tests {
		want := tt.want
		if want == "" {
			want = tt.in
		}
		got, done := mapping(t).Location(tt.in)
		if got != want || (len(done) > 0) != (tt.want != "") {
			t.Errorf("Location(%s)\n got %s\nwant %s", tt.in, got, want)
		}
		if strings.Contains(show(done), "code") || strings.Contains(show(done), "next") {
			t.Errorf("the note of it has more than the origin: %s", show(done))
		}
	}
}

func TestEndpoint(t *testing.T) {
	tests := []struct{ in, want string }{
		{"/messages?sessionId=x", "/messages?sessionId=x"},
		{"messages?sessionId=x", "messages?sessionId=x"},
		{"https://up.example/messages?sessionId=https://up.example", "http://127.0.0.1:4000/messages?sessionId=https://up.example"},
		{"https://other.example/messages", "https://other.example/messages"},
	}
	for _, tt := range tests {
		got, done := mapping(t).Endpoint(tt.in)
		if got != tt.want || (len(done) > 0) != (got != tt.in) || strings.Contains(show(done), "session") {
			t.Errorf("Endpoint(%s) = %s %v, want %s", tt.in, got, done, tt.want)
		}
	}
}

func TestQueryAndForm(t *testing.T) {
	own, up := url.QueryEscape(ownOrigin+"/mcp"), url.QueryEscape(upOrigin+"/mcp")
	tests := []struct{ path, in, want string }{
		{"/authorize", "a=%20&resource=" + own + "&state=x", "a=%20&resource=" + up + "&state=x"},
		{"/authorize", "resource=" + own + "&resource=" + own, "resource=" + up + "&resource=" + up},
		{"/authorize", "%72esource=" + own, "%72esource=" + up},
		{"/authorize", "resource=https%3A%2F%2Fother.example", "resource=https%3A%2F%2Fother.example"},
		{"/authorize", "resource=" + up, "resource=" + up},
		{"/authorize", "redirect_uri=" + own, "redirect_uri=" + own},
		{"/elsewhere", "response_type=code&client_id=c&resource=" + own, "response_type=code&client_id=c&resource=" + up},
		{"/elsewhere", "resource=" + own, "resource=" + own},
		{"/authorize", "resource=%zz&=&&", "resource=%zz&=&&"},
		{"/authorize", "", ""},
	}
	for _, tt := range tests {
		if got, done := mapping(t).Query(tt.path, tt.in); got != tt.want || (len(done) > 0) != (got != tt.in) {
			t.Errorf("Query(%s, %s)\n got %s\nwant %s", tt.path, tt.in, got, tt.want)
		}
		path, in, want := strings.Replace(tt.path, "authorize", "token", 1), strings.Replace(tt.in, "client_id", "grant_type", 1), strings.Replace(tt.want, "client_id", "grant_type", 1)
		if got, done := mapping(t).Form(path, []byte(in)); string(got) != want || (len(done) > 0) != (string(got) != in) {
			t.Errorf("Form(%s, %s)\n got %s\nwant %s", path, in, got, want)
		}
	}
}

// TestThereAndBack has the resource come back exactly as the server spelt it, under
// every name that a client may know the tap by.
func TestThereAndBack(t *testing.T) {
	for _, resource := range []string{"https://up.example/mcp", "https://up.example", "https://up.example/", "HTTPS://Up.Example:443/mcp", "https://up.example/mcp?x=1"} {
		for _, host := range []string{"127.0.0.1:4000", "localhost:4000", "[::1]:4000"} {
			shared := mapping(t)
			doc, err := json.Marshal(map[string]any{"resource": resource, "authorization_servers": []string{upOrigin}})
			if err != nil {
				t.Fatal(err)
			}
			doc, _ = shared.For(host).Document("/.well-known/oauth-protected-resource/mcp", doc)
			var seen struct {
				Resource string   `json:"resource"`
				Servers  []string `json:"authorization_servers"`
			}
			if err := json.Unmarshal(doc, &seen); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(seen.Resource, "http://"+host) || !slices.Equal(seen.Servers, []string{"http://" + host}) {
				t.Errorf("%s: the client sees %s", host, doc)
			}
			form, _ := shared.For(host).Form("/token", []byte("grant_type=x&resource="+url.QueryEscape(seen.Resource)))
			if got, _ := url.ParseQuery(string(form)); got.Get("resource") != resource {
				t.Errorf("%s came back as %s", resource, got.Get("resource"))
			}
		}
	}
}

func TestLearntEndpoints(t *testing.T) {
	m := mapping(t)
	_, done := m.Document("/.well-known/oauth-authorization-server", []byte(`{"issuer":"https://up.example","authorization_endpoint":"https://up.example/o/auth","token_endpoint":"https://up.example/o/tok",
		"registration_endpoint":"https://up.example/o/reg","pushed_authorization_request_endpoint":"https://up.example/o/par","revocation_endpoint":"https://up.example/o/rev","authorization_response_iss_parameter_supported":false}`))
	if len(done) != 6 {
		t.Errorf("changed:\n%s", show(done))
	}
	for path, want := range map[string]Role{"/o/auth": RoleAuthorize, "/o/tok": RoleForm, "/o/reg": RoleRegister, "/o/par": RoleForm, "/o/rev": RoleNone,
		"/authorize": RoleAuthorize, "/token": RoleForm, "/register": RoleRegister, "/mcp": RoleNone, "/": RoleNone} {
		if got := m.Role(path); got != want {
			t.Errorf("%s has role %d, want %d", path, got, want)
		}
	}
	own, up := url.QueryEscape(ownOrigin+"/mcp"), url.QueryEscape(upOrigin+"/mcp")
	if got, done, ok := m.Browser("/o/auth", "state=x&resource="+own); !ok || got != upOrigin+"/o/auth?state=x&resource="+up || len(done) != 1 {
		t.Errorf("a browser is sent to %q (%v)", got, ok)
	}
	if _, _, ok := m.Browser("/o/tok", ""); ok {
		t.Error("a browser is sent to the token endpoint")
	}
	m.Document("/.well-known/oauth-authorization-server", []byte(`{"authorization_response_iss_parameter_supported":true}`))
	if _, _, ok := m.Browser("/o/auth", ""); ok {
		t.Error("a browser is sent past the tap although the answer's issuer has to be translated")
	}
}

func TestLearntIsBounded(t *testing.T) {
	m := mapping(t)
	for i := range 10 * maxLearnt {
		m.Document("/.well-known/oauth-protected-resource", fmt.Appendf(nil, `{"resource":"https://up.example/%d","authorization_servers":["https://as%d.example"]}`, i, i))
		m.Challenge(fmt.Sprintf(`Bearer resource_metadata="https://up.example/%d"`, i))
	}
	if len(m.roles) > maxLearnt || len(m.resources) > maxLearnt || len(m.foreign) > maxLearnt {
		t.Errorf("%d roles, %d resources, %d servers", len(m.roles), len(m.resources), len(m.foreign))
	}
}

func TestHint(t *testing.T) {
	m := mapping(t)
	if m.Hint(200) != "" || m.Hint(404) != "" || m.Hint(403) != "" {
		t.Error("a hint without need")
	}
	if got := m.Hint(401); !strings.Contains(got, "MCPTAP_AUTHORIZATION") {
		t.Errorf("401: %s", got)
	}
	m.Document("/.well-known/oauth-protected-resource", []byte(`{"resource":"https://up.example/mcp","authorization_servers":["https://login.example"]}`))
	for _, word := range []string{"https://login.example", ownOrigin, upOrigin, "Authorization: Bearer", "MCPTAP_AUTHORIZATION"} {
		if got := m.Hint(401); !strings.Contains(got, word) {
			t.Errorf("%q is not in %s", word, got)
		}
	}
	m.Document("/.well-known/oauth-protected-resource", []byte(`{"resource":"https://real.example/mcp"}`))
	if got := m.Hint(401); !strings.Contains(got, "--to https://real.example/mcp") {
		t.Errorf("a server elsewhere: %s", got)
	}
}

func FuzzMapping(f *testing.F) {
	for _, seed := range []string{
		`Bearer resource_metadata="https://up.example/x"`, `{"resource":"https://up.example/mcp","authorization_servers":["https://up.example"]}`,
		"https://up.example/cb?code=1&iss=https%3A%2F%2Fup.example", "resource=http%3A%2F%2F127.0.0.1%3A4000&grant_type=x", `{"issuer":"https://up.example"`, "//up.example", `"\`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := mapping(t)
		check := func(what, got string, done []tap.Rewrite) {
			if len(done) == 0 && got != s {
				t.Errorf("%s changed %q into %q without a word", what, s, got)
			}
		}
		got, done := m.Challenge(s)
		check("Challenge", got, done)
		got, done = m.Location(s)
		check("Location", got, done)
		got, done = m.Endpoint(s)
		check("Endpoint", got, done)
		for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/openid-configuration"} {
			body, done := m.Document(path, []byte(s))
			check("Document", string(body), done)
			if json.Valid([]byte(s)) != json.Valid(body) {
				t.Errorf("%q became %q, which is JSON no more", s, body)
			}
		}
		got, done = m.Query("/authorize", s)
		check("Query", got, done)
		body, done := m.Form("/token", []byte(s))
		check("Form", string(body), done)
		m.Browser("/authorize", s)
	})
}
