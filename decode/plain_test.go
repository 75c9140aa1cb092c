package decode

import "testing"

func TestPlainError(t *testing.T) {
	for said, want := range map[string]string{
		"":                                     "",
		"the answer broke off: unexpected EOF": "the answer broke off: the connection ended in the middle",
		"EOF; the tap answered 502 in the server's place":                                         "the connection was closed; the tap answered 502 in the server's place",
		`net/http: HTTP/1.x transport connection broken: malformed HTTP response "\x00"`:          `malformed HTTP response "\x00"`,
		"dial tcp 127.0.0.1:1: connect: connection refused":                                       "127.0.0.1:1 refused the connection",
		"dial tcp: lookup no.example on 127.0.0.53:53: no such host":                              "the name no.example is not known",
		"read tcp 127.0.0.1:40000->127.0.0.1:80: read: connection reset by peer":                  "the connection was reset",
		"the gzip encoding of the body: decoding the body: gzip: invalid checksum":                "the gzip encoding of the body: the checksum is wrong",
		"the br encoding of the body: the encoded body was cut off":                               "the br encoding of the body: it was cut off",
		"the gzip encoding of the body: there are bytes after the end of the encoded body":        "the gzip encoding of the body: there are bytes after the end of the encoded body",
		"tls: failed to verify certificate: x509: certificate signed by unknown authority: GEOFF": "tls: failed to verify certificate: x509: certificate signed by unknown authority: GEOFF",
	} {
		if got := PlainError(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
