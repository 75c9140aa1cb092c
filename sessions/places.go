package sessions

import "math"

// A place is where a frame's line stands in the file, in bytes.
type place struct{ offset, size int64 }

// places are the places of all frames, in eight bytes each: a page knows where it
// begins, and a frame how far behind that its line stands.
type places struct {
	pages []*placePage
	n     int
	wide  map[int]place // of frames that do not fit into that
}

const placesInPage = 1 << 10

type placePage struct {
	offset int64
	near   [placesInPage]struct{ offset, size uint32 }
}

// isWide in the room of a size says that the place is in the map.
const isWide = math.MaxUint32

func (p *places) add(at place) {
	i := p.n % placesInPage
	if i == 0 {
		p.pages = append(p.pages, &placePage{offset: at.offset})
	}
	page := p.pages[len(p.pages)-1]
	near := &page.near[i]
	if d := at.offset - page.offset; d >= 0 && d <= math.MaxUint32 && at.size >= 0 && at.size < isWide {
		near.offset, near.size = uint32(d), uint32(at.size)
	} else {
		near.size = isWide
		if p.wide == nil {
			p.wide = map[int]place{}
		}
		p.wide[p.n] = at
	}
	p.n++
}

// at gives the place of a frame that was added.
func (p *places) at(frame int) place {
	page := p.pages[frame/placesInPage]
	near := page.near[frame%placesInPage]
	if near.size == isWide {
		return p.wide[frame]
	}
	return place{page.offset + int64(near.offset), int64(near.size)}
}

func (p *places) has(frame int) bool { return frame >= 0 && frame < p.n }
