package redact

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var testHTTP = NewHTTP([]byte("a key of the tests"))

// keyed makes tests readable: M(x) stands for the mask of x.
func keyed(s string) string {
	return regexp.MustCompile(`M\(([^()]*)\)`).ReplaceAllStringFunc(s, func(m string) string {
		return testHTTP.Secret(m[2 : len(m)-1])
	})
}

func TestSecret(t *testing.T) {
	a := testHTTP.Secret("hunter2")
	if !regexp.MustCompile(`^«redacted:[0-9a-f]{6}»$`).MatchString(a) {
		t.Errorf("the mask is %q", a)
	}
	if testHTTP.Secret("hunter2") != a || testHTTP.Secret("hunter3") == a || NewHTTP([]byte("other")).Secret("hunter2") == a {
		t.Error("equal secrets under one key, and they alone, have equal masks")
	}
	if testHTTP.Secret(a) != a || testHTTP.Secret("") != "" || testHTTP.Secret(Mask) != Mask {
		t.Error("a mask is masked again")
	}
}

func TestHeader(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"Authorization", "Bearer abc.def", "Bearer M(abc.def)"},
		{"authorization", "bearer  abc", "bearer  M(abc)"},
		{"Authorization", "Basic aHVudGVyMg==", "Basic M(aHVudGVyMg==)"},
		{"Authorization", "hunter2", "M(hunter2)"},
		{"Authorization", "hunter2 and more", "M(hunter2 and more)"},
		{"Authorization", "Bearer true", "Bearer M(true)"},
		{"Authorization", "Bearer", "Bearer"},
		{"Authorization", "", ""},
		{"Proxy-Authorization", "Basic x", "Basic M(x)"},
		{"Cookie", "a=b; c=d=e; f; =g", "a=M(b); c=M(d=e); M(f); =M(g)"},
		{"Cookie", `a="b c"; n=`, `a=M("b c"); n=`},
		{"Set-Cookie", "sid=abc; Path=/x; HttpOnly; Secure; SameSite=Lax; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Other=y",
			"sid=M(abc); Path=/x; M(HttpOnly); M(Secure); SameSite=Lax; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Other=M(y)"},
		{"WWW-Authenticate", `Bearer error="invalid_token", error_description="no \"abc\", sorry", resource_metadata="https://h/.well-known/oauth-protected-resource/mcp", scope="a b"`,
			`Bearer error="invalid_token", error_description="M(no \"abc\", sorry)", resource_metadata="https://h/.well-known/oauth-protected-resource/mcp", scope="a b"`},
		{"WWW-Authenticate", `Bearer error_description=abc, realm="x"`, `Bearer error_description=M(abc), realm="x"`},
		{"WWW-Authenticate", `Bearer ERROR_DESCRIPTION = "cut off`, `Bearer ERROR_DESCRIPTION = "M(cut off)`},
		{"WWW-Authenticate", "Negotiate YIIabc", "Negotiate M(YIIabc)"},
		{"WWW-Authenticate", `Basic realm="api", charset="UTF-8"`, `Basic realm="api", charset="UTF-8"`},
		{"Location", "http://127.0.0.1:9/cb?code=abc&state=d&iss=https%3A%2F%2Fas.example", "http://127.0.0.1:9/cb?code=M(abc)&state=M(d)&iss=https%3A%2F%2Fas.example"},
		{"Location", "/cb#access_token=abc&token_type=bearer", "/cb#access_token=M(abc)&token_type=bearer"},
		{"Referer", "https://u:p@h/x?sid=5", "https://M(u):M(p)@h/x?sid=M(5)"},
		{"Mcp-Session-Id", "1868a90c-uuid", "M(1868a90c-uuid)"},
		{"X-Api-Key", "abc", "M(abc)"},
		{"X-Acme-Token", "Token abc", "Token M(abc)"},
		{"DPoP", "eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl", "M(eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl)"},
		{"X-Debug", "sent Bearer abc123 along", "sent Bearer M(abc123) along"},
		{"X-Upstream", "https://u:p@h/x?api_key=abc", "https://M(u):M(p)@h/x?api_key=M(abc)"},
		{"Link", "</x?token=abc>; rel=next", "</x?token=M(abc)>; rel=next"},
		{"Mcp-Param-Site", "abc", "abc"},
		{"Mcp-Param-Token", "abc", "M(abc)"},
		{"X-OpenAI-Key", "abc", "M(abc)"},
		{"X-Session-Id", "abc", "M(abc)"},
		{"X-Honeycomb-Team", "abc", "M(abc)"},
		{"Idempotency-Key", "abc", "abc"},
		{"Mcp-Name", "=?base64?TcO8bmNoZW4=?=", "=?base64?TcO8bmNoZW4=?="},
		{"MCP-Protocol-Version", "2026-07-28", "2026-07-28"},
		{"Content-Type", "application/json; charset=utf-8", "application/json; charset=utf-8"},
		{"Access-Control-Allow-Headers", "Authorization, X-Api-Key, Mcp-Session-Id", "Authorization, X-Api-Key, Mcp-Session-Id"},
		{"Anthropic-Ratelimit-Tokens-Remaining", "4000", "4000"},
		{"Date", "Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT"},
		{"User-Agent", "node/20 (token 5; x64)", "node/20 (token 5; x64)"},
	}
	for _, tt := range tests {
		want := strings.NewReplacer(testHTTP.Secret("HttpOnly"), "HttpOnly", testHTTP.Secret("Secure"), "Secure").Replace(keyed(tt.want))
		got := testHTTP.Header(tt.name, tt.in)
		if got != want {
			t.Errorf("%s: %s\n got %s\nwant %s", tt.name, tt.in, got, want)
		}
		if again := testHTTP.Header(tt.name, got); again != got {
			t.Errorf("%s again: %s, was %s", tt.name, again, got)
		}
	}
}

