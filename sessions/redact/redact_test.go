package redact

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// args splits a test's command line at blanks; "_" stands for a blank inside
// an argument.
func args(line string) []string {
	argv := strings.Fields(line)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "_", " ")
	}
	return argv
}

func TestCommand(t *testing.T) {
	tests := []struct{ in, want []string }{
		// options
		{[]string{"x", "--api-key", "hunter2"}, []string{"x", "--api-key", "***"}},
		{[]string{"x", "--api-key=hunter2"}, []string{"x", "--api-key=***"}},
		{[]string{"x", "--apiKey", "hunter2", "y"}, []string{"x", "--apiKey", "***", "y"}},
		{[]string{"x", "--APIKey=hunter2"}, []string{"x", "--APIKey=***"}},
		{[]string{"x", "--token", "hunter2"}, []string{"x", "--token", "***"}},
		{[]string{"x", "-token", "hunter2"}, []string{"x", "-token", "***"}},
		{[]string{"x", "--token:hunter2"}, []string{"x", "--token:***"}},
		{[]string{"x", "/apikey:hunter2"}, []string{"x", "/apikey:***"}},
		{[]string{"x", "--github-personal-access-token", "hunter2"}, []string{"x", "--github-personal-access-token", "***"}},
		{[]string{"x", "--password", "-hunter2"}, []string{"x", "--password", "***"}},
		{[]string{"x", "--password", "hunter 2 = a"}, []string{"x", "--password", "***"}},
		{[]string{"x", "--password=hunter 2 = a"}, []string{"x", "--password=***"}},
		{[]string{"x", "--password", ""}, []string{"x", "--password", ""}},
		{[]string{"x", "--password="}, []string{"x", "--password="}},
		{[]string{"x", "--password"}, []string{"x", "--password"}},
		{[]string{"x", "--client-secret", "a", "--user", "bob"}, []string{"x", "--client-secret", "***", "--user", "bob"}},
		{[]string{"x", "--token", "--api-key", "a"}, []string{"x", "--token", "--api-key", "***"}},
		{[]string{"x", "--token", "--verbose", "a"}, []string{"x", "--token", "--verbose", "a"}},
		{[]string{"x", "--token", "-v", "a"}, []string{"x", "--token", "-v", "a"}},
		{[]string{"x", "--token", "--", "a"}, []string{"x", "--token", "--", "a"}},
		{[]string{"x", "--", "--token", "a"}, []string{"x", "--", "--token", "***"}},
		{[]string{"java", "-DapiKey=hunter2", "-Dspring.datasource.password=x"}, []string{"java", "-DapiKey=***", "-Dspring.datasource.password=***"}},
		{[]string{"npx", "@smithery/cli", "run", "x", "--key", "0123-45"}, []string{"npx", "@smithery/cli", "run", "x", "--key", "***"}},
		{[]string{"x", "--oauth2Bearer", "abc"}, []string{"x", "--oauth2Bearer", "***"}},
		{[]string{"x", "--token", "${TOKEN}"}, []string{"x", "--token", "${TOKEN}"}},
		{[]string{"x", "--auth", "none"}, []string{"x", "--auth", "none"}},

		// environment
		{[]string{"env", "API_KEY=x", "NODE_ENV=production", "cmd"}, []string{"env", "API_KEY=***", "NODE_ENV=production", "cmd"}},
		{[]string{"env", "PASSWORD=x y z", "cmd"}, []string{"env", "PASSWORD=***", "cmd"}},
		{[]string{"env", "OPENAI_KEY=x", "PGPASSWORD=y", "SMTP_PASS=z"}, []string{"env", "OPENAI_KEY=***", "PGPASSWORD=***", "SMTP_PASS=***"}},
		{[]string{"docker", "run", "-i", "--rm", "-e", "GITHUB_TOKEN=x", "images.example/github/github-mcp-server"},
			[]string{"docker", "run", "-i", "--rm", "-e", "GITHUB_TOKEN=***", "images.example/github/github-mcp-server"}},
		{[]string{"docker", "run", "-e", "LOG_LEVEL=debug", "img"}, []string{"docker", "run", "-e", "LOG_LEVEL=***", "img"}},
		{[]string{"docker", "run", "-e", "A=${A}", "-e", "B=true", "-e", "C=", "img"}, []string{"docker", "run", "-e", "A=***", "-e", "B=***", "-e", "C=", "img"}},
		{[]string{"docker", "run", "--env", "LOG=a b", "--env=LOG2=c d", "img"}, []string{"docker", "run", "--env", "LOG=***", "--env=LOG2=***", "img"}},
		{[]string{"docker", "run", "-eLOG=x", "-ie", "A=b", "img"}, []string{"docker", "run", "-eLOG=***", "-ie", "A=***", "img"}},
		{[]string{"docker", "run", "-e", "GITHUB_TOKEN", "images.example/x/token-server:latest"}, []string{"docker", "run", "-e", "GITHUB_TOKEN", "images.example/x/token-server:latest"}},
		{[]string{"uvx", "mcp-proxy", "-e", "LOG", "debug", "-e", "API_KEY", "hunter2", "--", "x"}, []string{"uvx", "mcp-proxy", "-e", "LOG", "***", "-e", "API_KEY", "***", "--", "x"}},
		{[]string{"docker", "run", "--env-file", ".env", "img"}, []string{"docker", "run", "--env-file", ".env", "img"}},

		// headers
		{[]string{"mcp-remote", "https://h/sse", "--header", "Authorization: Bearer hunter2"}, []string{"mcp-remote", "https://h/sse", "--header", "Authorization: Bearer ***"}},
		{[]string{"mcp-remote", "--header", "Authorization:hunter2"}, []string{"mcp-remote", "--header", "Authorization:***"}},
		{[]string{"mcp-remote", "--header", "Authorization: Bearer ${AUTH_TOKEN}"}, []string{"mcp-remote", "--header", "Authorization: Bearer ${AUTH_TOKEN}"}},
		{[]string{"mcp-remote", "--header=Authorization: Basic aHVudGVyMg=="}, []string{"mcp-remote", "--header=Authorization: Basic ***"}},
		{[]string{"curl", "-H", "X-Api-Key: v"}, []string{"curl", "-H", "X-Api-Key: ***"}},
		{[]string{"curl", "-H", "X-Foo-Token:a b c"}, []string{"curl", "-H", "X-Foo-Token:***"}},
		{[]string{"curl", "-H", "Cookie: a=b; c=d"}, []string{"curl", "-H", "Cookie: ***"}},
		{[]string{"curl", "-H", "Accept: text/html"}, []string{"curl", "-H", "Accept: text/html"}},
		{[]string{"curl", "-HX-Api-Key: v"}, []string{"curl", "-HX-Api-Key: ***"}},
		{[]string{"mcp-proxy", "--headers", "Authorization", "Bearer hunter2", "http://h/"}, []string{"mcp-proxy", "--headers", "Authorization", "Bearer ***", "http://h/"}},
		{[]string{"mcp-proxy", "-H", "X-Api-Key", "hunter2", "http://h/"}, []string{"mcp-proxy", "-H", "X-Api-Key", "***", "http://h/"}},

		// URLs and connection strings
		{[]string{"x", "postgresql://u:p@h/db"}, []string{"x", "postgresql://***:***@h/db"}},
		{[]string{"x", "postgresql://u:p/w@h:5432/db"}, []string{"x", "postgresql://***:***@h:5432/db"}},
		{[]string{"x", "redis://:p@h:6379"}, []string{"x", "redis://:***@h:6379"}},
		{[]string{"x", "mongodb+srv://u:p@a,b/db?w=1"}, []string{"x", "mongodb+srv://***:***@a,b/db?w=1"}},
		{[]string{"x", "https://ghtoken@github.com/a/b"}, []string{"x", "https://***@github.com/a/b"}},
		{[]string{"uvx", "--from", "git+ssh://git@github.com/a/b.git@v1", "x"}, []string{"uvx", "--from", "git+ssh://git@github.com/a/b.git@v1", "x"}},
		{[]string{"x", "--url=https://h/sse?api_key=abc&x=1#f"}, []string{"x", "--url=https://h/sse?api_key=***&x=1#f"}},
		{[]string{"x", "https://h/sse?key=abc&code=d&state=e&sig=f&q=g"}, []string{"x", "https://h/sse?key=***&code=***&state=***&sig=***&q=g"}},
		{[]string{"x", "https://h/messages?sessionId=abc"}, []string{"x", "https://h/messages?sessionId=***"}},
		{[]string{"x", "https://h:8443/npm/@scope/pkg"}, []string{"x", "https://h:8443/npm/@scope/pkg"}},
		{[]string{"x", "http://[::1]:80/x@y"}, []string{"x", "http://[::1]:80/x@y"}},
		{[]string{"x", "file://C:/x@y"}, []string{"x", "file://C:/x@y"}},
		{[]string{"x", "jdbc:postgresql://h/db?user=u&password=p"}, []string{"x", "jdbc:postgresql://h/db?user=u&password=***"}},
		{[]string{"x", "Server=h;Uid=sa;Password=p w;Database=d"}, []string{"x", "Server=h;Uid=sa;Password=*** w;Database=d"}},
		{[]string{"x", "DefaultEndpointsProtocol=https;AccountName=n;AccountKey=abc+/==;EndpointSuffix=s"},
			[]string{"x", "DefaultEndpointsProtocol=https;AccountName=n;AccountKey=***;EndpointSuffix=s"}},

		// JSON
		{[]string{"x", "--config", `{"apiKey":"a","n":1,"nested":{"password" : "b"}}`}, []string{"x", "--config", `{"apiKey":"***","n":1,"nested":{"password" : "***"}}`}},
		{[]string{"x", `{"token":12345,"b":true}`}, []string{"x", `{"token":"***","b":true}`}},
		{[]string{"x", `--config={"credentials":{"user":"bob","list":["a",{"k":"v"}]},"z":"y"}`},
			[]string{"x", `--config={"credentials":{"user":"***","list":["***",{"k":"***"}]},"z":"y"}`}},
		{[]string{"x", `{"secrets":["a","b"],"z":"y"}`}, []string{"x", `{"secrets":["***","***"],"z":"y"}`}},
		{[]string{"x", `{"args":["--api-key","a","-v"]}`}, []string{"x", `{"args":["--api-key","***","-v"]}`}},
		{[]string{"x", `{"apiKey":"a\"b\\","c":"d"}`}, []string{"x", `{"apiKey":"***","c":"d"}`}},
		{[]string{"x", `{"text":"{\"apiKey\":\"a\\\"b\",\"c\":\"d\"}"}`}, []string{"x", `{"text":"{\"apiKey\":\"***\",\"c\":\"d\"}"}`}},
		{[]string{"x", `{"headers":{"Authorization":"Bearer abc"}}`}, []string{"x", `{"headers":{"Authorization":"Bearer ***"}}`}},
		{[]string{"x", `{"apiKey":"cut o`}, []string{"x", `{"apiKey":"***`}},
		{[]string{"x", `{"apiKey":null,"token":false,"secret":""}`}, []string{"x", `{"apiKey":null,"token":false,"secret":""}`}},

		// shell
		{[]string{"sh", "-c", "API_KEY=x node y"}, []string{"sh", "-c", "API_KEY=*** node y"}},
		{[]string{"bash", "-lc", "export TOKEN='a b'; node y --api-key \"c d\" z"}, []string{"bash", "-lc", "export TOKEN='***'; node y --api-key \"***\" z"}},
		{[]string{"sh", "-c", "curl -H 'Authorization: Bearer x' -H \"X-Api-Key: y\" z"}, []string{"sh", "-c", "curl -H 'Authorization: Bearer ***' -H \"X-Api-Key: ***\" z"}},
		{[]string{"sh", "-c", "API_KEY=$API_KEY node y"}, []string{"sh", "-c", "API_KEY=$API_KEY node y"}},
		{[]string{"sh", "-c", "API_KEY=$(cat /run/key) node y"}, []string{"sh", "-c", "API_KEY=*** node y"}},
		{[]string{"cmd", "/c", "set TOKEN=x&& npx y"}, []string{"cmd", "/c", "set TOKEN=***&& npx y"}},
		{[]string{"npx", "supergateway", "--stdio", "API_KEY=x npx y"}, []string{"npx", "supergateway", "--stdio", "API_KEY=*** npx y"}},
		{[]string{"sh", "-c", "--api-key", "x"}, []string{"sh", "-c", "--api-key", "***"}},

		// shapes, anywhere
		{[]string{"ghp_abcdefghij0123456789"}, []string{"***"}},
		{[]string{"x", "pre-ghp_abcdefghij0123456789/z"}, []string{"x", "pre-***/z"}},
		{[]string{"x", "--opt", "sk-ant-api03-abc_def"}, []string{"x", "--opt", "***"}},
		{[]string{"x", "--opt=sk-proj-abc0123456789"}, []string{"x", "--opt=***"}},

		// harmless
		{args("x --token-limit 5 --max-tokens 100 --keyboard us --monkey x"), args("x --token-limit 5 --max-tokens 100 --keyboard us --monkey x")},
		{args("x --tokenizer a --api-key-file f --secret-name n --auth-type t --author a --passthrough p"), args("x --tokenizer a --api-key-file f --secret-name n --auth-type t --author a --passthrough p")},
		{args("x --no-auth y --use-token z --cookie-jar j --primary-key k --pass-through t"), args("x --no-auth y --use-token z --cookie-jar j --primary-key k --pass-through t")},
		{args("node /a/token/server.js /opt/secret-tools/run ./password/index.js"), args("node /a/token/server.js /opt/secret-tools/run ./password/index.js")},
		{args("uvx --from token-counter==1.0 secret-santa-mcp"), args("uvx --from token-counter==1.0 secret-santa-mcp")},
		{args("npx -y @acme/token-server@1.2 --port 80 -p 8080:80"), args("npx -y @acme/token-server@1.2 --port 80 -p 8080:80")},
		{args("docker run -i img:tag@sha256:0123456789abcdef"), args("docker run -i img:tag@sha256:0123456789abcdef")},
		{args("x PWD=/home/x KEY=a key=b MAX_TOKENS=5 TOKENIZERS_PARALLELISM=false"), args("x PWD=/home/x KEY=a key=b MAX_TOKENS=5 TOKENIZERS_PARALLELISM=false")},
		{args("uvx sk-learn-mcp task-force-1234567890 disk-0123456789"), args("uvx sk-learn-mcp task-force-1234567890 disk-0123456789")},
		{nil, nil},
		{[]string{}, []string{}},
		{[]string{""}, []string{""}},
	}
	for _, tt := range tests {
		before := slices.Clone(tt.in)
		got := Command(tt.in)
		if !slices.Equal(got, tt.want) {
			t.Errorf("Command(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
		if !slices.Equal(tt.in, before) {
			t.Errorf("Command changed its argument to %q", tt.in)
		}
		if again := Command(got); !slices.Equal(again, got) {
			t.Errorf("Command again: %q, was %q", again, got)
		}
	}
}

func TestText(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"nothing to see", "nothing to see"},
		{"GET https://u:p@h/x?token=abc&y=1 failed", "GET https://***:***@h/x?token=***&y=1 failed"},
		{"see http://a/b, https://u:p@h.", "see http://a/b, https://***:***@h."},
		{"https://h/?next=https://u:p@i/", "https://h/?next=https://***:***@i/"},
		{"Authorization: Basic aHVudGVyMg==\r\nHost: h", "Authorization: Basic ***\r\nHost: h"},
		{"set-cookie: a=b; Path=/\nHost: h", "set-cookie: ***\nHost: h"},
		{"Mcp-Session-Id: abc", "Mcp-Session-Id: ***"},
		{"got Bearer abc.def, retrying", "got Bearer ***, retrying"},
		{"a Bearer token is required", "a Bearer token is required"},
		{`WWW-Authenticate: Bearer realm="x", error="invalid_token"`, `WWW-Authenticate: Bearer realm="x", error="invalid_token"`},
		{"API_KEY=abc, USER=bob", "API_KEY=***, USER=bob"},
		{"{password=abc}", "{password=***}"},
		{"api_key = abc\nname = bob", "api_key = ***\nname = bob"},
		{`api_key = "a b"`, `api_key = "***"`},
		{"password: hunter2", "password: ***"},
		{"Unexpected token: x", "Unexpected token: x"},
		{"github_token: abc", "github_token: ***"},
		{"run with --api-key abc --verbose", "run with --api-key *** --verbose"},
		{"usage: x [--token <token>] [--verbose]", "usage: x [--token <token>] [--verbose]"},
		{"{'api_key': 'abc', 'x': None, 'token': None}", "{'api_key': '***', 'x': None, 'token': None}"},
		{`{"properties":{"api_key":{"type":"string","description":"the key"}},"required":["api_key"]}`,
			`{"properties":{"api_key":{"type":"string","description":"the key"}},"required":["api_key"]}`},
		{`{"progressToken":"abc","nextPageToken":"def","issueKey":"PROJ-1","key":"k","usage":{"input_tokens":5}}`,
			`{"progressToken":"abc","nextPageToken":"def","issueKey":"PROJ-1","key":"k","usage":{"input_tokens":5}}`},
		{`{"content":[{"type":"text","text":"{\"access_token\":\"abc\",\"n\":{\"secret\":5}}"}]}`,
			`{"content":[{"type":"text","text":"{\"access_token\":\"***\",\"n\":{\"secret\":\"***\"}}"}]}`},
		{`{"log":"line\nghp_abcdefghij0123456789\nnext"}`, `{"log":"line\n***\nnext"}`},
		{`{"log":"TOKEN=abc\" and more"}`, `{"log":"TOKEN=***\" and more"}`},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nafter", "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nafter"},
		{"-----BEGIN PRIVATE KEY-----\nMIIE cut", "-----BEGIN PRIVATE KEY-----***"},
		{"-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----"},
		{"if token == other", "if token == other"},
		{"don't", "don't"},
		{"\xff\xfe token=\xff\xfe", "\xff\xfe token=***"},
	}
	for _, tt := range tests {
		got := Text(tt.in)
		if got != tt.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
		if again := Text(got); again != got {
			t.Errorf("Text again: %q, was %q", again, got)
		}
	}
}

