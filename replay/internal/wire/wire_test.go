package wire

import "testing"

func TestGet(t *testing.T) {
	body := []byte(`{"a":1,"b":{"x/y":[{"z":"first"},{"z":null,"z":"last"}]},"a":2}`)
	root := Root(body)
	if got := root.Get("a"); got.Raw != "2" || got.Path != "/a" {
		t.Errorf("a is %s at %s", got.Raw, got.Path)
	}
	items := root.At("b", "x/y").Items()
	if len(items) != 2 || items[1].Get("z").Text() != "last" || items[1].Get("z").Path != "/b/x~1y/1/z" {
		t.Errorf("the items are %v", items)
	}
	for _, v := range []Value{root.Get("none"), root.At("a", "b"), Root(nil), Root([]byte("[")), Root([]byte(`{"a`))} {
		if v.Get("x").Exists() || v.Text() != "" || len(v.Items()) > 0 && v.Items()[0].There() {
			t.Errorf("%q holds something", v.Raw)
		}
	}
	names, values := root.Members()
	if len(names) != 3 || values[2].Raw != "2" {
		t.Errorf("the members are %v", names)
	}
}

func TestMessage(t *testing.T) {
	batch := []byte(`[{"id":1,"method":"m"},{"id":"1","result":{}},{"id":1,"result":{"r":1}}]`)
	for _, c := range []struct {
		id       string
		response bool
		path     string
	}{{"1", false, "/0"}, {"1", true, "/2"}, {`"1"`, true, "/1"}} {
		if got := Message(batch, c.id, c.response).Path; got != c.path {
			t.Errorf("id %s, response %v is at %s", c.id, c.response, got)
		}
	}
	if v := Message(batch, "7", true); v.Exists() {
		t.Errorf("an id that is not there is %s", v.Raw)
	}
}

func FuzzValue(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":"\ud800"}]}`), "a")
	f.Add([]byte(`[`), "")
	f.Fuzz(func(_ *testing.T, body []byte, name string) {
		v := Message(body, name, true)
		for _, i := range v.Get(name).Items() {
			i.Get(name).Text()
		}
		v.Members()
	})
}
