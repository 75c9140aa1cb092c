package httptap

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

// connected is the two ends of a connection to a listener at this address.
func connected(t *testing.T, listen, to string) (client, server netip.AddrPort) {
	t.Helper()
	in, err := net.Listen("tcp", listen)
	if err != nil {
		t.Logf("no %s here: %v", listen, err)
		return client, server
	}
	defer in.Close()
	_, port, _ := net.SplitHostPort(in.Addr().String())
	c, err := net.Dial("tcp", net.JoinHostPort(to, port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s, err := in.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	client, _ = addrPort(s.RemoteAddr())
	server, _ = addrPort(s.LocalAddr())
	return client, server
}

func TestPeerIsThisProcess(t *testing.T) {
	for listen, to := range map[string]string{"127.0.0.1:0": "127.0.0.1", "[::1]:0": "::1", "[::]:0": "127.0.0.1"} {
		client, server := connected(t, listen, to)
		if !client.IsValid() {
			continue
		}
		asked, ok := askInode(client, server)
		if read := socketInode(client, server); !ok || asked != read || read == "" {
			t.Errorf("%s: asked %q, %v; read %q", listen, asked, ok, read)
		}
		p := &peers{}
		for range 2 {
			if got := p.find(client, server); got.PID != os.Getpid() || got.Name == "" {
				t.Errorf("%s: %+v", listen, got)
			}
		}
		if got := p.find(netip.AddrPortFrom(client.Addr(), 1), server); got.PID != 0 {
			t.Errorf("%s, no connection: %+v", listen, got)
		}
	}
}

func FuzzDiagInode(f *testing.F) {
	f.Add(diagRequest(netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("127.0.0.1:2")))
	f.Add([]byte(nil))
	f.Fuzz(func(_ *testing.T, b []byte) { diagInode(b) })
}

func BenchmarkPeer(b *testing.B) {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	c, err := net.Dial("tcp", in.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	client, _ := addrPort(c.LocalAddr())
	server, _ := addrPort(c.RemoteAddr())
	p := &peers{}
	for b.Loop() {
		if p.find(client, server).PID == 0 {
			b.Fatal("not found")
		}
	}
}