// TestShapes has one token of each shape, none of them real, in a sentence.
func TestShapes(t *testing.T) {
	filler := "0123456789abcdefABCDEF0123456789abcdefABCD"
	tokens := []string{
		"eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl", "eyJhbGciOi.a.b.c.d",
		"sk-" + filler, "sk-ant-api03-" + filler, "sk-" + strings.Repeat("a", 40),
		"ghp_" + filler, "gho_" + filler, "ghs_" + filler, "github_pat_11A_" + filler, "glpat-" + filler,
		"xoxb-12-34-abc", "xoxp-12-34-abc", "xoxa-2-abcd", "xoxr-abcd", "xoxs-abcd", "xapp-1-abc",
		"AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "npm_" + filler, "pypi-AgEIcHlwaS5vcmc" + filler,
		"hf_" + filler, "AIza" + filler, "ya29.a0" + filler, "GOCSPX-" + filler,
		"sk_live_" + filler, "rk_test_" + filler, "whsec_" + filler,
		"SG." + filler + "." + filler, "123456789:AA" + filler,
		"lin_api_" + filler, "ntn_" + filler, "secret_" + filler,
		"pplx-" + filler, "gsk_" + filler, "tvly-" + filler, "xai-" + filler, "shpat_" + filler,
	}
	for _, token := range tokens {
		for _, around := range []string{"%", "see % here", `"%"`, "x=%;", "(%)", "_%"} {
			in := strings.Replace(around, "%", token, 1)
			want := strings.Replace(around, "%", Mask, 1)
			if got := Text(in); got != want {
				t.Errorf("Text(%q) = %q, want %q", in, got, want)
			}
		}
	}
	for _, hook := range []string{
		"https://hooks.slack.com/services/T0/B0/abc", "https://discord.com/api/webhooks/12/abc", "https://mcp.zapier.com/api/mcp/s/abc/mcp",
	} {
		if got := Text(hook); strings.Contains(got, "abc") || !strings.Contains(got, Mask) {
			t.Errorf("Text(%q) = %q", hook, got)
		}
	}
}

