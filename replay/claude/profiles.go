package claude

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcptap/mcptap/replay"
)

//go:embed profiles.json
var profilesFile []byte

// Profiles is a set of host profiles: profiles.json, or a user's own.
type Profiles struct {
	AsOf     string    `json:"as_of"`
	Defaults Defaults  `json:"defaults"`
	Profiles []Profile `json:"profiles"`
}

// Defaults are what every profile starts from.
type Defaults struct {
	Model         string   `json:"model"`
	MaxTokens     int      `json:"max_tokens"`
	ImageTypes    []string `json:"image_types"`
	CharsPerToken float64  `json:"chars_per_token"`
	SearchTool    string   `json:"search_tool"`
	RelayMark     string   `json:"relay_mark"`
}

// A Profile is how one host makes a request of what servers say. Its fields are
// explained in profiles.json.
type Profile struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	Date       string `json:"date"`
	Confidence string `json:"confidence"` // high, medium or low
	Evidence   string `json:"evidence"`
	Detect     struct {
		Clients []string `json:"clients"`
		Meta    []string `json:"meta"`
	} `json:"detect"`
	Shape              string           `json:"shape"` // "connector", or empty
	Name               NameRule         `json:"name"`
	Instructions       InstructionsRule `json:"instructions"`
	DescriptionMax     int              `json:"description_max"`
	CutMark            string           `json:"cut_mark"`
	ResultMaxTokens    int              `json:"result_max_tokens"`
	ResultOver         string           `json:"result_over"`
	ResultMaxMeta      string           `json:"result_max_meta"`
	ResultMaxMetaLimit int              `json:"result_max_meta_limit"`
	Structured         string           `json:"structured"`
	StructuredOnError  string           `json:"structured_on_error"`
	Texts              string           `json:"texts"`
	Blocks             BlockRules       `json:"blocks"`
	Line               string           `json:"line"`
	Prefix             string           `json:"prefix"`
	Audience           bool             `json:"audience"`
	IsError            string           `json:"is_error"` // "dropped", or empty
	Loading            string           `json:"loading"`
	AlwaysLoadMeta     string           `json:"always_load_meta"`
	RootCombinators    string           `json:"root_combinators"` // "flatten", or empty
	BackgroundAfter    int              `json:"background_after_ms"`
	Parallel           string           `json:"parallel"`
	ToolsMax           int              `json:"tools_max"`
	Assumed            []string         `json:"assumed"`
	Notes              []string         `json:"notes"`

	defaults Defaults
	keep     *regexp.Regexp // characters of a server's part that are replaced
}

// A NameRule is how a tool's name is composed.
type NameRule struct {
	Template  string `json:"template"`
	Lower     bool   `json:"lower"`
	Keep      string `json:"keep"`
	Runs      bool   `json:"runs"`
	ServerMax int    `json:"server_max"`
	Numbered  bool   `json:"numbered"`
	ToolAsIs  bool   `json:"tool_as_is"`
	Max       int    `json:"max"`
	PairMax   int    `json:"pair_max"`
	Over      string `json:"over"`
}

// An InstructionsRule is where a server's instructions go.
type InstructionsRule struct {
	Lane    string `json:"lane"`
	Heading string `json:"heading"`
	Each    string `json:"each"`
	Max     int    `json:"max"`
	Note    string `json:"note"`
}

// BlockRules say what becomes of each kind of content.
type BlockRules struct {
	Text         string `json:"text"`
	Image        string `json:"image"`
	ImageOther   string `json:"image_other"`
	Audio        string `json:"audio"`
	ResourceLink string `json:"resource_link"`
	// LinkedImage is for links to images, where a host treats them apart.
	LinkedImage  string `json:"resource_link_image"`
	ResourceText string `json:"resource_text"`
	ResourcePDF  string `json:"resource_pdf"`
	ResourceBlob string `json:"resource_blob"`
	Other        string `json:"other"`
}

// Builtin gives the profiles that come with the program.
var Builtin = sync.OnceValue(func() *Profiles {
	p, err := ParseProfiles(profilesFile)
	if err != nil {
		panic(err) // our own file, checked by a test
	}
	return p
})

// ParseProfiles reads a file of profiles, in the form of profiles.json.
func ParseProfiles(b []byte) (*Profiles, error) {
	p := new(Profiles)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("reading the host profiles: %w", err)
	}
	if len(p.Profiles) == 0 {
		return nil, errors.New("the host profiles have no member profiles, or it is empty")
	}
	for i := range p.Profiles {
		h := &p.Profiles[i]
		if err := h.check(); err != nil {
			return nil, fmt.Errorf("host profile %d (%q): %w", i+1, h.ID, err)
		}
		h.defaults = p.Defaults
	}
	if _, err := p.Get(Generic); err != nil {
		return nil, fmt.Errorf("the host profiles lack %q, which stands for any host that is not known", Generic)
	}
	return p, p.Defaults.check()
}

func (d *Defaults) check() error {
	if d.Model == "" || d.MaxTokens <= 0 || d.CharsPerToken <= 0 || d.SearchTool == "" {
		return errors.New("the host profiles' defaults need model, max_tokens, chars_per_token and search_tool")
	}
	return nil
}