func TestTarget(t *testing.T) {
	const uuid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
	tests := []struct{ in, want string }{
		{"/mcp", "/mcp"},
		{"/mcp?debug=1&page=two", "/mcp?debug=1&page=two"},
		{"/authorize?response_type=code&client_id=" + uuid + "&state=abc&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&resource=https%3A%2F%2Fh%2Fmcp",
			"/authorize?response_type=code&client_id=" + uuid + "&state=M(abc)&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&resource=https%3A%2F%2Fh%2Fmcp"},
		{"/sse?sessionid=XIAPW5OWJOY6", "/sse?sessionid=M(XIAPW5OWJOY6)"},
		{"/messages/?session_id=abc&x=y", "/messages/?session_id=M(abc)&x=y"},
		{"/messages?sessionId=" + uuid, "/messages?sessionId=M(" + uuid + ")"},
		{"/messages?s=" + uuid, "/messages?s=M(" + uuid + ")"},
		{"/messages?" + uuid, "/messages?M(" + uuid + ")"},
		{"/messages/" + uuid, "/messages/M(" + uuid + ")"},
		{"/x;jsessionid=abc/y", "/x;jsessionid=M(abc)/y"},
		{"/x?%63ode=a%20b", "/x?%63ode=M(a b)"},
		{"/x?code=a+b", "/x?code=M(a b)"},
		{"/x?code=%zz", "/x?code=M(%zz)"},
		{"/x?redirect_uri=http%3A%2F%2Fh%2Fcb%3Fkey%3Dabc", "/x?redirect_uri=http%3A%2F%2Fh%2Fcb%3Fkey%3DM(abc)"},
		{"/x?next=%2Fy%3Fnext%3D%252Fz%253Fsig%253Dabc", "/x?next=%2Fy%3Fnext%3D%252Fz%253Fsig%253D" + "M(abc)"},
		{"/x?q=ghp%5Fabcdefghij0123", "/x?q=M(ghp_abcdefghij0123)"},
		{"https://u:p@h/mcp?token=abc", "https://M(u):M(p)@h/mcp?token=M(abc)"},
		{"/.well-known/oauth-protected-resource/mcp/v2", "/.well-known/oauth-protected-resource/mcp/v2"},
		{"/v1/projects/my-project-2025-deployment/oauth2authorization", "/v1/projects/my-project-2025-deployment/oauth2authorization"},
		{"*", "*"},
		{"", ""},
	}
	for _, tt := range tests {
		got, want := testHTTP.Target(tt.in), keyed(tt.want)
		// what is nested twice is escaped twice, its mask as well
		if plain, err := url.QueryUnescape(got); got != want && (err != nil || !strings.Contains(want, "%253D") || !strings.Contains(plain, testHTTP.Secret("abc"))) {
			t.Errorf("Target(%q)\n got %q\nwant %q", tt.in, got, want)
		}
		if again := testHTTP.Target(got); again != got {
			t.Errorf("Target again: %q, was %q", again, got)
		}
	}
}

