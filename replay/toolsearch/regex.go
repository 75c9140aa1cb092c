package toolsearch

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// regex matches in the catalogue's order under each reading. The budget is for all
// of them: what the engine gives up, the API would too.
func (x *Index) regex(r *Result, o Options) error {
	if err := tooLong("pattern", r.Query, known().Regex.MaxPattern); err != nil {
		return err
	}
	expr, err := translate(r.Query)
	if err != nil {
		return err
	}
	m := newMatcher(o)
	lists := make([][]int, len(known().Regex.Readings))
	for i, way := range known().Regex.Readings {
		if lists[i], err = x.matching(m, expr, way); err != nil {
			return err
		}
	}
	r.combine(lists)
	for i := range r.All {
		r.All[i].Doubt = doubt(r.All[i].Tool, lists)
	}
	return nil
}

// matcher gives every match what is left of one budget.
type matcher struct {
	now func() time.Time
	end time.Time
}

func newMatcher(o Options) *matcher {
	m := &matcher{now: o.Now}
	if m.now == nil {
		m.now = time.Now
	}
	spend := o.Budget
	if spend <= 0 {
		spend = budget()
	}
	m.end = m.now().Add(spend)
	return m
}

var errTime = &QueryError{codeTime, "the pattern takes too long: it backtracks"}

func (x *Index) matching(m *matcher, expr string, way reading) (list []int, err error) {
	re, err := compile(expr, way.IgnoreCase)
	if err != nil {
		return nil, err
	}
	for i := range x.docs {
		fields := []string{x.docs[i].joined}
		if !way.Joined {
			fields = x.docs[i].fields()
		}
		ok, err := m.any(re, fields)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, i)
		}
	}
	return list, nil
}

// any reports whether the pattern is found in one of the fields.
func (m *matcher) any(re *regexp2.Regexp, fields []string) (found bool, err error) {
	defer func() {
		if r := recover(); r != nil { // the library's own business
			err = &QueryError{"", fmt.Sprintf("the pattern can't be tried offline: %v", r)}
		}
	}()
	for _, f := range fields {
		if re.MatchTimeout = m.end.Sub(m.now()); re.MatchTimeout <= 0 {
			return false, errTime
		}
		ok, err := re.MatchString(f)
		switch {
		case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
			return false, &QueryError{"", "the pattern can't be tried offline: it backtracks too deeply"}
		case err != nil:
			return false, errTime
		case ok:
			return true, nil
		}
	}
	return false, nil
}

// compile makes a translated pattern ready.
func compile(expr string, ignoreCase bool) (re *regexp2.Regexp, err error) {
	defer func() {
		if r := recover(); r != nil { // the library's own business
			err = &QueryError{"", fmt.Sprintf("the pattern can't be tried offline: %v", r)}
		}
	}()
	options := regexp2.None
	if ignoreCase {
		options = regexp2.IgnoreCase
	}
	re, err = regexp2.Compile(expr, options, regexp2.OptionMaintainCaptureOrder())
	if err != nil {
		return nil, &QueryError{codeInvalid, err.Error()}
	}
	return re, nil
}

// doubt says what the readings that find a tool have in common.
func doubt(tool int, lists [][]int) string {
	var with, without []reading
	for i, way := range known().Regex.Readings {
		if slices.Contains(lists[i], tool) {
			with = append(with, way)
		} else {
			without = append(without, way)
		}
	}
	all := func(has func(reading) bool) bool {
		for _, w := range with {
			if !has(w) {
				return false
			}
		}
		for _, w := range without {
			if has(w) {
				return false
			}
		}
		return true
	}
	switch {
	case len(without) == 0:
		return ""
	case all(func(w reading) bool { return w.Joined }):
		return "only if the fields are joined"
	case all(func(w reading) bool { return !w.Joined }):
		return "only if the fields are matched one by one"
	case all(func(w reading) bool { return w.IgnoreCase }):
		return "only if case is ignored"
	case all(func(w reading) bool { return !w.IgnoreCase }):
		return "only if case counts"
	}
	return fmt.Sprintf("under %d of %d readings of the documentation", len(with), len(lists))
}
