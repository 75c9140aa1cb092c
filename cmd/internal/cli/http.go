package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mcptap/mcptap/sessions/label"
	"github.com/mcptap/mcptap/sessions/redact"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/tap/httptap"
	"github.com/mcptap/mcptap/tap/stdio"
)

// httpOptions are the flags of mcptap http.
type httpOptions struct {
	to            string
	listen        string
	anywhere      bool
	label         string
	log           string
	allowHosts    []string
	allowOrigins  []string
	rewriteOrigin bool
	insecure      bool
}

func (a *app) http() *cobra.Command {
	var o httpOptions
	c := &cobra.Command{
		Use:   "http --to URL [--listen ADDRESS] [-- HOST-COMMAND]",
		Short: "tap a server on HTTP",
		Long: `Listens on this machine and passes every request on to the server at URL. Put the
URL that it prints into the host's configuration in place of the server's own.
All of Streamable HTTP and the old HTTP+SSE pass; each client gets a recording of
its own.

With a command after --, that command is started with the tap's URL in MCPTAP_URL,
and the tap ends with it. Without one the tap runs until it is interrupted.

'mcptap help http' tells what the tap changes on the way, and how logins work.`,
		Example: `  mcptap http --to https://example.com/mcp
  mcptap http --to http://127.0.0.1:3001/mcp --listen 127.0.0.1:8080
  mcptap http --to https://example.com/mcp -- sh -c 'npx my-client "$MCPTAP_URL"'`,
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "URL of the server, with its path")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes any that is free")
	f.BoolVar(&o.anywhere, "listen-anywhere", false, "allow an address that other machines can reach")
	f.StringVar(&o.label, "label", "", "name of the sessions (default: guessed from the URL)")
	f.StringVar(&o.log, "log", "", "file to record to, instead of one in the folder of recordings; a second client gets FILE with .2 before its extension")
	f.StringArrayVar(&o.allowHosts, "allow-host", nil, "name that requests may have in their Host header, besides this machine's own")
	f.StringArrayVar(&o.allowOrigins, "allow-origin", nil, "web page (https://host) that may send requests, besides those on this machine")
	f.BoolVar(&o.rewriteOrigin, "rewrite-origin", false, "give the server its own origin instead of the web page's")
	f.BoolVar(&o.insecure, "insecure", false, "do not check the server's certificate")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 && c.ArgsLenAtDash() == 0 {
			return usagef("there is no command after --; for example: %s --to http://127.0.0.1:3001/mcp -- my-agent", c.CommandPath())
		}
		if len(args) > 0 && c.ArgsLenAtDash() != 0 {
			if o.to != "" || len(args) != 1 || !strings.Contains(args[0], "://") {
				return usagef("%s takes no argument but the server's URL after --to, and a command after --", c.CommandPath())
			}
			o.to, args = args[0], nil
		}
		return a.httpTap(c.Context(), &o, args)
	}
	return c
}

