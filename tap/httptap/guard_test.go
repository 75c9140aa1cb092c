package httptap

import "testing"

func TestGuard(t *testing.T) {
	g := &guard{hosts: []string{"host.docker.internal"}, origins: []string{"https://inspector.example"}}
	for host, want := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:1": true, "LOCALHOST": true, "[::1]:80": true, "127.9.9.9": true, "app.localhost:3": true, "localhost.": true,
		"evil.example": false, "evil.example:8080": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "10.0.0.1": false, "": false,
		"host.docker.internal:80": true, "HOST.docker.internal": true, "2130706433": false,
	} {
		if got := g.knows(hostName(host)); got != want {
			t.Errorf("Host %q: %v, want %v", host, got, want)
		}
	}
	for origin, want := range map[string]bool{
		"http://localhost:6274": true, "http://127.0.0.1": true, "https://inspector.example": true, "vscode-file://vscode-app": true,
		"null": false, "https://evil.example": false, "http://localhost.evil.example": false, "": false, "https://inspector.example.evil.example": false,
		"http://localhost@evil.example": false, "//localhost": false, "%%": false,
	} {
		if got := g.mayCome(origin, "127.0.0.1"); got != want {
			t.Errorf("Origin %q: %v, want %v", origin, got, want)
		}
	}
	anywhere := &guard{anyIP: true}
	for host, want := range map[string]bool{"10.0.0.1:80": true, "evil.example": false, "localhost": true} {
		if got := anywhere.knows(hostName(host)); got != want {
			t.Errorf("anywhere, Host %q: %v, want %v", host, got, want)
		}
	}
	for origin, want := range map[string]bool{"http://10.0.0.1:80": true, "http://10.0.0.2": false, "http://localhost": true} {
		if got := anywhere.mayCome(origin, "10.0.0.1"); got != want {
			t.Errorf("anywhere, Origin %q: %v, want %v", origin, got, want)
		}
	}
}
