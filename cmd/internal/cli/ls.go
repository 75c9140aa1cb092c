package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap"
	"github.com/mcptap/mcptap/ui/safetext"
)

func (a *app) ls() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "list what was recorded, the newest first",
		Long: `ls lists the recordings: when they began, their label, whether their tap is live,
ended or crashed, the server and the protocol revision, how many calls there were and
how many of them failed (in the tool, in the protocol, in the transport, or hidden in
a success), how long the session took, the exit status, the size, and the id that
other commands take: on a terminal its last four digits, which are enough. The length
is that until the last frame or event. Of the clients of an HTTP tap it tells the
process, if the terminal is wide enough. A recording is empty if it has just begun,
or if there was no room on the disk.`,
		Example: `  mcptap ls
  mcptap ls --json | jq -r 'select(.state == "crashed").path'`,
		Args: exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return a.list(asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (a *app) list(asJSON bool) error {
	store := a.store()
	infos, err := store.List()
	if err != nil {
		return fmt.Errorf("reading the folder of recordings: %w", err)
	}
	if asJSON {
		return a.listJSON(store, infos)
	}
	if len(infos) == 0 {
		a.say("nothing is recorded in %s yet; put 'mcptap --' in front of a server's command, or try 'mcptap demo'", store.Dir)
		return nil
	}
	return a.listTable(store, infos)
}

func (a *app) listTable(store sessions.Store, infos []sessions.Info) error {
	columns := []column{
		{name: "started", width: 14},
		{name: "label", width: 20, min: 10},
		{name: "state", width: 9},
		{name: "server", width: 26, min: 12, drop: 3},
		{name: "revision", width: 10, drop: 4},
		{name: "operations", width: 10, right: true, drop: 1},
		{name: "failed", width: 6, right: true, drop: 2},
		{name: "length", width: 8, right: true, drop: 6},
		{name: "exit", width: 4, right: true, drop: 7},
		{name: "size", width: 8, right: true, drop: 5},
		{name: "id"},
	}
	procs := isTerminal(a.Stdout) && slices.ContainsFunc(infos, func(i sessions.Info) bool { return clientProcess(&i) != "" })
	if procs {
		columns = slices.Insert(columns, processColumn, column{name: "client", width: 20, min: 10, drop: 8})
	}
	t := a.table(columns...)
	sums := store.Summaries(infos)
	total := int64(0)
	for i := range infos {
		total += infos[i].Size
		row := a.listRow(t, &infos[i], sums[infos[i].ID])
		if procs {
			row = slices.Insert(row, processColumn, clientProcess(&infos[i]))
		}
		t.row(row...)
	}
	if err := t.flush(); err != nil || !t.terminal {
		return err
	}
	a.sayStore(store, len(infos), total)
	return nil
}

func (a *app) listRow(t *table, i *sessions.Info, sum sessions.Summary) []string {
	started, size, id := i.Start.UTC().Format(time.RFC3339), strconv.FormatInt(i.Size, 10), i.ID
	if t.terminal {
		started, size, id = humanize.RelTime(i.Start, a.Now(), "ago", "from now"), humanize.IBytes(uint64(i.Size)), i.Short()
	}
	return []string{started, i.Label(), stateWord(i), sum.Server, sum.Revision, strconv.Itoa(sum.Calls), strconv.Itoa(sum.Failures), lengthWord(i), exitWord(i), size, id}
}

// processColumn is where the client's process stands, if there is one to tell.
const processColumn = 3

// clientProcess is whose session it is behind an HTTP tap: one tap has many clients.
func clientProcess(i *sessions.Info) string {
	if i.Header == nil || i.Header.Transport != "http" || i.Header.Host == nil {
		return ""
	}
	return strings.TrimSpace(i.Header.Host.Name + " " + strconv.Itoa(i.Header.Host.PID))
}

func stateWord(i *sessions.Info) string {
	word := string(i.State)
	switch {
	case i.Empty:
		word = "empty"
	case i.Problem != "":
		word = "broken" // no recording at all
	case i.Header == nil && i.State == sessions.Crashed:
		word = "foreign" // recorded by another program, which writes no last record
	}
	if i.Kept {
		word += " ★"
	}
	return word
}

func exitWord(i *sessions.Info) string {
	if i.End == nil {
		return ""
	}
	return strconv.Itoa(i.End.Exit)
}

// lengthWord is empty if nothing tells the length.
func lengthWord(i *sessions.Info) string {
	if !i.HasLength() {
		return ""
	}
	return formatLength(i.Length)
}

func formatLength(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.3fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// sayStore tells how full the store is, and what was removed for room.
func (a *app) sayStore(store sessions.Store, n int, total int64) {
	limit := a.bytesFrom("MCPTAP_MAX_STORE", defaultMaxStore)
	line := fmt.Sprintf("%d sessions, %s", n, humanize.IBytes(uint64(total)))
	if limit > 0 {
		line += " of " + humanize.IBytes(uint64(limit)) + "; beyond that the oldest go (mcptap keep protects one)"
	}
	a.say("%s", line)
	if p := store.Pruned(); p.Sessions > 0 {
		a.say("%d older sessions (%s) were removed to make room, the last %s", p.Sessions, humanize.IBytes(uint64(p.Bytes)), humanize.RelTime(p.Last, a.Now(), "ago", "from now"))
	}
}

// sessionJSON is a session in the output of ls --json.
type sessionJSON struct {
	ID      string    `json:"id"`
	Label   string    `json:"label"`
	State   string    `json:"state"`
	Kept    bool      `json:"kept"`
	Start   time.Time `json:"start"`
	Length  int64     `json:"length_ns"`
	Records uint64    `json:"records"`
	Exit    *int      `json:"exit"`
	Reason  string    `json:"reason,omitempty"`
	Lost    int64     `json:"lost"`
	Bytes   int64     `json:"bytes"`
	Path    string    `json:"path"`
	Command []string  `json:"command"`
	URL     string    `json:"url,omitempty"` // of a server behind an HTTP tap
	Empty   bool      `json:"empty,omitempty"`
	// Host is the process that started the server, or the client of an HTTP tap.
	Host *tap.Process `json:"host,omitempty"`
	// Operations is what Summary calls calls, by the name that the screens have for it.
	Operations int `json:"operations"`
	sessions.Summary
}

func (a *app) listJSON(store sessions.Store, infos []sessions.Info) error {
	sums := store.Summaries(infos)
	out := bufio.NewWriter(a.Stdout)
	enc := json.NewEncoder(safetext.JSON(out))
	enc.SetEscapeHTML(false)
	for i := range infos {
		s := &infos[i]
		j := sessionJSON{ID: s.ID, Label: s.Label(), State: string(s.State), Kept: s.Kept, Start: s.Start, Length: int64(s.Length), Records: s.Records, Bytes: s.Size, Path: s.Path, Empty: s.Empty, Operations: sums[s.ID].Calls, Summary: sums[s.ID]}
		if s.Header != nil {
			j.Command, j.URL, j.Host = s.Header.Command, s.Header.URL, s.Header.Host
		}
		if s.End != nil {
			j.Exit, j.Reason, j.Lost = &s.End.Exit, s.End.Reason, s.End.Lost
		}
		if err := enc.Encode(j); err != nil {
			return err
		}
	}
	return out.Flush()
}