// httpTap runs the tap, beside a command if there is one.
func (a *app) httpTap(ctx context.Context, o *httpOptions, command []string) error {
	upstream, err := serverURL(o.to)
	if err != nil {
		return err
	}
	if err := mayListen(o); err != nil {
		return err
	}
	if err := checkAllowed(o); err != nil {
		return err
	}
	in, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listening on %s: %w; choose another with --listen", o.listen, err)
	}
	if in.Addr().String() == upstream.Host {
		_ = in.Close()
		return usagef("--to is the tap's own address, %s; it takes the server's", upstream.Host)
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	t := &httptap.Tap{
		Upstream: upstream, Mask: redact.NewHTTP(key), Now: a.Now, Warn: func(s string) { a.say("%s", s) },
		AllowHosts: o.allowHosts, AllowOrigins: o.allowOrigins, RewriteOrigin: o.rewriteOrigin, Insecure: o.insecure,
		Authorization: a.Getenv("MCPTAP_AUTHORIZATION"),
	}
	here := t.URL(in.Addr().String())
	t.NewJournal = (&httpJournals{app: a, o: o, upstream: upstream, here: here}).create
	if err := os.MkdirAll(a.store().Dir, 0o700); err != nil && o.log == "" {
		a.say("nothing will be recorded: %v; another folder can be given with --dir", err)
	}
	go a.prune(a.store())
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	log.SetOutput(io.Discard) // the libraries' own words are no answer to the user
	if len(command) > 0 {
		return a.besides(t, in, here, command, signals)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hurry := make(chan struct{})
	t.Hurry = hurry
	go func() {
		<-signals
		cancel()
		<-signals // a second one ends us at once, recordings and all
		close(hurry)
	}()
	a.say("%s stands for %s; interrupt to end", redact.Text(here), redact.Text(upstream.String()))
	if err := t.Serve(ctx, in); err != nil {
		return fmt.Errorf("listening on %s: %w", o.listen, err)
	}
	return nil
}

// besides runs the tap for as long as the command does. The command's exit status
// becomes ours.
func (a *app) besides(t *httptap.Tap, in net.Listener, here string, command []string, signals <-chan os.Signal) error {
	host := exec.Command(command[0], command[1:]...)
	host.Stdin, host.Stdout, host.Stderr = a.Stdin, a.Stdout, a.Stderr
	host.Env = append(os.Environ(), "MCPTAP_URL="+here)
	if err := host.Start(); err != nil {
		_ = in.Close()
		a.say("cannot start %s: %v", command[0], err)
		a.status = stdio.ExitNotExecutable
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			a.status = stdio.ExitNotFound
		}
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	go a.passOn(ctx, signals, host.Process)
	served := make(chan error, 1)
	go func() { served <- t.Serve(ctx, in) }()
	_ = host.Wait() // what it says is in the state
	cancel()
	a.status = exitStatus(host.ProcessState)
	return <-served
}

// passOn passes signals on to the command, but for an interrupt that the terminal
// has sent to it as well.
func (a *app) passOn(ctx context.Context, signals <-chan os.Signal, to *os.Process) {
	for {
		select {
		case s := <-signals:
			if s != os.Interrupt || !term.IsTerminal(int(a.Stdin.Fd())) {
				_ = to.Signal(s)
			}
		case <-ctx.Done():
			return
		}
	}
}

// exitStatus is what a shell would make of the way a process ended.
func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// serverURL checks the URL that --to names.
func serverURL(s string) (*url.URL, error) {
	if s == "" {
		return nil, usagef("the server's URL is missing; for example: mcptap http --to http://127.0.0.1:3001/mcp")
	}
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return nil, usagef("--to takes a URL that starts with http:// or https://, not %s", redact.Text(s))
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, usagef("--to takes a URL like https://example.com/mcp: %v", errors.Unwrap(err))
	case u.Hostname() == "":
		return nil, usagef("--to takes a URL with a host, like https://example.com/mcp, not %s", redact.Text(s))
	case u.Port() != "" && !isPort(u.Port()):
		return nil, usagef("--to names a port from 1 to 65535, not %s", u.Port())
	case u.Fragment != "":
		return nil, usagef("--to takes a URL without #%s: that is never sent", u.Fragment)
	case u.User != nil:
		return nil, usagef("--to takes a URL without a user's name: put the authorization into MCPTAP_AUTHORIZATION, or let the client send it")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 0 && n < 1<<16
}

// checkAllowed refuses names that could never match what a request says.
func checkAllowed(o *httpOptions) error {
	for _, host := range o.allowHosts {
		if host == "" || strings.ContainsAny(host, "/:@ ") && net.ParseIP(host) == nil {
			return usagef("--allow-host takes a name without scheme and port, like host.docker.internal, not %q", host)
		}
	}
	for _, origin := range o.allowOrigins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" {
			return usagef("--allow-origin takes an origin as browsers send it, like https://inspector.example, not %q", origin)
		}
	}
	return nil
}

// mayListen refuses an address that other machines can reach, unless asked for it.
func mayListen(o *httpOptions) error {
	host, port, err := net.SplitHostPort(o.listen)
	if err != nil {
		return usagef("--listen takes an address like 127.0.0.1:8080: %v", err)
	}
	if port != "0" && !isPort(port) {
		return usagef("--listen takes a port from 0 (any that is free) to 65535, not %s", port)
	}
	if stat, err := os.Stat(o.log); o.log != "" && err == nil && stat.IsDir() {
		return usagef("--log takes a file, and %s is a folder; --dir gives another folder for recordings", o.log)
	}
	addr, err := netip.ParseAddr(host)
	if o.anywhere || host == "localhost" || err == nil && addr.IsLoopback() {
		return nil
	}
	return usagef("%s can be reached by other machines, which could use the server as you; if that is meant, add --listen-anywhere", o.listen)
}

// httpJournals starts the recording of each client.
type httpJournals struct {
	app      *app
	o        *httpOptions
	upstream *url.URL
	here     string
	said     sync.Once
}

func (j *httpJournals) create(client httptap.Client) *tap.Writer {
	a := j.app
	start := a.Now()
	name := j.o.label
	if name == "" {
		name = label.URL(j.upstream)
	}
	rec := &recording{store: a.store(), log: j.o.log}
	rec.begin(label.Clean(name), start)
	h := tap.Header{
		Session: rec.id, Start: start, Transport: "http", URL: redact.Text(j.upstream.String()), Listen: redact.Text(j.here),
		PID: os.Getpid(), Label: name, Tap: versionString(), OS: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if client.Process.PID != 0 {
		h.Host = &client.Process
	}
	w := tap.NewWriter(h, a.journalOptions(rec, start))
	if rec.file != nil && j.o.log != "" && rec.file.Name() != j.o.log {
		j.said.Do(func() { a.say("%s exists; recording to %s", j.o.log, rec.file.Name()) })
	}
	return w
}
