package httptap

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestOnlyAnEndpointOnTheServerIsReplaced(t *testing.T) {
	m, err := NewMapping("http://127.0.0.1:8080", "https://up.example")
	if err != nil {
		t.Fatal(err)
	}
	const own, ours = "https://up.example/m?s=1", "http://127.0.0.1:8080/m?s=1"
	for stream, want := range map[string]string{
		"event: endpoint\ndata: " + own + "\n\ndata: " + own + "\n\n":                 "event: endpoint\ndata: " + ours + "\n\ndata: " + own + "\n\n",
		": ok\r\n\r\nevent:endpoint\r\nid: 1\r\ndata:" + own + "\r\n\r\n":             ": ok\r\n\r\nevent:endpoint\r\nid: 1\r\ndata:" + ours + "\r\n\r\n",
		"\ufeffevent: endpoint\rdata: " + own + "\r\r":                                "\ufeffevent: endpoint\rdata: " + ours + "\r\r",
		"event: endpoint\ndata: /m?s=1\n\n":                                           "",
		"event: endpoint\ndata: https://else.example/m\n\n":                           "",
		"event: message\ndata: " + own + "\n\nevent: endpoint\ndata: " + own + "\n\n": "",
		"data: " + own + "\n\n":                                                       "",
		"event: endpoint\ndata: " + own:                                               "",
		"event: endpoint\n: x\nda":                                                    "",
		strings.Repeat("x", 2*maxEndpoint):                                            "",
		"event: endpoint\ndata: " + strings.Repeat("x", 2*maxEndpoint) + "\n\n":       "",
		"": "",
	} {
		if want == "" {
			want = stream
		}
		for name, cut := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "at once": iotest.DataErrReader} {
			r := &endpointReader{ReadCloser: io.NopCloser(cut(strings.NewReader(stream))), replace: func(s string) string { to, _ := m.Endpoint(s); return to }}
			got, err := io.ReadAll(r)
			if string(got) != want || err != nil {
				t.Errorf("%s: %.80q\ngot  %.80q, %v\nwant %.80q", name, stream, got, err, want)
			}
		}
	}
}
