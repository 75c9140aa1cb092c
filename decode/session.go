package decode

import (
	"hash/maphash"
	"time"

	"github.com/mcptap/mcptap/tap"
)

// A Scope is what ids are unique within, besides their direction. On stdio that
// is the whole session, scope 0. On legacy Streamable HTTP it is the MCP session,
// on HTTP+SSE the endpoint, and on modern HTTP the single exchange: two clients
// behind one proxy both count from the same start.
type Scope uint32

// where tells what a frame does not say by itself.
type where struct {
	scope Scope
	// exchange is the index of the HTTP exchange that the frame belongs to, + 1; 0 on
	// stdio. An error without an id answers the request of its exchange, and what the
	// server asks or logs there belongs to it.
	exchange uint32
	version  string // the exchange's MCP-Protocol-Version header
	session  bool   // it had an Mcp-Session-Id header
}

// Options of a Session. The zero value is what a live view needs.
type Options struct {
	// Bytes asks for the byte account of every frame, summed up (Totals).
	Bytes bool
	// NoListings keeps no bytes of listings: there is no catalogue then.
	NoListings bool
}

// A Session takes the records of one tap run in order and knows, at any moment,
// what they meant so far. It keeps an index and no bodies (those of listings
// excepted): less than 100 bytes a frame. It is not safe for concurrent use.
//
// Frames and calls have indexes, from 0 in order of appearance; they stay valid
// as the session grows, while what a Frame or a Call says may change with later
// records: an open call is answered, a cancelled one gets a late answer.
type Session struct {
	opts    Options
	frames  list[frame]
	wide    map[int]place // of frames beyond what a frame holds
	calls   list[call]
	notes   list[note] // what hangs on calls
	parts   list[part] // members of batches
	batches []run      // of parts

	methods names
	names   names // tools, prompts, URIs
	strs    names // revisions
	ids     idents

	newest newest            // call with an id
	tokens map[uint64]uint32 // hash of direction, scope, progress token -> call
	inUse  map[lane]*traffic

	parents   map[uint32]uint32 // server's request -> client's call
	exchanges map[uint32]uint32 // HTTP exchange (index + 1) -> call asked in it, while it is open
	web       web

	groups list[group]
	rounds map[uint64]*interims // MRTR: hash of subject and state
	walks  map[uint64]uint32    // pagination: hash of method and cursor -> call that got it
	tasks  map[uint64]uint32    // hash of task id -> call that created it
	urls   map[uint64]uint32    // hash of elicitation id -> call it belongs to

	retries map[uint64]uint32 // calls refused with -32042 -> call to be tried again

	era      negotiation
	peers    peers
	life     life
	learnt   map[uint32]*habits // per tool, for hidden errors
	listings listings
	totals   Totals
	scratch  []byte
}

// New gives an empty session.
func New(o Options) *Session {
	s := &Session{opts: o}
	s.ids.seed = maphash.MakeSeed()
	s.wide = map[int]place{}
	s.tokens, s.inUse = map[uint64]uint32{}, map[lane]*traffic{}
	s.rounds, s.walks, s.tasks = map[uint64]*interims{}, map[uint64]uint32{}, map[uint64]uint32{}
	s.urls, s.retries = map[uint64]uint32{}, map[uint64]uint32{}
	s.parents, s.exchanges = map[uint32]uint32{}, map[uint32]uint32{}
	s.learnt = map[uint32]*habits{}
	s.web.words.limit = maxWord
	s.notes.add(note{}) // index 0 stands for none
	s.groups.add(group{})
	s.life.init()
	return s
}

// frame is the index entry of one frame.
type frame struct {
	t      time.Duration
	skew   int32 // its number in the journal, less its index
	size   int32
	method uint32
	call   uint32 // index + 1; of a batch, its index in batches
	faults Faults
	kind   kind
	dir    tap.Dir
	bits   frameBits
	stray  uint8
}

type frameBits uint8

const (
	bitOrphan   frameBits = 1 << iota // a response that no request asked for
	bitWrongID                        // a response whose id fits but for its type
	bitSecond                         // a response to a request already answered
	bitUnjoined                       // progress, cancellation or subscription that names no call
	bitCRLF
	bitNoEOL
	bitDigest
	bitWide // skew or size does not fit: see Session.wide
)

