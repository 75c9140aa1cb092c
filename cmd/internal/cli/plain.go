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
	"time"

	"github.com/mcptap/mcptap/decode"
	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/feed"
	"github.com/mcptap/mcptap/ui/safetext"
)

// plain is browsing line by line: it prints, asks what to do next, and does it.
type plain struct {
	*app
	in   *bufio.Scanner
	open string // name of the open session; "" while the list is
	ids  []string
}

// plainWord is a word that can be typed, and what it does.
type plainWord struct{ word, does string }

var (
	plainList = []plainWord{
		{"a number", "opens that recording"},
		{"list", "prints the recordings, the newest first"},
		{"help", "explains the words, as ? does"},
		{"quit", "ends this"},
	}
	plainSession = []plainWord{
		{"a number", "shows that frame"},
		{"calls", "prints what was asked for, and how it ended"},
		{"failures", "prints the calls that failed"},
		{"frames", "prints everything that crossed, in order"},
		{"findings", "prints what breaks the specification, or looks wrong"},
		{"stats", "prints counts, times and bytes by method"},
		{"request", "prints what the model reads of this session"},
		{"rent", "prints what tools and answers cost the model"},
		{"list", "goes back to the recordings"},
		{"help", "explains the words, as ? does"},
		{"quit", "ends this"},
	}
)

// brief names the words in a line.
func brief(words []plainWord) string {
	names := make([]string, len(words)-1)
	for i, w := range words[1:] {
		names[i] = w.word
	}
	return "A number " + words[0].does + ". Other words: " + strings.Join(names, ", ") + "."
}

// explained says what each word does, a line each.
func explained(words []plainWord) string {
	var s strings.Builder
	for _, w := range words {
		fmt.Fprintf(&s, "%s: %s.\n", w.word, w.does)
	}
	return s.String()
}

func (a *app) plain(name string) error {
	quiet := *a // what it runs prints no colours
	quiet.Getenv = func(name string) string {
		if name == "NO_COLOR" {
			return "1"
		}
		return a.Getenv(name)
	}
	p := &plain{app: &quiet, in: bufio.NewScanner(a.Stdin), open: name}
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
		if words := brief(p.words()); words != said { // once for each place
			said, prompt = words, "\n"+words+"\n> "
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
		if err := p.do(word); err != nil {
			a.say("%s", err)
		}
	}
}

// words are those that can be typed where the user is.
func (p *plain) words() []plainWord {
	if p.open == "" {
		return plainList
	}
	return plainSession
}

func (p *plain) do(word string) error {
	n, notNumber := strconv.ParseUint(word, 10, 32)
	switch {
	case word == "":
		return nil
	case word == "help" || word == "?":
		_, err := io.WriteString(p.Stdout, explained(p.words()))
		return err
	case word == "list":
		p.open = ""
		return p.list()
	case notNumber == nil && p.open == "":
		if n == 0 || n > uint64(len(p.ids)) {
			return fmt.Errorf("there is no session %d; the list has %d", n, len(p.ids))
		}
		p.open = p.ids[n-1]
		if err := p.calls(false); err != nil {
			p.open = "" // it is still the list that answers
			return err
		}
		return nil
	case p.open == "":
		return fmt.Errorf("%q is nothing that can be done here; help says what is", word)
	case notNumber == nil:
		return p.frame(n)
	}
	return p.session(word)
}

func (p *plain) session(word string) error {
	switch word {
	case "calls":
		return p.calls(false)
	case "failures":
		return p.calls(true)
	case "frames":
		return p.frames()
	case "request":
		return p.runRequest([]string{p.open}, &requestOptions{turn: "last"})
	case "rent":
		return p.runRent([]string{p.open}, new(rentOptions))
	case "findings":
		status := p.status
		defer func() { p.status = status }() // a finding is no failure of browsing
		return p.runCheck([]string{p.open}, checkOptions{failOn: "none", host: hostAuto})
	case "stats":
		return p.withSession(p.open, decode.Options{Bytes: true}, func(_ *sessions.Session, l *sessions.Loaded) error { return p.statsTables(countAll(l)) })
	}
	return fmt.Errorf("%q is nothing that can be done here; help says what is", word)
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
		words := []string{fmt.Sprintf("%d. %s", i+1, cmp.Or(s.Label(), s.ID)), s.Start.Local().Format("2006-01-02 15:04:05"), stateWord(s), sum.Server, clientProcess(s), sum.CallWords()}
		if sum.Failures > 0 {
			words = append(words, strconv.Itoa(sum.Failures)+" failed")
		}
		if s.Problem != "" {
			words = append(words[:2], "not a recording: "+s.Problem)
		}
		if err := p.sentence(words); err != nil {
			return err
		}
	}
	return nil
}