func TestNames(t *testing.T) {
	secret := []string{
		"token", "TOKEN", "Token2", "githubToken", "GITHUB_TOKEN", "GITHUBTOKEN", "api_key", "apiKey", "APIKey", "APIkey", "x-api-key",
		"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "client_secret", "clientSecret", "password", "dbPassword", "DB_PASS", "passwd",
		"PGPASSWORD", "private_key", "auth", "PROXY_AUTH", "authorization", "jwt", "GITHUB_PAT", "credentials", "session_cookie",
		"VAULT_SECRET_ID", "OPENAI_KEY", "refresh_token", "code_verifier", "_authToken", "INPUT_TOKEN", "AUTH_HEADER",
	}
	harmless := []string{
		"", "key", "KEY", "issueKey", "primaryKey", "monkey", "keyboard", "tokenizer", "tokens", "max_tokens", "input_tokens",
		"token_limit", "tokenCount", "token_type", "tokenExpiresAt", "expires_in", "progressToken", "next_page_token", "author", "authority",
		"auth0_domain", "oauth_url", "compass", "bypass", "pattern", "passive", "secretary", "cookie_jar", "TOKEN_FILE", "PASSWORD_FILE",
		"NO_AUTH", "JWT_ALGORITHM", "public_key", "SSH_HOST_KEY", "PWD", "authorization_servers", "--", "123", "é",
	}
	d := data()
	for _, name := range secret {
		if !d.secretName(name) {
			t.Errorf("%q is not taken for a secret", name)
		}
	}
	for _, name := range harmless {
		if d.secretName(name) {
			t.Errorf("%q is taken for a secret", name)
		}
	}
}