// part is one message of a batch.
type part struct {
	method uint32
	call   uint32 // index + 1
	kind   kind
	bits   frameBits
	faults Faults
}

// Add takes the next frame. It keeps nothing of f.
func (s *Session) Add(f *tap.Frame) {
	if f.HTTP != nil {
		s.addCarried(f)
		return
	}
	s.addAt(f, where{})
}

// place makes the index entry of a frame.
func (s *Session) place(f *tap.Frame) (at int) {
	at = s.frames.add(frame{t: f.Time, dir: f.Dir, bits: lineBits(f)})
	s.setPlace(at, f.N, Crossed(f))
	return at
}

// addAt is Add for a frame whose scope is not the whole session.
func (s *Session) addAt(f *tap.Frame, w where) {
	at := s.place(f)
	in := incoming{frame: at, dir: f.Dir, t: f.Time, where: w}
	switch {
	case f.Dir == tap.Stderr:
		s.frames.at(at).kind = kindLog
	case f.Digest != nil:
		s.addDigest(f, in)
	case !f.JSON:
		s.addStray(f, at)
	default:
		s.addJSON(f.Body, in)
	}
	if s.opts.Bytes {
		s.addTotals(f, at)
	}
}

// place is where a frame stands in the journal, and its length.
type place struct {
	n    uint64
	size int64
}

func (s *Session) setPlace(at int, n uint64, size int64) {
	e := s.frames.at(at)
	skew := int64(n) - int64(at)
	if skew == int64(int32(skew)) && size == int64(int32(size)) {
		e.skew, e.size = int32(skew), int32(size)
		return
	}
	e.bits |= bitWide
	s.wide[at] = place{n, size}
}

func (s *Session) placeOf(at int) place {
	e := s.frames.at(at)
	if e.bits&bitWide != 0 {
		return s.wide[at]
	}
	return place{uint64(int64(at) + int64(e.skew)), int64(e.size)}
}

func lineBits(f *tap.Frame) (b frameBits) {
	switch f.EOL {
	case tap.CRLF:
		b = bitCRLF
	case tap.NoEOL:
		b = bitNoEOL
	}
	if f.Digest != nil {
		b |= bitDigest
	}
	return b
}

func (s *Session) addStray(f *tap.Frame, at int) {
	e := s.frames.at(at)
	e.kind, e.faults = kindStray, FaultNotJSON
	e.stray = strayNumber(Classify(f.Body))
}

var strays = [...]StrayKind{StrayText, StrayBlank, StrayHeader, StrayGlued, StrayTrailing, StraySeveral, StrayPartial,
	StrayEncoding, StrayBOM, StrayNumber, StrayLines, StrayDeep}

func strayNumber(k StrayKind) uint8 {
	for i, s := range strays {
		if s == k {
			return uint8(i)
		}
	}
	return 0
}

func (s *Session) addDigest(f *tap.Frame, in incoming) {
	if !f.JSON {
		e := s.frames.at(in.frame)
		e.kind, e.faults, e.stray = kindStray, FaultNotJSON, strayNumber(Classify([]byte(f.Digest.Head)))
		return
	}
	p := lookEnds([]byte(f.Digest.Head), []byte(f.Digest.Tail))
	in.cut = true
	m := s.message(&p, in)
	if m.kind == kindBatch { // its members are not at hand
		m.call = uint32(len(s.batches))
		s.batches = append(s.batches, run{s.parts.n, s.parts.n})
	}
	s.setFrame(in.frame, m)
}

func (s *Session) addJSON(body []byte, in incoming) {
	if isArray(body, trim(body, whole(body))) {
		s.addBatch(body, in)
		return
	}
	p := look(body, whole(body))
	s.setFrame(in.frame, s.message(&p, in))
}

func (s *Session) setFrame(at int, m part) {
	e := s.frames.at(at)
	e.kind, e.method, e.call, e.faults = m.kind, m.method, m.call, m.faults
	e.bits |= m.bits
}