// TestEndpoint has the endpoint events of three SDKs: the session in them is the
// one in the targets of the POSTs.
func TestEndpoint(t *testing.T) {
	for _, tt := range []struct{ event, post string }{
		{"/sse?sessionid=XIAPW5OWJOY6", "/sse?sessionid=XIAPW5OWJOY6"},
		{"https://h:8443/messages?sessionId=0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "/messages?sessionId=0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"},
		{"messages/?session_id=0f1e2d3c4b5a69788796a5b4c3d2e1f0", "/base/messages/?session_id=0f1e2d3c4b5a69788796a5b4c3d2e1f0"},
		{"/m/0f1e2d3c4b5a69788796a5b4c3d2e1f0", "/m/0f1e2d3c4b5a69788796a5b4c3d2e1f0"},
	} {
		masks := regexp.MustCompile(`«redacted:[0-9a-f]{6}»`)
		event, post := testHTTP.Endpoint(tt.event), testHTTP.Target(tt.post)
		if a, b := masks.FindString(event), masks.FindString(post); a == "" || a != b {
			t.Errorf("%q and %q do not join", event, post)
		}
	}
}

func TestBody(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	tests := []struct{ media, in, want string }{
		{form, "grant_type=authorization_code&code=abc&code_verifier=v&client_id=c&redirect_uri=http%3A%2F%2Fh%2Fcb%3Fkey%3Dk&resource=https%3A%2F%2Fh%2Fmcp&scope=a+b",
			"grant_type=authorization_code&code=M(abc)&code_verifier=M(v)&client_id=c&redirect_uri=http%3A%2F%2Fh%2Fcb%3Fkey%3DM(k)&resource=https%3A%2F%2Fh%2Fmcp&scope=a+b"},
		{form + "; charset=utf-8", "username=bob&password=p%26w&csrf=abc&empty=", "username=M(bob)&password=M(p&w)&csrf=M(abc)&empty="},
		{form, "hunter2", "M(hunter2)"},
		{form, "c2VjcmV0c2VjcmV0MTIz==", "M(c2VjcmV0c2VjcmV0MTIz)=M(=)"},
		{"application/json", ` {"access_token" : "abc", "token_type":"bearer","expires_in":3600,"refresh_token":"d","id_token":"e","scope":"x" }`,
			` {"access_token" : "M(abc)", "token_type":"bearer","expires_in":3600,"refresh_token":"M(d)","id_token":"M(e)","scope":"x" }`},
		{"application/json", `{"client_id":"c","client_secret":"s","registration_access_token":"t","redirect_uris":["http://h/cb?code=1"],"token_endpoint_auth_method":"none"}`,
			`{"client_id":"c","client_secret":"M(s)","registration_access_token":"M(t)","redirect_uris":["http://h/cb?code=M(1)"],"token_endpoint_auth_method":"none"}`},
		{"application/problem+json", `{"a":[{"password":"\u0070w"},["x",{"session_id":"y"}]],"credentials":{"user":"u","n":5,"l":["m"],"b":true}}`,
			`{"a":[{"password":"M(pw)"},["x",{"session_id":"M(y)"}]],"credentials":{"user":"M(u)","n":"M(5)","l":["M(m)"],"b":true}}`},
		{"application/json", `{"log":"with ghp_abcdefghij0123 in it","code":-32000,"ghp_abcdefghij0123":1}`, `{"log":"with M(ghp_abcdefghij0123) in it","code":-32000,"M(ghp_abcdefghij0123)":1}`},
		{"application/json", `{"keys":[{"kty":"EC","x":"a","d":"b"}]}`, `{"keys":[{"kty":"EC","x":"a","d":"M(b)"}]}`},
		{"application/json", `"0f1e2d3c4b5a6978x"`, `"M(0f1e2d3c4b5a6978x)"`},
		{"", `{"access_token":"abc"}`, `{"access_token":"M(abc)"}`},
		{"text/plain", `{"access_token":"abc"}`, `{"access_token":"M(abc)"}`},
		{"application/json", `{"access_token":"abc"`, `«not kept: 21 bytes, "application/json"»`},
		{"application/json", strings.Repeat("[", 100) + strings.Repeat("]", 100), `«not kept: 200 bytes, "application/json"»`},
		{"text/plain; charset=utf-8", "Unauthorized: no Bearer abc123\n", "Unauthorized: no Bearer M(abc123)\n"},
		{"text/plain", "0f1e2d3c4b5a6978x\n", "M(0f1e2d3c4b5a6978x)\n"},
		{"text/html", "<html><body><h1>502 Bad Gateway</h1></body></html>", "<html><body><h1>502 Bad Gateway</h1></body></html>"},
		{"text/html; charset=utf-8", `<FORM><input type=hidden name=csrf value=x>`, `«not kept: 43 bytes, "text/html"»`},
		{"application/octet-stream", "\x00\x01", `«not kept: 2 bytes, "application/octet-stream"»`},
		{"text/plain", "\xff", `«not kept: 1 bytes, "text/plain"»`},
		{"application/jwt", "eyJ", `«not kept: 3 bytes, "application/jwt"»`},
		{"application/json", "", ""},
	}
	for _, tt := range tests {
		got, changed := testHTTP.Body(tt.media, []byte(tt.in))
		if want := keyed(tt.want); string(got) != want || changed != (tt.in != want) {
			t.Errorf("%s: %s\n got %s (%v)\nwant %s", tt.media, tt.in, got, changed, want)
		}
		if again, changed := testHTTP.Body(tt.media, got); changed || string(again) != string(got) {
			t.Errorf("%s again: %s, was %s", tt.media, again, got)
		}
	}
}

// TestBodyMetadata keeps the documents that a client discovers servers by.
func TestBodyMetadata(t *testing.T) {
	for _, doc := range []string{
		`{"resource":"https://up.example/mcp","authorization_servers":["https://up.example"],"scopes_supported":["read"],"bearer_methods_supported":["header"],"dpop_bound_access_tokens_required":false}`,
		`{"issuer":"https://up.example","authorization_endpoint":"https://up.example/authorize","token_endpoint":"https://up.example/token","registration_endpoint":"https://up.example/register","jwks_uri":"https://up.example/jwks","response_types_supported":["code"],"grant_types_supported":["authorization_code","refresh_token"],"token_endpoint_auth_methods_supported":["none","client_secret_post"],"code_challenge_methods_supported":["S256"],"id_token_signing_alg_values_supported":["RS256"],"authorization_response_iss_parameter_supported":true,"tls_client_certificate_bound_access_tokens":true}`,
		`{"keys":[{"kty":"RSA","use":"sig","kid":"1","n":"0vx7","e":"AQAB"}]}`,
	} {
		if got, changed := testHTTP.Body("application/json", []byte(doc)); changed {
			t.Errorf("%s\nbecame %s", doc, got)
		}
	}
}

// places are where a secret can stand, as functions of what is kept of them.
var places = map[string]func(secret string) string{
	"bearer":        func(s string) string { return testHTTP.Header("Authorization", "Bearer "+s) },
	"authorization": func(s string) string { return testHTTP.Header("Authorization", s) },
	"cookie":        func(s string) string { return testHTTP.Header("Cookie", "a=b; sid="+s+"; c=d") },
	"set-cookie":    func(s string) string { return testHTTP.Header("Set-Cookie", "sid="+s+"; Path=/") },
	"session":       func(s string) string { return testHTTP.Header("Mcp-Session-Id", s) },
	"api key":       func(s string) string { return testHTTP.Header("X-Api-Key", s) },
	"description": func(s string) string {
		return testHTTP.Header("WWW-Authenticate", `Bearer realm="x", error_description="no `+s+`"`)
	},
	"location": func(s string) string {
		return testHTTP.Header("Location", "https://h/cb?x=1&code="+url.QueryEscape(s)+"&y")
	},
	"query":    func(s string) string { return testHTTP.Target("/x?access_token=" + url.QueryEscape(s)) },
	"fragment": func(s string) string { return testHTTP.Target("/x#id_token=" + url.QueryEscape(s)) },
	"userinfo": func(s string) string { return testHTTP.Target("https://bob:" + url.QueryEscape(s) + "@h/x") },
	"nested": func(s string) string {
		return testHTTP.Target("/x?redirect_uri=" + url.QueryEscape("https://h/y?api_key="+url.QueryEscape(s)))
	},
	"endpoint": func(s string) string { return testHTTP.Endpoint("/messages?sessionId=" + url.QueryEscape(s)) },
	"form": func(s string) string {
		return masked("application/x-www-form-urlencoded", "grant_type=x&code_verifier="+url.QueryEscape(s)+"&scope=y")
	},
	"any form field": func(s string) string {
		return masked("application/x-www-form-urlencoded", "_x="+url.QueryEscape(s))
	},
	"bare form": func(s string) string { return masked("application/x-www-form-urlencoded", url.QueryEscape(s)) },
	"json": func(s string) string {
		return masked("application/json", `{"a":[{"refresh_token":`+asJSON(s)+`}],"b":1}`)
	},
	"json, deep": func(s string) string {
		return masked("application/json", `{"credentials":{"a":[{"b":`+asJSON(s)+`}]}}`)
	},
	"json in json": func(s string) string {
		return masked("application/json", `{"text":`+asJSON(`{"client_secret":`+asJSON(s)+`}`)+`}`)
	},
	"login page": func(s string) string { return masked("text/html", `<form><input type=hidden value="`+s+`"></form>`) },
	"binary":     func(s string) string { return masked("application/octet-stream", s) },
	"multipart":  func(s string) string { return masked("multipart/form-data; boundary=x", "--x\r\n\r\n"+s+"\r\n--x--") },
}

func masked(media, body string) string {
	out, _ := testHTTP.Body(media, []byte(body))
	return string(out)
}

func asJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestNoSecretComesOut puts random secrets wherever one can stand.
func TestNoSecretComesOut(t *testing.T) {
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				secret := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_.~+/=-]{7,80}`).Draw(t, "secret")
				if out := place(secret); holds(out, secret) {
					t.Fatalf("%q is in %q", secret, out)
				}
			})
		})
	}
}

// holds tells whether a text has a secret in it, in any of its spellings.
func holds(text, secret string) bool {
	for range 4 {
		if strings.Contains(text, secret) || strings.Contains(text, url.QueryEscape(secret)) {
			return true
		}
		text = unescape(text)
	}
	return false
}

// TestShapesAnywhere puts tokens of a known shape where no name gives them away.
func TestShapesAnywhere(t *testing.T) {
	const token = "ghp_abcdefghij0123456789"
	for _, out := range []string{
		testHTTP.Header("X-Whatever", "see "+token), testHTTP.Target("/x/" + token + "/y"), testHTTP.Target("/x?q=" + token),
		testHTTP.Target("/x?" + token + "=1"), masked("text/plain", "see "+token), masked("text/html", "<p>"+token+"</p>"),
		masked("application/json", `["`+token+`"]`), masked("application/x-www-form-urlencoded", "scope="+token),
		masked("application/x-www-form-urlencoded", token+"=1"), testHTTP.Header("Cookie", token+"=1"),
	} {
		if holds(out, token) {
			t.Errorf("the token is in %q", out)
		}
	}
}

// TestHTTPStable masks random texts made of what matters, and masks them again.
func TestHTTPStable(t *testing.T) {
	pieces := []string{
		"token", "code", "x", "Authorization", "kty", "d", "abc", "7", "%3D", "%", "%25", "%2F", "0f1e2d3c4b5a69788796", testHTTP.Secret("a"), keyedStart, keyedEnd, "«", Mask,
		"=", ":", ": ", " ", ";", "; ", `"`, `\"`, `\`, "'", ",", "{", "}", "[", "]", "&", "?", "#", "@", "/", "://", "-", "--", "https://", "u:p@h", "\n", "error_description=",
		"Bearer ", "Basic ", "Negotiate ", "ghp_abcd1234", "eyJabcd.efgh.ij", "-----BEGIN PRIVATE KEY-----", "redirect_uri=", "<form", "null", "1",
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 60_000 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		checkStable(t, b.String())
	}
}