func TestData(t *testing.T) {
	d, err := parse(secretsJSON)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse(time.DateOnly, d.AsOf); err != nil {
		t.Error(err)
	}
	for _, words := range []set{d.Words, d.LastWords, d.HarmlessFirst, d.HarmlessLast, d.HarmlessValues, d.Query, d.Headers, d.ColonNames, d.Schemes,
		d.HTTP.CredentialHeaders, d.HTTP.ChallengeHeaders, d.HTTP.URLHeaders, d.HTTP.ArgumentHeaders, d.HTTP.CookieAttributes,
		d.HTTP.Query, d.HTTP.HarmlessFields, d.HTTP.PrivateKeyMembers,
	} {
		if len(words) == 0 {
			t.Error("an empty list")
		}
		for word := range words {
			if word != strings.ToLower(word) {
				t.Errorf("%q is not in lower case", word)
			}
		}
	}
	for word := range d.Words {
		if d.HarmlessLast[word] || d.HarmlessFirst[word] {
			t.Errorf("%q is secret and harmless", word)
		}
		if len(splitName(word)) != 1 {
			t.Errorf("%q is not one word", word)
		}
	}
	for _, phrase := range slices.Concat(d.Phrases, d.HarmlessPhrases) {
		if words := splitName(phrase); len(words) < 2 || strings.Join(words, " ") != phrase {
			t.Errorf("%q is no phrase", phrase)
		}
	}
	for _, pattern := range d.References {
		if !strings.HasPrefix(pattern, "^") || !strings.HasSuffix(pattern, "$") {
			t.Errorf("%q does not cover the whole value", pattern)
		}
	}
	d.referencePattern()
	names := map[string]bool{}
	for _, s := range d.Shapes {
		if s.Name == "" || names[s.Name] || len(s.Literals) == 0 {
			t.Errorf("shape %q has no name, no literal or a twin", s.Name)
		}
		names[s.Name] = true
		s.compile()
		if regexp.MustCompile(s.Pattern).MatchString("") || regexp.MustCompile(s.Pattern).MatchString(Mask) {
			t.Errorf("shape %q matches nothing or the mask", s.Name)
		}
	}
}

