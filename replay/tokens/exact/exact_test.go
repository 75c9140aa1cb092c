package exact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcptap/mcptap/replay/tokens"
)

const key = "sk-ant-not-a-real-key-0123456789"

// api stands in for Anthropic: it checks what the documentation asks for, and counts
// by the length of what it gets.
type api struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
	before func(n int, w http.ResponseWriter, r *http.Request) bool // true: it has answered
}

func newAPI(t testing.TB, before func(n int, w http.ResponseWriter, r *http.Request) bool) *api {
	a := &api{before: before}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func fail(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("request-id", "req_1")
	w.WriteHeader(status)
	b, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
	_, _ = w.Write(b)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.bodies = append(a.bodies, body)
	n := len(a.bodies)
	a.mu.Unlock()
	if a.before != nil && a.before(n, w, r) {
		return
	}
	var in struct {
		Model    string
		Messages []json.RawMessage
		System   json.RawMessage
		Tools    []json.RawMessage
	}
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages/count_tokens":
		fail(w, 404, "not_found_error", "no such page")
	case r.Header.Get("anthropic-version") != "2023-06-01" || r.Header.Get("content-type") != "application/json":
		fail(w, 400, "invalid_request_error", "headers")
	case r.Header.Get("x-api-key") != key && r.Header.Get("authorization") != "Bearer "+key:
		fail(w, 401, "authentication_error", "invalid x-api-key")
	case json.Unmarshal(body, &in) != nil || in.Model == "" || len(in.Messages) == 0:
		fail(w, 400, "invalid_request_error", "messages: at least one message is required")
	default:
		fmt.Fprintf(w, `{"input_tokens": %d}`, counted(in.System, in.Messages, in.Tools))
	}
}

// counted is 7 for a message, 290 for having tools, and a token for four bytes.
func counted(system json.RawMessage, messages, tools []json.RawMessage) int {
	n := 7*len(messages) + len(system)/4
	if len(tools) > 0 {
		n += 290
	}
	for _, t := range tools {
		n += len(t) / 4
	}
	return n
}

func tools() []tokens.Tool {
	return []tokens.Tool{
		{Name: "mcp__t__search", Description: "Search <all> tickets & comments.", InputSchema: []byte(`{"type": "object", "properties": {"query": {"type": "string"}}}`)},
		{Name: "mcp__t__comment", Description: "Comment on a ticket.", InputSchema: []byte(`{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"}}}`)},
		{Name: "mcp__t__now", InputSchema: nil},
	}
}

const model = "claude-opus-5-5"

