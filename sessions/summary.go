package sessions

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/mcptap/mcptap/decode"
)

// A Summary is what a list says of a session's meaning.
type Summary struct {
	Client   string         `json:"client,omitempty"` // name and version; text from the outside
	Server   string         `json:"server,omitempty"`
	Era      string         `json:"era"`
	Revision string         `json:"revision,omitempty"`
	Calls    int            `json:"calls"`              // operations: calls that belong together count once
	Requests int            `json:"requests"`           // calls: requests with an id, of both sides
	Outcomes map[string]int `json:"outcomes,omitempty"` // operations that did not end well, by outcome
	Failures int            `json:"failures"`           // those that failed: in the tool, the protocol, the transport, or hidden
}

// Summarize sums up a decoded session.
func Summarize(s *decode.Session) Summary {
	sum := Heading(s)
	sum.Add(s, 0, s.Calls())
	return sum
}

// Heading is the summary of a session of which no call was looked at.
func Heading(s *decode.Session) Summary {
	e := s.Eras()
	return Summary{Client: peer(s.Clients()), Server: peer(s.Servers()), Era: e.Era.String(), Revision: e.Revision, Outcomes: map[string]int{}}
}

// Add sums up the calls from one to another, to excluded: whoever shows a session while
// it is read does it piece by piece.
func (sum *Summary) Add(s *decode.Session, from, to int) {
	for i := from; i < to; i++ {
		sum.Requests++
		if !s.Leads(i) {
			continue
		}
		sum.Calls++
		outcome := s.Operation(i).Outcome
		if outcome == decode.OK || s.Call(i).Listen {
			continue
		}
		sum.Outcomes[outcome.String()]++
		if outcome.Failed() {
			sum.Failures++
		}
	}
}

// CallWords count the calls: "11 calls", or "28 operations of 36 calls" if some belong
// together.
func (sum *Summary) CallWords() string {
	if sum.Requests <= sum.Calls {
		return count(sum.Calls, "call")
	}
	return count(sum.Calls, "operation") + " of " + count(sum.Requests, "call")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

func peer(peers []decode.Peer) string {
	if len(peers) == 0 {
		return ""
	}
	return strings.TrimSpace(peers[0].Name + " " + peers[0].Version)
}

// remembered is a summary in the store's cache. It holds as long as the journal
// has this size: journals only grow.
type remembered struct {
	Size    int64   `json:"size"`
	Decoder int     `json:"decoder"`
	Summary Summary `json:"summary"`
}

// decoderVersion changes when a decoder would sum up the same session otherwise.
const decoderVersion = 3

func (s Store) summariesPath() string { return filepath.Join(s.Dir, "summaries.json") }

// Summaries sums up sessions of the store, by id. What was summed up before is
// taken from a cache beside the recordings, since decoding takes time; a cache
// that can't be read or written costs that time and nothing else.
func (s Store) Summaries(infos []Info) map[string]Summary {
	cache := map[string]remembered{}
	if b, err := os.ReadFile(s.summariesPath()); err == nil {
		_ = json.Unmarshal(b, &cache)
	}
	out, now, changed := map[string]Summary{}, map[string]remembered{}, false
	for i := range infos {
		info := &infos[i]
		r, ok := cache[info.ID]
		if !ok || r.Size != info.Size || r.Decoder != decoderVersion || info.State == Live {
			sum, err := summarizeFile(info.Path)
			if err != nil {
				continue
			}
			r = remembered{info.Size, decoderVersion, sum}
			changed = true
		}
		out[info.ID] = r.Summary
		if info.State != Live {
			now[info.ID] = r
		}
	}
	if changed || len(now) != len(cache) {
		s.remember(now)
	}
	return out
}

func summarizeFile(path string) (Summary, error) {
	f, err := Open(path)
	if err != nil {
		return Summary{}, err
	}
	defer f.Close()
	l, err := Load(f, decode.Options{NoListings: true})
	if err != nil {
		return Summary{}, err
	}
	return Summarize(l.Session), nil
}

// remember replaces the cache as a whole, so that a reader never sees half of it.
func (s Store) remember(cache map[string]remembered) {
	b, err := json.Marshal(cache)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(s.Dir, ".summaries-*")
	if err != nil {
		return
	}
	_, err = f.Write(b)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), s.summariesPath())
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
