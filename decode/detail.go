package decode

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// An AccountItem is a piece of a part, by the name of the member that it is spent on:
// _meta/progressToken, content[0], structuredContent, arguments. The empty name
// stands for what lies between: braces, commas and the keys around.
type AccountItem struct {
	Part  Part
	Name  string // text from the outside
	Bytes int64
}

// maxItems is how many pieces an account is split into at most; the rest counts
// under the empty name.
const maxItems = 1000

// AccountDetail splits the parts of AccountOf further. The items of one part add
// up to that part.
func AccountDetail(body []byte, lineEnd int) []AccountItem {
	k := bookkeeper{b: body, items: map[AccountItem]int64{}}
	k.run(lineEnd)
	for p := range NumParts {
		rest := k.a[p]
		for it, n := range k.items {
			if it.Part == p {
				rest -= n
			}
		}
		k.items[AccountItem{Part: p}] += rest
	}
	out := make([]AccountItem, 0, len(k.items))
	for _, it := range slices.SortedFunc(maps.Keys(k.items), compareItems) {
		if n := k.items[it]; n != 0 {
			out = append(out, AccountItem{it.Part, it.Name, n})
		}
	}
	return out
}

func compareItems(a, b AccountItem) int {
	return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Name, b.Name))
}

// name notes what bytes of a part are spent on, if anybody asked for it.
func (k *bookkeeper) name(p Part, name string, n int64) {
	it := AccountItem{Part: p, Name: name}
	if _, known := k.items[it]; k.items == nil || !known && len(k.items) >= maxItems {
		return
	}
	k.items[it] += n
}

// nameMember names a member of params or result, those of _meta and the blocks of
// content one by one.
func (k *bookkeeper) nameMember(p Part, w *walker) {
	if k.items == nil {
		return
	}
	key := string(w.name())
	switch {
	case key == "_meta" && isObject(k.b, w.value):
		for m := walk(k.b, w.value); m.next(); {
			k.name(p, "_meta/"+string(m.name()), k.cost(&m))
		}
	case (key == "content" || key == "contents") && isArray(k.b, w.value):
		i := 0
		for m := walk(k.b, w.value); m.next(); i++ {
			k.name(p, blockName(i), k.solid(m.value))
		}
	default:
		k.name(p, key, k.cost(w))
	}
}

func blockName(i int) string { return "content[" + strconv.Itoa(i) + "]" }