func checkStable(t *testing.T, s string) {
	t.Helper()
	for _, name := range []string{"Authorization", "Cookie", "Set-Cookie", "WWW-Authenticate", "Location", "X-Api-Key", "X-Other", "Mcp-Param-X"} {
		once := testHTTP.Header(name, s)
		if twice := testHTTP.Header(name, once); twice != once {
			t.Errorf("%s is not stable:\n  in %q\n got %q\nthen %q", name, s, once, twice)
		}
	}
	once := testHTTP.Target(s)
	if twice := testHTTP.Target(once); twice != once {
		t.Errorf("Target is not stable:\n  in %q\n got %q\nthen %q", s, once, twice)
	}
	for _, media := range []string{"application/json", "application/x-www-form-urlencoded", "text/plain", "text/html", "a/b"} {
		once := masked(media, s)
		if twice := masked(media, once); twice != once {
			t.Errorf("%s is not stable:\n  in %q\n got %q\nthen %q", media, s, once, twice)
		}
	}
}

func FuzzHTTP(f *testing.F) {
	for _, seed := range []string{
		"Bearer abc", "a=b; c=d", `Bearer error_description="x`, "https://u:p@h/x?code=1&next=%2Fy%3Fcode%3D2#t=3", `{"a":[{"token":"x"},{"kty":1,"d":"e"}]}`,
		"grant_type=x&code=y", "<form><input>", "/messages/0f1e2d3c4b5a69788796a5b4c3d2e1f0;x=y?s", "«redacted:123456»", "«not kept: »", "%", "a=%zz&=&",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkStable(t, s)
		const secret = "SECRETVALUE12345"
		if strings.Contains(s, secret) {
			return
		}
		for _, out := range []string{
			testHTTP.Target("/x?" + s + "&access_token=" + secret), testHTTP.Header("Cookie", s+";sid="+secret),
			masked("application/x-www-form-urlencoded", s+"&code="+secret), masked("application/json", fmt.Sprintf(`{%s:1,"id_token":%q}`, asJSON(s), secret)),
		} {
			if holds(out, secret) {
				t.Errorf("the secret is in %q", out)
			}
		}
	})
}

// BenchmarkHTTP has texts that a careless scanner takes quadratic time for.
func BenchmarkHTTP(b *testing.B) {
	b.Run("header", func(b *testing.B) {
		for b.Loop() {
			testHTTP.Header("Authorization", "Bearer 0f1e2d3c4b5a69788796")
			testHTTP.Header("User-Agent", "node/20")
		}
	})
	b.Run("target", func(b *testing.B) {
		for b.Loop() {
			testHTTP.Target("/messages?sessionId=0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
		}
	})
	for _, unit := range []string{"a=b&", "/a", "?", "#", `{"a":`, "[", "%2F%3F", `error_description="x",`, "a=b;", "://"} {
		s := strings.Repeat(unit, 1<<18/len(unit))
		b.Run(fmt.Sprintf("much of %s", unit), func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				testHTTP.Target(s)
				testHTTP.Header("WWW-Authenticate", s)
				testHTTP.Header("Cookie", s)
				masked("application/json", s)
			}
		})
	}
}
