package httptap

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A guard refuses requests that a web page could make a browser send: those with
// the name of another machine in Host (DNS rebinding), or from another site
// (Origin). Programs on this machine send neither.
type guard struct {
	hosts   []string // names besides loopback's, lower case
	origins []string // origins besides those on loopback, as a browser sends them
	anyIP   bool     // the tap listens beyond loopback: Host may be any address
}

// refuse gives the reason for which a request must not pass; empty if it may.
func (g *guard) refuse(r *http.Request) string {
	host := hostName(r.Host)
	switch {
	case host == "" && !r.ProtoAtLeast(1, 1):
		return "" // HTTP/1.0 knows no Host, and no browser speaks it
	case host == "":
		return "it has no Host header"
	case !g.knows(host):
		return "the Host header names " + quoted(host) + ", which is not this tap; a web page may be behind this (DNS rebinding). " +
			"If the name is right, start the tap with --allow-host " + host
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return "a web page from elsewhere sent it"
	}
	for _, origin := range r.Header.Values("Origin") {
		if !g.mayCome(origin, host) {
			return "the request comes from a web page at " + quoted(origin) + ". If that is meant to use this server, start the tap with --allow-origin " + origin
		}
	}
	return ""
}

func (g *guard) knows(host string) bool {
	if loopback(host) || slices.Contains(g.hosts, host) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return g.anyIP && err == nil
}

// mayCome reports an origin that is on this machine or allowed, that comes from
// where the request goes to, or is none of the web: an editor or an app has a
// scheme of its own. An opaque origin ("null") may be any page.
func (g *guard) mayCome(origin, host string) bool {
	if slices.Contains(g.origins, strings.ToLower(origin)) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" {
		return false
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return true
	}
	from := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	return from == host || loopback(from) || slices.Contains(g.hosts, from)
}

func hostName(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

func quoted(s string) string {
	if len(s) > 100 {
		s = s[:100] + "..."
	}
	return `"` + strings.Map(printable, s) + `"`
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}
