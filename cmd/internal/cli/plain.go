package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/ui/safetext"
)

// plain is browsing line by line: it prints, asks what to do next, and does it.
type plain struct {
	*app
	in   *bufio.Scanner
	open string // name of the open session; "" while the list is
	ids  []string
}

const (
	plainListHelp = "A number opens a session; list, help, quit."
	plainHelp     = "A number shows a frame; calls, frames, findings, stats, list, help, quit."
)

func (a *app) plain(name string) error {
	p := &plain{app: a, in: bufio.NewScanner(a.Stdin), open: name}
	first := "list"
	if name != "" {
		first = "calls"
	}
	if err := p.do(first); err != nil {
		return err
	}
	said := ""
	for {
		prompt := "\n> "
		if help := p.help(); help != said { // once for each place, and when asked
			said, prompt = help, "\n"+help+"\n> "
		}
		if _, err := fmt.Fprint(a.Stdout, prompt); err != nil {
			return err
		}
		if !p.in.Scan() {
			return p.in.Err()
		}
		word := strings.ToLower(strings.TrimSpace(p.in.Text()))
		if word == "quit" || word == "q" {
			return nil
		}
		if word == "help" {
			said = ""
			continue
		}
		if err := p.do(word); err != nil {
			a.say("%s", err)
		}
	}
}

func (p *plain) help() string {
	if p.open == "" {
		return plainListHelp
	}
	return plainHelp
}

func (p *plain) do(word string) error {
	n, notNumber := strconv.ParseUint(word, 10, 32)
	switch {
	case word == "":
		return nil
	case word == "list":
		p.open = ""
		return p.list()
	case notNumber == nil && p.open == "":
		if n == 0 || n > uint64(len(p.ids)) {
			return fmt.Errorf("there is no session %d; the list has %d", n, len(p.ids))
		}
		p.open = p.ids[n-1]
		return p.runShow(p.open, showOptions{})
	case p.open == "":
		return fmt.Errorf("%q is nothing that can be done here", word)
	case notNumber == nil:
		return p.frame(n)
	}
	return p.session(word)
}

func (p *plain) session(word string) error {
	switch word {
	case "calls":
		return p.runShow(p.open, showOptions{})
	case "frames":
		return p.runShow(p.open, showOptions{frames: true})
	case "findings":
		status := p.status
		defer func() { p.status = status }() // a finding is no failure of browsing
		return p.runCheck([]string{p.open}, checkOptions{failOn: "none", host: hostAuto})
	case "stats":
		return p.withSession(p.open, decode.Options{Bytes: true}, func(_ *sessions.Session, l *sessions.Loaded) error { return p.statsTables(countAll(l)) })
	}
	return fmt.Errorf("%q is nothing that can be done here", word)
}

// list prints the sessions in sentences, each with its number.
func (p *plain) list() error {
	store := p.store()
	infos, err := store.List()
	if err != nil {
		return fmt.Errorf("reading the folder of recordings: %w", err)
	}
	p.ids = nil
	if len(infos) == 0 {
		_, err := fmt.Fprintf(p.Stdout, "Nothing is recorded in %s yet. Put 'mcptap --' in front of a server's command, or try 'mcptap demo'.\n", store.Dir)
		return err
	}
	sums := store.Summaries(infos)
	for i := range infos {
		s, sum := &infos[i], sums[infos[i].ID]
		p.ids = append(p.ids, s.ID)
		words := []string{cmp.Or(s.Label(), s.ID), s.Start.Local().Format("2006-01-02 15:04:05"), stateWord(s), sum.Server, clientProcess(s), sum.CallWords()}
		if sum.Failures > 0 {
			words = append(words, strconv.Itoa(sum.Failures)+" failed")
		}
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		if _, err := fmt.Fprintf(p.Stdout, "%d. %s\n", i+1, safetext.Line(strings.Join(words, ", "))); err != nil {
			return err
		}
	}
	return nil
}

// frame prints one frame: indented if it is JSON.
func (p *plain) frame(n uint64) error {
	return p.withSession(p.open, decode.Options{}, func(_ *sessions.Session, l *sessions.Loaded) error {
		for i := range l.Len() {
			if l.Frame(i).N == n {
				return p.printBody(l.Body(i))
			}
		}
		return fmt.Errorf("there is no frame %d", n)
	})
}

func (p *plain) printBody(body []byte) error {
	if body == nil {
		return errors.New("the bytes of the frame are not at hand")
	}
	if json.Valid(body) {
		enc := json.NewEncoder(safetext.JSON(p.Stdout))
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(json.RawMessage(body))
	}
	for line := range strings.Lines(string(body)) {
		if _, err := io.WriteString(p.Stdout, safetext.Line(strings.TrimRight(line, "\r\n"))+"\n"); err != nil {
			return err
		}
	}
	return nil
}