func client(t testing.TB, o Options) *Client {
	t.Helper()
	if o.Key == "" && o.Token == "" {
		o.Key = key
	}
	if o.Wait == nil {
		o.Wait = func(context.Context, time.Duration) error { return nil }
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCountList(t *testing.T) {
	a := newAPI(t, nil)
	c := client(t, Options{BaseURL: a.URL + "/", Cache: Dir(filepath.Join(t.TempDir(), "counts"))})
	p, err := c.PlanList(model, tools())
	if err != nil {
		t.Fatal(err)
	}
	if len(a.bodies) != 0 {
		t.Fatal("planning has sent something")
	}
	if p.Requests != 5 || p.Known != 0 || p.Host != strings.TrimPrefix(a.URL, "http://") {
		t.Errorf("%+v", p)
	}
	if s := p.String(); !strings.HasPrefix(s, "5 requests, 1.") || !strings.HasSuffix(s, p.Host+": names, descriptions and input schemas of 3 tools") {
		t.Error(s)
	}
	var progress []int
	n, err := c.CountList(t.Context(), p, func(done, of int) { progress = append(progress, done, of) })
	if err != nil {
		t.Fatal(err)
	}
	var sent int64
	for _, b := range a.bodies {
		sent += int64(len(b))
	}
	if sent != p.Bytes || len(a.bodies) != p.Requests {
		t.Errorf("%d bytes in %d requests were sent, planned %+v", sent, len(a.bodies), p)
	}
	if !slices.Equal(progress, []int{1, 5, 2, 5, 3, 5, 4, 5, 5, 5}) {
		t.Errorf("progress was %v", progress)
	}
	entries, _ := encode(tools())
	for i, e := range entries {
		if n.Tools[i] != len(e)/4 || n.Tool(i).String() != fmt.Sprint(len(e)/4) {
			t.Errorf("tool %d is %v, want %d", i, n.Tool(i), len(e)/4)
		}
	}
	if n.None != 7 || n.Preamble().String() != "290" || n.Rent().Basis() != tokens.Counted || n.NotKept != nil {
		t.Errorf("%+v", n)
	}

	again, err := c.PlanList(model, tools())
	if err != nil || again.Requests != 0 || again.Bytes != 0 || again.Known != 5 || !strings.HasSuffix(again.String(), "(5 answers are known from before)") {
		t.Errorf("again: %v, %v", again, err)
	}
	m, err := c.CountList(t.Context(), again, nil)
	if err != nil || !slices.Equal(m.Tools, n.Tools) || len(a.bodies) != 5 {
		t.Errorf("again: %+v, %v, %d sent", m, err, len(a.bodies))
	}
	if other, err := c.PlanList("claude-opus-5", tools()); err != nil || other.Requests != 5 {
		t.Errorf("another model: %v, %v", other, err)
	}
	elsewhere := client(t, Options{BaseURL: newAPI(t, nil).URL, Cache: c.o.Cache})
	if other, err := elsewhere.PlanList(model, tools()); err != nil || other.Requests != 5 {
		t.Errorf("another host: %v, %v", other, err)
	}
	if run, err := c.CountList(t.Context(), p, nil); err != nil || len(a.bodies) != 5 || run.All != n.All {
		t.Errorf("a plan run twice: %v, %d sent", err, len(a.bodies))
	}
}

// TestBodies: what is sent is what the API documents, and schemas go as they came.
func TestBodies(t *testing.T) {
	a := newAPI(t, nil)
	c := client(t, Options{BaseURL: a.URL})
	p, err := c.PlanList(model, tools())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CountList(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	search := `{"name":"mcp__t__search","description":"Search <all> tickets & comments.","input_schema":{"type":"object","properties":{"query":{"type":"string"}}}}`
	comment := `{"name":"mcp__t__comment","description":"Comment on a ticket.","input_schema":{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"}}}}`
	now := `{"name":"mcp__t__now","input_schema":{"type":"object"}}`
	for i, tools := range []string{"", search + "," + comment + "," + now, comment + "," + now, search + "," + now, search + "," + comment} {
		want := `{"model":"claude-opus-5-5","messages":[{"role":"user","content":"."}]`
		if tools != "" {
			want += `,"tools":[` + tools + `]`
		}
		if got := string(a.bodies[i]); got != want+"}" {
			t.Errorf("request %d\ngot  %s\nwant %s}", i, got, want)
		}
	}
}

func TestOneTool(t *testing.T) {
	a := newAPI(t, nil)
	c := client(t, Options{BaseURL: a.URL, Token: key})
	p, err := c.PlanList(model, tools()[:1])
	if err != nil || p.Requests != 2 {
		t.Fatalf("%v, %v", p, err)
	}
	n, err := c.CountList(t.Context(), p, nil)
	if err != nil || n.Tools[0] != n.All-n.None || !n.Preamble().IsZero() {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := n.Fit(estimator(t)); err == nil {
		t.Error("a single tool calibrates")
	}
}

func estimator(t *testing.T) *tokens.Estimator {
	m, err := tokens.Default().Model(model)
	if err != nil {
		t.Fatal(err)
	}
	return tokens.Default().Estimator(m)
}

func TestFit(t *testing.T) {
	a := newAPI(t, nil)
	c := client(t, Options{BaseURL: a.URL})
	p, _ := c.PlanList(model, tools())
	n, err := c.CountList(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := estimator(t)
	f, err := n.Fit(e)
	if err != nil || f.Samples != 3 || f.Tokens != n.Tools[0]+n.Tools[1]+n.Tools[2] {
		t.Fatalf("%+v, %v", f, err)
	}
	_, sum := e.Calibrated(f).List(tools())
	if _, mid, _ := sum.Bounds(); int(mid+0.5) != f.Tokens {
		t.Errorf("calibrated, the list is %v, counted %d", sum, f.Tokens)
	}
}

// answers is a script of bad answers; the request after the last one is answered well.
func answers(all ...func(http.ResponseWriter)) func(int, http.ResponseWriter, *http.Request) bool {
	return func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n > len(all) {
			return false
		}
		all[n-1](w)
		return true
	}
}

func status(code int, kind, message, after string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if after != "" {
			w.Header().Set("retry-after", after)
		}
		fail(w, code, kind, message)
	}
}

func raw(body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = io.WriteString(w, body) }
}

func countOne(t *testing.T, a *api, o Options) (waits []time.Duration, err error) {
	t.Helper()
	o.BaseURL = a.URL
	o.Now = func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	o.Wait = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	c := client(t, o)
	p, err := c.PlanList(model, tools()[:1])
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CountList(t.Context(), p, nil)
	if err != nil && strings.Contains(err.Error(), key) {
		t.Errorf("the key is in %q", err)
	}
	return waits, err
}

func TestBusy(t *testing.T) {
	limited := func(after string) func(http.ResponseWriter) {
		return status(429, "rate_limit_error", "slow down", after)
	}
	overloaded := status(529, "overloaded_error", "Overloaded", "")
	for _, c := range []struct {
		name    string
		answers []func(http.ResponseWriter)
		waits   []time.Duration
		want    string // in the error; empty: it works out
	}{
		{"seconds", []func(http.ResponseWriter){limited("7")}, []time.Duration{7 * time.Second}, ""},
		{"a date", []func(http.ResponseWriter){limited("Mon, 30 Nov 2026 12:00:30 GMT")}, []time.Duration{30 * time.Second}, ""},
		{"nonsense", []func(http.ResponseWriter){limited("soon"), limited("-4"), limited("NaN")}, []time.Duration{1e9, 2e9, 4e9}, ""},
		{"overloaded", []func(http.ResponseWriter){overloaded, overloaded}, []time.Duration{1e9, 2e9}, ""},
		{"a gateway", []func(http.ResponseWriter){func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway); _, _ = io.WriteString(w, "<html>") }}, []time.Duration{1e9}, ""},
		{"too often", []func(http.ResponseWriter){overloaded, overloaded, overloaded, overloaded}, []time.Duration{1e9, 2e9, 4e9}, "529 overloaded_error: Overloaded (request req_1); try again later"},
		{"too long", []func(http.ResponseWriter){limited("3600")}, nil, "429 rate_limit_error: slow down (request req_1); try again in 1h0m0s"},
		{"for ever", []func(http.ResponseWriter){limited("1e300"), limited("1e300"), limited("Infinity"), limited("9e999")}, []time.Duration{1e9, 2e9, 4e9}, "try again later"},
	} {
		waits, err := countOne(t, newAPI(t, answers(c.answers...)), Options{})
		if !slices.Equal(waits, c.waits) {
			t.Errorf("%s: waited %v, want %v", c.name, waits, c.waits)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter)
		want   string
	}{
		{"wrong key", status(401, "authentication_error", "invalid x-api-key "+key, ""), "401 authentication_error: invalid x-api-key [secret] (request req_1); check the API key"},
		{"no permission", status(403, "permission_error", "no", ""), "403 permission_error: no (request req_1); check the API key"},
		{"no such model", status(404, "not_found_error", "model: x", ""), "check the model's id"},
		{"deferred tools", status(400, "invalid_request_error", "tools.0: defer_loading is not supported", ""), "400 invalid_request_error: tools.0: defer_loading is not supported"},
		{"terminal control", status(400, "a\x1b[2J", "b\r\nc\u202ed\x07", ""), "400 a [2J: b  c d (request"},
		{"a long message", status(400, "x", strings.Repeat("long ", 1000), ""), "…"},
		{"no JSON", raw("<html>"), "not of the form"},
		{"broken JSON", raw(`{"input_tokens": 4`), "not of the form"},
		{"another JSON", raw(`{"tokens": 4}`), "not of the form"},
		{"a list", raw(`[4]`), "not of the form"},
		{"null", raw(`{"input_tokens": null}`), "not of the form"},
		{"a fraction", raw(`{"input_tokens": 4.5}`), "not of the form"},
		{"fewer than none", raw(`{"input_tokens": -4}`), "can't be"},
		{"none at all", raw(`{"input_tokens": 0}`), "can't be"},
		{"far too many", raw(`{"input_tokens": 99999999999}`), "can't be"},
		{"a huge body", raw(`{"input_tokens": 4` + strings.Repeat(" ", maxAnswer) + "}"), "over 1 MiB"},
		{"a huge error", func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, strings.Repeat("x", 4*maxAnswer))
		}, "the server answered 400"},
		{"a body cut short", func(w http.ResponseWriter) {
			w.Header().Set("content-length", "1000")
			_, _ = io.WriteString(w, `{"input_tokens": 4}`)
		}, "broke off"},
	} {
		waits, err := countOne(t, newAPI(t, answers(c.answer)), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 600 {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
			continue
		}
		if len(waits) > 0 {
			t.Errorf("%s: it was tried again", c.name)
		}
		if !strings.HasPrefix(err.Error(), "counting tokens of a request without tools for claude-opus-5-5 at 127.0.0.1:") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestStatusIsTold(t *testing.T) {
	_, err := countOne(t, newAPI(t, answers(status(401, "authentication_error", "no", ""))), Options{})
	var e *Error
	if !errors.As(err, &e) || e.Status != 401 || e.Type != "authentication_error" {
		t.Errorf("%v", err)
	}
}

func TestContradiction(t *testing.T) {
	a := newAPI(t, answers(raw(`{"input_tokens": 100}`), raw(`{"input_tokens": 50}`)))
	if _, err := countOne(t, a, Options{}); err == nil || !strings.Contains(err.Error(), "contradict") {
		t.Error(err)
	}
}

// TestRedirect: the key does not follow one.
func TestRedirect(t *testing.T) {
	elsewhere := newAPI(t, nil)
	a := newAPI(t, func(_ int, w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		return true
	})
	_, err := countOne(t, a, Options{HTTP: &http.Client{}})
	if err == nil || !strings.Contains(err.Error(), "307; redirects are not followed") || len(elsewhere.bodies) > 0 {
		t.Errorf("%v, and %d requests came elsewhere", err, len(elsewhere.bodies))
	}
}

func TestCancelHang(t *testing.T) {
	arrived := make(chan struct{})
	a := newAPI(t, func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		close(arrived)
		<-r.Context().Done()
		return true
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	c := client(t, Options{BaseURL: a.URL})
	p, _ := c.PlanList(model, tools())
	if _, err := c.CountList(ctx, p, nil); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), key) {
		t.Errorf("%v", err)
	}
}

// TestCancelWait: who stops waiting keeps what was counted.
func TestCancelWait(t *testing.T) {
	a := newAPI(t, func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n == 3 {
			status(529, "overloaded_error", "", "")(w)
		}
		return n == 3
	})
	ctx, cancel := context.WithCancel(t.Context())
	dir := Dir(t.TempDir())
	c := client(t, Options{BaseURL: a.URL, Cache: dir, Wait: func(ctx context.Context, _ time.Duration) error { cancel(); return sleep(ctx, time.Hour) }})
	p, _ := c.PlanList(model, tools())
	if _, err := c.CountList(ctx, p, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if p, _ = c.PlanList(model, tools()); p.Known != 2 || p.Requests != 3 {
		t.Errorf("afterwards: %v", p)
	}
	if err := sleep(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "no API key"},
		{Options{Key: " \n"}, "no API key"},
		{Options{Key: key, Token: key}, "both"},
		{Options{Key: key + "\nx-evil: 1"}, "copy it again"},
		{Options{Key: key + "é"}, "copy it again"},
		{Options{Key: key, BaseURL: "http://example.com"}, "without encryption"},
		{Options{Key: key, BaseURL: "http://127.0.0.1.example.com"}, "without encryption"},
		{Options{Key: key, BaseURL: "ftp://example.com"}, "no address"},
		{Options{Key: key, BaseURL: "example.com"}, "no address"},
		{Options{Key: key, BaseURL: "https://"}, "no address"},
		{Options{Key: key, BaseURL: "https://u:" + key + "@example.com"}, "holds a user"},
		{Options{Key: key, BaseURL: "https://example.com?a=b"}, "a query"},
		{Options{Key: key, BaseURL: ":" + key}, "no address"},
	} {
		_, err := New(c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	for base, want := range map[string]string{
		"": "https://api.anthropic.com/v1/messages/count_tokens", "https://gw.example/anthropic/": "https://gw.example/anthropic/v1/messages/count_tokens",
		"http://localhost:8080": "http://localhost:8080/v1/messages/count_tokens", "http://[::1]:8080": "http://[::1]:8080/v1/messages/count_tokens",
	} {
		if c, err := New(Options{Key: key, BaseURL: base}); err != nil || c.url != want {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestSecret(t *testing.T) {
	o := Options{Key: key, Token: key}
	b, err := json.Marshal(struct{ Key, Token Secret }{key, key})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprint(o), fmt.Sprintf("%+v %#v %s %q %x %d", o, o, o.Key, o.Key, o.Key, o.Key), string(b)} {
		if strings.Contains(s, key) || strings.Contains(s, fmt.Sprintf("%x", key)) || !strings.Contains(s, mask) {
			t.Error(s)
		}
	}
	c := client(t, Options{Key: key})
	if s := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(s, key) {
		t.Error(s)
	}
}

func TestPlanRefuses(t *testing.T) {
	c := client(t, Options{})
	twice := append(tools(), tools()[0])
	broken := []tokens.Tool{{Name: "x", InputSchema: []byte(`{"type":`)}}
	big := []tokens.Tool{{Name: "x", Description: strings.Repeat("x", maxBody)}}
	for want, list := range map[string][]tokens.Tool{"at least one": nil, "there twice": twice, "no JSON": broken, "the API takes 32 MiB": big} {
		if _, err := c.PlanList(model, list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := c.PlanList("", tools()); err == nil {
		t.Error("a plan for no model")
	}
}

func TestRequest(t *testing.T) {
	a := newAPI(t, nil)
	c := client(t, Options{BaseURL: a.URL})
	message := `[{"role":"user","content":"hi"}]`
	p, err := c.PlanRequest(&Request{Model: model, System: []byte(`"be brief"`), Messages: []byte(message)})
	if err != nil || p.Requests != 1 {
		t.Fatalf("%v, %v", p, err)
	}
	n, kept, err := c.CountRequest(t.Context(), p)
	if err != nil || kept != nil || n.String() != "9" || n.Basis() != tokens.Counted {
		t.Errorf("%v, %v, %v", n, kept, err)
	}
	if want := `{"model":"claude-opus-5-5","system":"be brief","messages":[{"role":"user","content":"hi"}]}`; string(a.bodies[0]) != want {
		t.Errorf("got %s", a.bodies[0])
	}

	for _, c2 := range []struct {
		r           Request
		want        string
		unsupported bool
	}{
		{Request{Tools: []byte(`[{"type":"tool_search_tool_bm25_20251119","name":"s"}]`)}, "tool_search_tool_bm25", true},
		{Request{Tools: []byte(`[{"type":"custom","name":"a"},{"type":"mcp_toolset"}]`)}, "mcp_toolset", true},
		{Request{Tools: []byte(`[{"name":"a","defer_loading":true}]`)}, `the deferred tool "a"`, true},
		{Request{Messages: []byte(`[{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}]`)}, "type image with a source of type url", true},
		{Request{Messages: []byte(`[{"role":"user","content":[{"type":"tool_result","content":[{"type":"document","source":{"type":"file"}}]}]}]`)}, "type document", true},
		{Request{Messages: []byte(`{}`)}, "no list of messages", false},
		{Request{Tools: []byte(`{}`)}, "no list of tools", false},
		{Request{Messages: []byte(`[`)}, "no list of messages", false},
		{Request{System: []byte(`{`)}, "no JSON", false},
	} {
		if c2.r.Messages == nil {
			c2.r.Messages = []byte(message)
		}
		c2.r.Model = model
		_, err := c.PlanRequest(&c2.r)
		var u *UnsupportedError
		if err == nil || !strings.Contains(err.Error(), c2.want) || errors.As(err, &u) != c2.unsupported {
			t.Errorf("%v, want %q", err, c2.want)
		}
	}
	if _, err := c.PlanRequest(&Request{Model: model}); err == nil {
		t.Error("a request without messages")
	}
	if len(a.bodies) != 1 {
		t.Errorf("%d were sent", len(a.bodies))
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"input_tokens": 403}`))
	f.Add([]byte(`{"input_tokens": -1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := read(b); err == nil && n < 0 {
			t.Errorf("%q gives %d", b, n)
		}
		if d := retryAfter(string(b), time.Unix(0, 0)); d < 0 {
			t.Errorf("%q waits %v", b, d)
		}
	})
}

func TestDir(t *testing.T) {
	parent := t.TempDir()
	d := Dir(filepath.Join(parent, "a", "counts"))
	hash := strings.Repeat("ab", 32)
	if _, ok := d.Load(hash); ok {
		t.Error("an answer from nowhere")
	}
	if _, err := os.Stat(string(d)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("looking made the folder")
	}
	if err := errors.Join(d.Store(hash, 403), d.Store(hash, 404)); err != nil {
		t.Fatal(err)
	}
	if n, ok := d.Load(hash); !ok || n != 404 {
		t.Errorf("%d, %v", n, ok)
	}
	file := filepath.Join(string(d), hash+".json")
	for path, want := range map[string]fs.FileMode{string(d): 0o700, file: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if left, _ := os.ReadDir(string(d)); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
	for _, bad := range []string{"", "{", "[]", `{"input_tokens":-1}`, `{"input_tokens":null}`, strings.Repeat(" ", 2000) + `{"input_tokens":1}`} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, ok := d.Load(hash); ok {
			t.Errorf("%q gives %d", bad, n)
		}
	}
	for _, key := range []string{"", "../../x", strings.Repeat("ab", 31) + "/x", hash + "00"} {
		if err := d.Store(key, 1); err == nil || !strings.Contains(err.Error(), "asked for again") {
			t.Errorf("%q: %v", key, err)
		}
		if _, ok := d.Load(key); ok {
			t.Errorf("%q gives something", key)
		}
	}
}

// TestNotKept: a cache that can't be written is no reason to fail.
func TestNotKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a-file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := newAPI(t, nil)
	c := client(t, Options{BaseURL: a.URL, Cache: Dir(filepath.Join(file, "counts"))})
	p, _ := c.PlanList(model, tools())
	n, err := c.CountList(t.Context(), p, nil)
	if err != nil || n.NotKept == nil || n.Preamble().String() != "290" {
		t.Errorf("%+v, %v", n, err)
	}
}