func (s *Session) addBatch(body []byte, in incoming) {
	e := s.frames.at(in.frame)
	e.kind, e.call = kindBatch, uint32(len(s.batches))
	members := run{from: s.parts.n}
	tally := batchTally{}
	in.batch = true
	for w := walk(body, whole(body)); w.next(); {
		p := look(body, w.value)
		tally.add(&p)
		s.parts.add(s.message(&p, in))
	}
	members.to = s.parts.n
	s.batches = append(s.batches, members)
	e.faults = tally.faults()
}

// run is a run of indexes, to excluded.
type run struct{ from, to int }

// incoming is a frame on its way into the session.
type incoming struct {
	frame int
	dir   tap.Dir
	t     time.Duration
	where where
	cut   bool // only the ends of the body are at hand
	batch bool
}

// message takes one message: it joins it to its call, and tells what was found.
func (s *Session) message(p *peek, in incoming) part {
	m := part{kind: p.kind, faults: p.faults}
	if p.method.there() {
		m.method = s.methods.of(p.body, p.method)
	}
	s.peers.observe(p, in)
	switch p.kind {
	case kindRequest:
		m.call = uint32(s.ask(p, in, m.method)) + 1
	case kindResult, kindError:
		m.call, m.bits = s.answer(p, in)
	case kindNotification:
		m.call, m.bits = s.notify(p, in, m.method)
	}
	return m
}

// Event takes something other than a frame.
func (s *Session) Event(e *tap.Event) { s.life.event(e) }

// Lost takes a loss: from here on a request may seem unanswered whose answer was
// not recorded.
func (s *Session) Lost(l *tap.Lost) { s.life.lost += l.Frames }

// End takes the end of the tap run.
func (s *Session) End(e *tap.End) { s.life.end = clone(e) }

// Record takes any record of a journal.
func (s *Session) Record(r *tap.Record) {
	switch {
	case r.Header != nil:
		s.life.header = clone(r.Header)
		s.web.expect(r.Header)
	case r.Frame != nil:
		s.Add(r.Frame)
	case r.HTTP != nil:
		s.moment(r.HTTP)
	case r.Event != nil:
		s.Event(r.Event)
	case r.Lost != nil:
		s.Lost(r.Lost)
	case r.End != nil:
		s.End(r.End)
	}
	s.life.missing += r.Missing
	_, t := r.Position()
	s.life.last = max(s.life.last, t)
}

// Gaps is what is known to be missing: rules that depend on the whole traffic hold
// back then.
type Gaps struct {
	Lost    int64  // frames that crossed unrecorded
	Missing uint64 // records taken out of the journal
	Ended   bool   // the journal has its end
}

// Gaps tells what is missing so far.
func (s *Session) Gaps() Gaps { return Gaps{s.life.lost, s.life.missing, s.life.end != nil} }

func clone[T any](v *T) *T {
	c := *v
	return &c
}

// life is what the records around the frames tell.
type life struct {
	header              *tap.Header
	end                 *tap.End
	lost                int64
	missing             uint64
	last                time.Duration // of the last record
	stdinEnd, stdoutEnd time.Duration
	signalled           bool // the tap sent the server a signal, or passed one on
}

const never = time.Duration(-1)

func (l *life) init() { l.stdinEnd, l.stdoutEnd = never, never }

func (l *life) event(e *tap.Event) {
	switch e.Name {
	case tap.EventStdinEnd:
		l.stdinEnd = e.Time
	case tap.EventStdoutEnd:
		l.stdoutEnd = e.Time
	case tap.EventSignal:
		l.signalled = true
	}
}

// Ends is how the two ends left, as far as they did. A moment is -1 until it comes.
type Ends struct {
	Stdin     time.Duration // the client closed the server's input
	Stdout    time.Duration // the server closed its output
	Process   time.Duration // the server ended
	Exit      int           // its exit status
	Signal    string        // the signal that ended it, if one did
	Signalled bool          // a signal was sent to it through the tap
}

// Ends tells how the session ended so far. The moment of the process is known of
// sessions that were read with Record.
func (s *Session) Ends() Ends {
	l := &s.life
	e := Ends{Stdin: l.stdinEnd, Stdout: l.stdoutEnd, Process: never, Signalled: l.signalled}
	if l.end != nil {
		e.Process, e.Exit, e.Signal = l.last, l.end.Exit, l.end.Signal
	}
	return e
}
