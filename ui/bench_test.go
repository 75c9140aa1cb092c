package ui

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcptap/mcptap/sessions"
	"github.com/mcptap/mcptap/tap/taptest"
)

// generate writes a session of so many frames.
func generate(b *testing.B, frames int) sessions.Store {
	b.Helper()
	store := sessions.Store{Dir: filepath.Join(b.TempDir(), "store")}
	if err := os.Mkdir(store.Dir, 0o700); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(store.Path("20261130T120000Z-long-0001"))
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(taptest.WriteLong(f, "20261130T120000Z-long-0001", frames), f.Close()); err != nil {
		b.Fatal(err)
	}
	return store
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkMillion opens a session of a million frames, reads it through as the screen
// does, and presses keys all over it.
func BenchmarkMillion(b *testing.B) {
	const frames = 1000000
	store := generate(b, frames)
	path := store.Path("20261130T120000Z-long-0001")
	for b.Loop() {
		before := heap()
		d := drive(b, store, colorprofile.TrueColor, 120, 40)
		d.app.env.Now = time.Now
		start := time.Now()
		// Step by step, as bubbletea does: a picture after each message.
		first, worst := time.Duration(0), time.Duration(0)
		var s *session
		queue := []tea.Cmd{d.app.env.openSession(path, -1)}
		for len(queue) > 0 {
			cmd := queue[0]
			queue = queue[1:]
			if cmd == nil {
				continue
			}
			msg := cmd()
			if batch, ok := msg.(tea.BatchMsg); ok {
				queue = append(queue, batch...)
				continue
			}
			at := time.Now()
			_, next := d.app.Update(msg)
			d.app.View()
			worst = max(worst, time.Since(at))
			queue = append(queue, next)
			s, _ = d.app.top().(*session)
			if first == 0 && s != nil && s.calls.list.Len() > 40 {
				first = time.Since(start)
			}
		}
		b.ReportMetric(float64(first.Microseconds())/1000, "ms/first-rows")
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/whole")
		b.ReportMetric(float64(worst.Microseconds())/1000, "ms/worst-while-reading")
		b.ReportMetric(float64(int64(heap())-int64(before))/frames, "B/frame")
		b.ReportMetric(percentile99(keyTimes(d)), "ms/key-p99")
		d.keys("/", "+tool:tool_4 status:tool-erro")
		start = time.Now()
		d.keys("r")
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/filter")
		if n := s.feed.Len(); n != frames || s.calls.upto != s.calls.all() || len(s.calls.selected) < frames/2000 {
			b.Fatalf("%d frames, %d of %d rows with %q", n, len(s.calls.selected), s.calls.upto, s.calls.filter)
		}
		found := len(s.calls.selected)
		d.keys("ctrl+u", `+"no record`)
		start = time.Now()
		d.keys(`+"`)
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/filter-text")
		if n := len(s.calls.selected); n <= found {
			b.Fatalf("%d rows have the text, %d the tool", n, found)
		}
		d.keys("esc", "q")
	}
}

// keyTimes measures from a key to the picture that has all it led to, rows that had to
// be read from the file included.
func keyTimes(d *driver) (times []time.Duration) {
	for i := range 600 {
		key := []string{"down", "pgdown", "end", "pgup", "up", "tab", "tab", "e", "home", "f", "]", "pgdown"}[i%12]
		if i%50 == 0 {
			d.app.top().(*session).calls.list.Go(i * 700)
		}
		start := time.Now()
		d.keys(key)
		times = append(times, time.Since(start))
	}
	return times
}

func percentile99(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)*99/100].Microseconds()) / 1000
}

// BenchmarkReports opens each report on a session of many frames, and brings it the
// answer once more, as a live session does: the first is the work of commands, the second
// what a key may have to wait for.
func BenchmarkReports(b *testing.B) {
	const frames = 200000
	store := generate(b, frames)
	for _, key := range []string{"t", "i", "p", "r", "S"} {
		b.Run(key, func(b *testing.B) {
			d := drive(b, store, colorprofile.TrueColor, 120, 40).keys("enter")
			for b.Loop() {
				start := time.Now()
				d.keys(key)
				b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/open")
				if d.app.prompt != nil {
					d.keys("esc")
				}
				r := d.app.top().(*reportScreen)
				start = time.Now()
				d.app.Update(reportMsg{of: r, id: r.id, review: r.review})
				d.app.View()
				b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "ms/answer")
				d.keys("esc")
			}
		})
	}
}
