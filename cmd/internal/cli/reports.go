package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"

	"github.com/mcptap/mcptap/decode/rules"
	"github.com/mcptap/mcptap/ui/safetext"
)

// wholeReport is the half of a reporter that can write only when all is known.
type wholeReport struct{}

func (wholeReport) soFar(*checked)    {}
func (wholeReport) flushSoFar() error { return nil }

// sarifReporter writes the Static Analysis Results Interchange Format 2.1.0
// (OASIS), which code hosts show beside a change.
type sarifReporter struct {
	wholeReport
	out     io.Writer
	rules   []*rules.Rule // that were checked
	results []sarifResult
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string       `json:"id"`
	ShortDescription sarifMessage `json:"shortDescription"`
	HelpURI          string       `json:"helpUri,omitempty"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID          string          `json:"ruleId"`
	Level           string          `json:"level"`
	Message         sarifMessage    `json:"message"`
	OccurrenceCount int             `json:"occurrenceCount"`
	Locations       []sarifLocation `json:"locations,omitempty"`
}

type sarifLocation struct {
	PhysicalLocation struct {
		ArtifactLocation struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
	} `json:"physicalLocation"`
	LogicalLocations []sarifLogical `json:"logicalLocations"`
}

type sarifLogical struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

var sarifLevels = map[rules.Severity]string{rules.Error: "error", rules.Warning: "warning", rules.Info: "note"}

func (r *sarifReporter) session(c *checked) {
	for i := range c.findings {
		f := &c.findings[i]
		at := sarifLocation{LogicalLocations: []sarifLogical{{Name: where(f), Kind: "member"}}}
		at.PhysicalLocation.ArtifactLocation.URI = filepath.ToSlash(c.path)
		r.results = append(r.results, sarifResult{
			RuleID: f.Rule.ID, Level: sarifLevels[f.Severity], OccurrenceCount: f.Count,
			Message:   sarifMessage{fmt.Sprintf("%s (%s, %s)", f.Words(), f.Side, where(f))},
			Locations: []sarifLocation{at},
		})
	}
}

func (r *sarifReporter) flush() error {
	driver := sarifDriver{Name: "mcptap", Version: versionString()}
	for _, rule := range r.rules {
		driver.Rules = append(driver.Rules, sarifRule{ID: rule.ID, ShortDescription: sarifMessage{rule.Title}})
	}
	if r.results == nil {
		r.results = []sarifResult{}
	}
	enc := json.NewEncoder(safetext.JSON(r.out))
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{Tool: sarifTool{driver}, Results: r.results}},
	})
}

// junitReporter writes the XML that CI systems read as test results: a suite a
// session, a case a rule that was broken.
type junitReporter struct {
	wholeReport
	out       io.Writer
	rules     []*rules.Rule  // that were checked
	threshold rules.Severity // from which on a finding is a failure
	suites    []junitSuite
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Output  string        `xml:"system-out,omitempty"` // a finding that is no failure
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (r *junitReporter) session(c *checked) {
	s := junitSuite{Name: c.name}
	broken := map[string]bool{}
	for i := range c.findings {
		f := &c.findings[i]
		broken[f.Rule.ID] = true
		one := junitCase{Class: f.Rule.ID, Name: f.Rule.Title}
		words, details := safetext.Line(f.Words()), fmt.Sprintf("%s, %s, %d times", f.Side, where(f), f.Count)
		if f.Severity <= r.threshold {
			s.Failures++
			one.Failure = &junitFailure{Type: f.Severity.String(), Message: words, Text: details}
		} else {
			one.Output = fmt.Sprintf("%s: %s (%s)", f.Severity, words, details)
		}
		s.Cases = append(s.Cases, one)
	}
	for _, rule := range r.rules {
		if !broken[rule.ID] {
			s.Cases = append(s.Cases, junitCase{Class: rule.ID, Name: rule.Title})
		}
	}
	s.Tests = len(s.Cases)
	r.suites = append(r.suites, s)
}

func (r *junitReporter) flush() error { return writeJUnit(r.out, r.suites) }

func writeJUnit(out io.Writer, suites []junitSuite) error {
	b := bytes.NewBufferString(xml.Header) // an encoder hands on pieces of characters
	enc := xml.NewEncoder(b)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: suites}); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := safetext.XML(out).Write(b.Bytes())
	return err
}