// withFeed reads the open session.
func (p *plain) withFeed(do func(f *feed.Feed) error) error {
	i, err := p.store().Resolve(p.open)
	if err != nil {
		return err
	}
	f, err := feed.Open(i.Path, p.Now())
	if err != nil {
		return fmt.Errorf("opening %s: %w", i.Path, err)
	}
	defer func() { _ = f.Close() }()
	for more := true; more; {
		st := f.Advance(p.Now, time.Second)
		if st.Err != nil {
			return st.Err
		}
		more = st.More
	}
	return do(f)
}

// calls prints what the session did in sentences, or only what failed.
func (p *plain) calls(failed bool) error {
	if p.open == "-" {
		return p.runShow(p.open, showOptions{})
	}
	return p.withFeed(func(f *feed.Feed) error {
		sum := sessions.Summarize(f.Session)
		said := []string{f.Name(), sum.Server, sum.Revision, sum.CallWords(), strconv.Itoa(sum.Failures) + " failed"}
		if err := p.sentence(said); err != nil {
			return err
		}
		for _, r := range f.Rows {
			words := p.row(f, r, failed)
			if words == nil {
				continue
			}
			if err := p.sentence(words); err != nil {
				return err
			}
		}
		return nil
	})
}

// row says what a row is about; nil if only failures are wanted, and it is none.
func (p *plain) row(f *feed.Feed, r feed.Row, failed bool) []string {
	c := r.Call()
	if c < 0 {
		if failed {
			return nil
		}
		return p.frameWords(f, r.Frame())
	}
	o := f.Operation(c)
	if failed && !feed.Failed(o.Outcome) {
		return nil
	}
	first, last := f.Frame(f.First(r)), f.Frame(f.Main(r))
	d := f.Detail(r)
	outcome := o.Outcome.String()
	if d.Why == outcome || strings.HasPrefix(d.Why, outcome+",") {
		outcome = "" // the reason says it
	}
	words := []string{fmt.Sprintf("Frame %d. %s", last.N, strings.TrimSpace(o.Method+" "+o.Name)), outcome, d.Why}
	if last.Index != first.Index {
		words = append(words, millis(last.Time-first.Time)+" milliseconds")
	}
	return append(words, d.Gist)
}

// frames prints every frame in a sentence.
func (p *plain) frames() error {
	return p.withFeed(func(f *feed.Feed) error {
		for i := range f.Len() {
			if err := p.sentence(p.frameWords(f, i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// senders say who a frame is from.
var senders = map[tap.Dir]string{tap.C2S: "from the client", tap.S2C: "from the server", tap.Stderr: "standard error"}

func (p *plain) frameWords(f *feed.Feed, frame int) []string {
	i := f.Frame(frame)
	what := string(i.Kind)
	if i.Method != "" {
		what += " " + i.Method
	}
	if i.Kind == decode.Log {
		what = ""
	}
	return []string{fmt.Sprintf("Frame %d. %s", i.N, strings.TrimSpace(senders[i.Dir])), what, plural(int(i.Size), "byte"), f.Detail(feed.FrameRow(frame)).Gist}
}

// sentence prints words that are not empty as one line, without what a terminal would
// take for its own.
func (p *plain) sentence(words []string) error {
	words = slices.DeleteFunc(words, func(w string) bool { return strings.TrimSpace(w) == "" })
	_, err := fmt.Fprintln(p.Stdout, safetext.Line(strings.Join(words, ", ")))
	return err
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
		_, err := safetext.JSON(p.Stdout).Write(append(decode.Indented(body), '\n'))
		return err
	}
	for line := range strings.Lines(string(body)) {
		if _, err := io.WriteString(p.Stdout, safetext.Line(strings.TrimRight(line, "\r\n"))+"\n"); err != nil {
			return err
		}
	}
	return nil
}
