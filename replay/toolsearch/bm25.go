package toolsearch

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

func (x *Index) bm25(r *Result) error {
	if err := tooLong("query", r.Query, known().BM25.MaxQuery); err != nil {
		return err
	}
	r.rank(x.rankings(Words(r.Query), nil))
	return nil
}

// rank combines rankings, and says why a tool is in some of them only.
func (r *Result) rank(lists [][]int) {
	r.combine(lists)
	for i := range r.All {
		if r.All[i].Missed > 0 {
			r.All[i].Doubt = "only if words like a and the count"
		}
	}
}

// rankings ranks the documents that have one of the words, under each setting.
// Documents in also come last, in the catalogue's order, if they have none.
func (x *Index) rankings(words []string, also []int) [][]int {
	lists := make([][]int, len(settings()))
	for i, s := range settings() {
		lists[i] = x.ranking(words, also, s)
	}
	return lists
}

// ranking is Okapi BM25 (Robertson and Zaragoza, 2009) with the inverse document
// frequency of Lucene, which is never negative. A tie goes by the catalogue.
func (x *Index) ranking(words []string, also []int, s setting) []int {
	scores := map[int]float64{}
	for _, d := range also {
		scores[d] = 0
	}
	mean := x.meanLength(s)
	for _, w := range words {
		if s.skipStops && bm25Stop()[w] {
			continue
		}
		of := x.words[x.fold(w)]
		n := float64(len(of))
		idf := math.Log(1 + (float64(len(x.docs))-n+0.5)/(n+0.5))
		for _, p := range of {
			tf := s.nameWeight*float64(p.name) + float64(p.rest)
			length := x.docs[p.doc].length(s)
			scores[p.doc] += idf * tf * (s.k1 + 1) / (tf + s.k1*(1-s.b+s.b*length/mean))
		}
	}
	list := make([]int, 0, len(scores))
	for d := range scores {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return list
}

func (d *document) length(s setting) float64 {
	name, rest := d.nameLen, d.restLen
	if s.skipStops {
		name, rest = name-d.nameStops, rest-d.restStops
	}
	return s.nameWeight*float64(name) + float64(rest)
}

func (x *Index) meanLength(s setting) float64 {
	sum := 0.0
	for i := range x.docs {
		sum += x.docs[i].length(s)
	}
	return max(1, sum/float64(max(1, len(x.docs))))
}

// claudeCode understands the three forms of a query that the description of
// Claude Code's tool names: select:a,b gives tools by name; +word must be in the
// name; the rest ranks.
func (x *Index) claudeCode(r *Result) error {
	if names, ok := strings.CutPrefix(r.Query, "select:"); ok {
		x.selectTools(r, names)
		return nil
	}
	if err := tooLong("query", r.Query, known().BM25.MaxQuery); err != nil {
		return err
	}
	r.StandIn = true
	var must, rest []string
	for w := range strings.FieldsSeq(r.Query) {
		if needed, ok := strings.CutPrefix(w, "+"); ok && needed != "" {
			must = append(must, strings.ToLower(needed))
		} else {
			rest = append(rest, Words(w)...)
		}
	}
	if len(must) == 0 {
		r.rank(x.rankings(rest, nil))
		return nil
	}
	named := x.named(must)
	lists := x.rankings(rest, named)
	for i := range lists {
		lists[i] = slices.DeleteFunc(lists[i], func(d int) bool { _, ok := slices.BinarySearch(named, d); return !ok })
	}
	r.rank(lists)
	return nil
}

// named gives the tools whose names have all of the words in them.
func (x *Index) named(must []string) (tools []int) {
	for i := range x.docs {
		name := strings.ToLower(x.docs[i].name)
		if !slices.ContainsFunc(must, func(w string) bool { return !strings.Contains(name, w) }) {
			tools = append(tools, i)
		}
	}
	return tools
}

func (x *Index) selectTools(r *Result, names string) {
	var list []int
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		tool, ok := x.names[name]
		switch {
		case !ok && name != "":
			r.Missing = append(r.Missing, name)
		case ok && !slices.Contains(list, tool):
			list = append(list, tool)
		}
	}
	r.Limit = max(r.Limit, len(list)) // names are not cut
	r.combine([][]int{list})
}