// What fields of a profile may say.
var choices = map[string][]string{
	"instructions.lane":   {laneSystem, laneAttachment, laneNone, laneUnknown},
	"structured":          {structuredPrefer, structuredIfEmpty, structuredBoth, structuredIgnore},
	"structured_on_error": {structuredPrefer, structuredIfEmpty, structuredBoth, structuredIgnore},
	"texts":               {"blocks", textsJoined},
	"loading":             {LoadUpfront, LoadDeferredNames, LoadDeferredHidden},
	"name.over":           {overCut, overOmit, overRefuse},
	"confidence":          {"high", "medium", "low"},
	"blocks":              {asText, asImage, asDocument, asLine, asPrefixed, asJSON, asSaved, asRaises, asData, asLink, asImageURL, asDropped, asUnknown},
}

// Words of profiles.json.
const (
	// Generic is the profile of a host that is not known.
	Generic = "generic"

	laneSystem     = "system"
	laneAttachment = "attachment"
	laneNone       = "none"
	laneUnknown    = "unknown"

	structuredPrefer  = "prefer"
	structuredIfEmpty = "if_empty"
	structuredBoth    = "both"
	structuredIgnore  = "ignore"

	textsJoined = "joined"

	// LoadUpfront and the others are how definitions of tools are loaded: all
	// of them, the names only, or not even those.
	LoadUpfront        = "upfront"
	LoadDeferredNames  = "deferred_names"
	LoadDeferredHidden = "deferred_hidden"

	overCut    = "cut"
	overOmit   = "omit"
	overRefuse = "refuse"

	shapeConnector = "connector"

	asText     = "text"
	asImage    = "image"
	asDocument = "document"
	asLine     = "line"
	asPrefixed = "prefixed"
	asJSON     = "json"
	asSaved    = "saved"
	asRaises   = "raises"
	asData     = "data"
	asLink     = "link"
	asImageURL = "image_url"
	asDropped  = "drop"
	asUnknown  = "unknown"
)

func (h *Profile) check() error {
	b := &h.Blocks
	type field struct{ of, value string }
	fields := []field{
		{"instructions.lane", h.Instructions.Lane}, {"structured", h.Structured}, {"structured_on_error", h.StructuredOnError},
		{"texts", h.Texts}, {"loading", h.Loading}, {"name.over", h.Name.Over}, {"confidence", h.Confidence},
	}
	for _, v := range []string{b.Text, b.Image, b.ImageOther, b.Audio, b.ResourceLink, b.ResourceText, b.ResourcePDF, b.ResourceBlob, b.Other} {
		fields = append(fields, field{"blocks", v})
	}
	if b.LinkedImage != "" {
		fields = append(fields, field{"blocks", b.LinkedImage})
	}
	for _, f := range fields {
		if !slices.Contains(choices[f.of], f.value) {
			return fmt.Errorf("%s is %q; it may be %s", f.of, f.value, strings.Join(choices[f.of], ", "))
		}
	}
	switch {
	case h.ID == "" || h.Evidence == "" || h.Date == "":
		return errors.New("it needs id, evidence and date")
	case !strings.Contains(h.Name.Template, "{tool}"):
		return errors.New("name.template has no {tool}")
	case h.Name.Max < 1 || h.Name.Max > maxAPIName:
		return fmt.Errorf("name.max is %d; it may be 1 to %d", h.Name.Max, maxAPIName)
	}
	keep, err := regexp.Compile("[^" + h.Name.Keep + "]")
	if err != nil {
		return fmt.Errorf("name.keep is no set of characters: %w", err)
	}
	h.keep = keep
	return nil
}

// Get gives the profile with this id.
func (p *Profiles) Get(id string) (*Profile, error) {
	for i := range p.Profiles {
		if p.Profiles[i].ID == id {
			return &p.Profiles[i], nil
		}
	}
	return nil, fmt.Errorf("there is no host profile %q; there are %s", id, strings.Join(p.IDs(), ", "))
}

// IDs gives the ids of all profiles.
func (p *Profiles) IDs() (ids []string) {
	for i := range p.Profiles {
		ids = append(ids, p.Profiles[i].ID)
	}
	return ids
}

// Detect finds the profile of the host of a timeline, by what it calls itself and
// by the members of _meta that only one host sends. reason is for people.
func (p *Profiles) Detect(t *replay.Timeline) (h *Profile, reason string) {
	var seen []string
	for i, s := range t.Sessions {
		for _, c := range s.Clients() {
			if h := p.ByClient(c.Name); h != nil {
				return h, fmt.Sprintf("the client calls itself %q", c.Name)
			}
			if !slices.Contains(seen, c.Name) {
				seen = append(seen, c.Name)
			}
		}
		for k := range p.Profiles {
			for _, m := range p.Profiles[k].Detect.Meta {
				if t.HasMeta(i, m) {
					return &p.Profiles[k], "its calls carry _meta." + m
				}
			}
		}
	}
	h, _ = p.Get(Generic) // there is one: ParseProfiles saw to it
	if len(seen) == 0 {
		return h, "the client does not say what it is"
	}
	return h, fmt.Sprintf("no profile for a client %q", seen[0])
}

// ByClient gives the profile of a client by the name that it gives itself, nil if there
// is none.
func (p *Profiles) ByClient(name string) *Profile {
	if p.Defaults.RelayMark != "" {
		name, _, _ = strings.Cut(name, p.Defaults.RelayMark)
	}
	for i := range p.Profiles {
		for _, c := range p.Profiles[i].Detect.Clients {
			if strings.EqualFold(c, name) {
				return &p.Profiles[i]
			}
		}
	}
	return nil
}

// Assumes reports whether a field is not known of this host.
func (h *Profile) Assumes(field string) bool { return slices.Contains(h.Assumed, field) }