// TestLinear feeds texts that a careless scanner takes quadratic time for.
func TestLinear(t *testing.T) {
	const n = 1 << 19
	for _, unit := range []string{
		"://", "a://b:", "a://b:c@", "-", "--", "--token ", "--env=", `"`, `\"`, `\`, "'", "=", "a=", "token=", "token=\"", `"token":`, `"token":"`, `"token":[`,
		"token: ", "authorization: ", "authorization: Bearer", "Bearer ", "eyJa.", "-----BEGIN PRIVATE KEY-----", "sk-", "a", " ", "[", "{", "${", "-H", "x@", "?key=", "token=$( ", "$(", "a: ", "--a ",
	} {
		s := strings.Repeat(unit, n/len(unit))
		start := time.Now()
		got := Command([]string{s, "-e", s, "-H", s, "sh", "-c", s})
		if again := Command(got); !slices.Equal(again, got) {
			t.Errorf("%q many times is not stable", unit)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%q many times took %v", unit, took)
		}
	}
}

func FuzzCommand(f *testing.F) {
	for _, seed := range []string{
		"docker\x00run\x00-e\x00A=b\x00img", "sh\x00-c\x00API_KEY='a b' node --token \"x\" y", "x\x00--header\x00Authorization: Bearer x",
		`x` + "\x00" + `{"a":"{\"token\":\"x\"}","secrets":[1,"b"]}`, "x\x00postgres://u:p/q@h\x00--env=A=b\x00-eB=c\x00-ie\x00D=e",
		"mcp-proxy\x00-e\x00A\x00b\x00-H\x00Cookie\x00c", "ghp_abcdefghijk\x00-----BEGIN PRIVATE KEY-----x token=\"", "--token\x00--x\x00-c\x00/c",
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(3))
	}
	f.Fuzz(func(t *testing.T, line string, at uint8) {
		argv := strings.Split(line, "\x00")
		i := int(at) % (len(argv) + 1)
		argv = slices.Insert(argv, i, "--api-key", "SECRETVALUE")
		got := Command(argv)
		if len(got) != len(argv) {
			t.Fatalf("%d arguments became %d", len(argv), len(got))
		}
		if got[i+1] != Mask {
			t.Errorf("--api-key %s became %s %s", argv[i+1], got[i], got[i+1])
		}
		if again := Command(got); !slices.Equal(again, got) {
			t.Errorf("not stable:\n in %q\n got %q\nthen %q", argv, got, again)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"GET https://u:p@h/x?token=abc&y=1", `{"a":"{\"token\":\"x\"}","secrets":[1,"b"]}`, "Authorization: Basic a\nCookie: b",
		"api_key = 'a' --token x y:z", "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----", "Bearer x eyJabcde.fghij.k sk-abcd12345678",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if again := Text(got); again != got {
			t.Errorf("not stable:\n in %q\n got %q\nthen %q", s, got, again)
		}
		if got := Text(s + "\nAPI_KEY=SECRETVALUE"); strings.Contains(got, "SECRETVALUE") && !strings.Contains(s, "SECRETVALUE") {
			t.Errorf("survived in %q", got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search_tickets","arguments":{"query":"login at https://h/x?y=z"}}}`+"\n", 100)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}

func BenchmarkCommand(b *testing.B) {
	argv := []string{"docker", "run", "-i", "--rm", "-e", "GITHUB_TOKEN=x", "images.example/github/github-mcp-server"}
	for b.Loop() {
		Command(argv)
	}
}

// TestStable masks random texts made of what matters to the scanner, which
// random bytes seldom hit upon, and masks them again.
func TestStable(t *testing.T) {
	pieces := []string{
		"token", "api_key", "key", "x", "Authorization", "Cookie", "--token", "-e", "-H", "-c", "--env", "A", "abc", "7", "none", "${A}", "$A_B", Mask,
		"=", "==", ":", ": ", " ", "\n", `"`, `\"`, `\\\"`, `\`, "'", ",", ", ", "{", "}", "[", "]", "(", ")", ".", ";", "&", "?", "#", "<", ">", "|", "@", "/", "://", "-", "--", "_",
		"Bearer ", "Basic ", "ghp_abcd1234", "sk-abcd12345678", "eyJabcd.efgh.ij", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "http", "u:p@h", "mcp-proxy",
	}
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 100_000 {
		s := text()
		once := Text(s)
		if twice := Text(once); twice != once {
			t.Fatalf("not stable:\n  in %q\n got %q\nthen %q", s, once, twice)
		}
		argv := []string{text(), text(), text(), text()}
		got := Command(argv)
		if again := Command(got); !slices.Equal(again, got) {
			t.Fatalf("not stable:\n  in %q\n got %q\nthen %q", argv, got, again)
		}
	}
}
