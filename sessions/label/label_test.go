package label

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var valid = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// split splits a test's command line at blanks, but for those between '...'.
func split(line string) []string {
	var argv []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			argv = append(argv, part)
			continue
		}
		argv = append(argv, strings.Fields(part)...)
	}
	return argv
}

func TestGuess(t *testing.T) {
	tests := []struct{ line, want string }{
		{"", "session"},
		{"my-server", "my-server"},
		{"/usr/local/bin/my-server --port 80", "my-server"},
		{"./server", "server"},
		{"/opt/acme/bin/server", "acme"},
		{"/usr/bin/server", "server"},
		{"/home/bob/server", "server"},
		{"/home/bob/acme/bin/server", "acme"},
		{`C:\x\y.exe`, "y"},
		{`'C:\Program Files\Acme\server.exe'`, "Acme"},
		{`C:\Users\bob\server.exe`, "server"},
		{"./run.sh --token abc", "run"},
		{"./start SECRET", "start"},
		{"./mcp run SECRET", "mcp"},
		{"start.sh SECRET", "start"},

		// node
		{"npx -y @scope/server-x@1.2", "server-x"},
		{"npx @scope/server-x", "server-x"},
		{"npx -y server-x@latest /data/dir", "server-x"},
		{"npx --yes --package @scope/x server-y", "server-y"},
		{"npx --package=@scope/x server-y", "server-y"},
		{"npx -p @scope/x -c 'server-y --port 1'", "server-y"},
		{"npx -y @playwright/mcp@latest", "playwright"},
		{"npx -y @acme/mcp-server", "acme"},
		{"npx -y github:acme/thing#main", "thing"},
		{"npx -y tsx src/tickets.ts", "tickets"},
		{`C:\nodejs\npx.cmd -y server-x`, "server-x"},
		{"/usr/bin/npx -y server-x", "server-x"},
		{"npx", "npx"},
		{"npm exec -- x", "x"},
		{"npm exec --yes -- @scope/x@1 --flag", "x"},
		{"npm x -y foo", "foo"},
		{"npm run start", "start"},
		{"npm run start:mcp -- --token x", "start-mcp"},
		{"npm --prefix /a/acme run start", "acme"},
		{"npm --prefix /a/acme start", "acme"},
		{"npm start", "start"},
		{"pnpm dlx @scope/x@2", "x"},
		{"pnpm --silent -C /a/acme start", "acme"},
		{"pnpm --package=foo dlx bar", "bar"},
		{"yarn dlx -q -p foo bar", "bar"},
		{"yarn mcp:serve", "mcp-serve"},
		{"yarn tsx tickets.ts", "tickets"},
		{"bunx --bun foo@1", "foo"},
		{"bun run /a/acme/src/index.ts", "acme"},
		{"bun x foo", "foo"},
		{"bun --watch tickets.ts", "tickets"},
		{"deno run -A npm:@x/y", "y"},
		{"deno run -A npm:@x/y@1.2/bin", "bin"},
		{"deno run --allow-net --allow-env=A,B -c deno.json tickets.ts", "tickets"},
		{"deno run -A https://mods.example/x/foo/mod.ts?key=abc", "foo"},
		{"deno run -A jsr:@acme/tickets", "tickets"},
		{"deno task start", "start"},
		{"node server.js", "server"},
		{"node dist/index.js", "index"},
		{"node /a/acme-tickets/dist/index.js", "acme-tickets"},
		{`node C:\a\acme-tickets\dist\index.js`, "acme-tickets"},
		{"node --inspect --max-old-space-size=4096 -r dotenv/config --env-file .env tickets.mjs", "tickets"},
		{"node --import tsx tickets.ts", "tickets"},
		{"node --unknown-option value tickets.js", "tickets"},
		{"node -e console.log(1) secret", "node"},
		{"node /usr/lib/node_modules/npm/bin/npx-cli.js -y foo", "foo"},
		{"node node_modules/.bin/tsx tickets.ts", "tickets"},
		{"node env SECRET", "env"},
		{"node20 tickets.js", "tickets"},

		// python
		{"python server.py", "server"},
		{"python3.12 -u server.py", "server"},
		{"python -m my_server", "my_server"},
		{"python -um my_server --token x", "my_server"},
		{"python -m acme.tickets.server", "tickets"},
		{"python -m acme.__main__", "acme"},
		{"python -W ignore -X dev /a/acme/server.py", "acme"},
		{"python -c 'import x' SECRET", "python"},
		{"py -3.11 tickets.py", "tickets"},
		{"/x/.venv/bin/python -m tickets", "tickets"},
		{"python -m uvicorn tickets:app --port 80", "tickets"},
		{"python -m fastmcp run tickets.py:mcp", "tickets"},
		{"uvx mcp-server-git", "mcp-server-git"},
		{"uvx mcp-server-git@latest --repository /x", "mcp-server-git"},
		{"uvx --from git+https://github.com/a/b.git@v1 serena start", "serena"},
		{"uvx --python 3.12 --with x 'tickets[cli]==1.0'", "tickets"},
		{"uvx git+https://github.com/acme/tickets.git@v1", "tickets"},
		{"uv run --directory /x server.py", "x"},
		{"uv --directory /a/weather run weather.py", "weather"},
		{"uv --directory /a/weather run server.py", "weather"},
		{"uv run --with mcp[cli] mcp run tickets.py", "tickets"},
		{"uv run --with 'mcp[cli]' --no-project tickets.py", "tickets"},
		{"uv run -m tickets", "tickets"},
		{"uv run -- python -m tickets", "tickets"},
		{"uv run tickets", "tickets"},
		{"uv tool run --from x tickets", "tickets"},
		{"pipx run tickets", "tickets"},
		{"pipx run --spec x tickets", "tickets"},
		{"poetry run tickets", "tickets"},
		{"poetry -C /x/acme run python server.py", "acme"},
		{"conda run -n env --no-capture-output python -m tickets", "tickets"},

		// containers
		{"docker run -i --rm -e X images.example/github/github-mcp-server:latest", "github-mcp-server"},
		{"docker run -i --rm -e GITHUB_TOKEN=abc --mount type=bind,src=/x,dst=/x mcp/filesystem /x", "filesystem"},
		{"docker run -it -v /x:/y --name n --network=host a/b@sha256:0123", "b"},
		{"docker run -ie A=b a/b", "b"},
		{"docker run --rm -i localhost:5000/a/b:1", "b"},
		{"docker run --rm -i mcp/time --local-timezone=x", "time"},
		{"docker run --rm -i node:22 npx -y foo", "foo"},
		{"docker run --rm -i --brand-new x images.example/github/github-mcp-server", "github-mcp-server"},
		{"docker run --rm -i --brand-new SECRET a/b", "docker"},
		{"docker --context c run -i a/b", "b"},
		{"docker exec -i -e A=b tickets-1 node x.js", "tickets-1"},
		{"docker compose -f x.yml run --rm tickets", "tickets"},
		{"podman run -i images.example/acme/server", "acme"},
		{"kubectl exec -i -n ns pod -- uvx tickets", "tickets"},

		// shells
		{"sh -c 'exec node foo.js'", "foo"},
		{"bash -lc 'uvx x'", "x"},
		{"bash -euo pipefail -c 'cd /a/acme && node dist/index.js 2>/dev/null'", "acme"},
		{"sh -c 'npm install >&2; API_KEY=abc npx -y foo --key abc | tee log'", "foo"},
		{"sh -c 'node foo.js || exit 1'", "foo"},
		{"sh -c 'API_KEY=$(cat /run/key) npx -y foo'", "foo"},
		{"bash -c 'source ~/.nvm/nvm.sh && nvm use 20 && npx -y foo'", "foo"},
		{"bash -c '. venv/bin/activate; python -m \"tickets\"'", "tickets"},
		{"sh -c 'exec \"$@\"' sh uvx tickets", "tickets"},
		{"sh -c '' sh uvx tickets", "sh"},
		{"bash /a/acme/run.sh", "acme"},
		{"bash tickets.sh", "tickets"},
		{"cmd /c npx -y foo", "foo"},
		{"cmd.exe /d /s /C 'npx -y foo'", "foo"},
		{`cmd /c 'cd /d C:\a\acme && node index.js'`, "acme"},
		{"powershell -NoProfile -ExecutionPolicy Bypass -File tickets.ps1", "tickets"},
		{"pwsh -c 'uvx tickets'", "tickets"},
		{"wsl -d Ubuntu -- bash -lc 'uvx tickets'", "tickets"},
		{"wsl.exe uvx tickets", "tickets"},
		{"ssh -i key -p 22 bob@host.example uvx tickets", "tickets"},
		{"ssh bob@host.example", "host.example"},

		// wrappers
		{"env A=b node x.js", "x"},
		{"env -u A -i A=b C=d node x.js", "x"},
		{"env -S 'node x.js'", "x"},
		{"/usr/bin/env python3 x.py", "x"},
		{"API_KEY=abc node x.js", "x"},
		{"sudo -u bob -E A=b node x.js", "x"},
		{"sudo -nu bob uvx tickets", "tickets"},
		{"nice -n 5 node x.js", "x"},
		{"nice -10 node x.js", "x"},
		{"timeout -k 5 60 node x.js", "x"},
		{"nohup setsid stdbuf -oL node x.js", "x"},
		{"mise exec node@20 -- node x.js", "x"},
		{"dotenv -e .env -- uvx tickets", "tickets"},
		{"op run --env-file .env -- uvx tickets", "tickets"},
		{"aws-vault exec prof -- uvx tickets", "tickets"},
		{"su -c 'node x.js' bob", "x"},

		// other languages
		{"go run ./cmd/foo", "foo"},
		{"go run ./cmd/foo -token abc", "foo"},
		{"go run -tags x -race github.com/acme/foo/cmd/server@latest", "foo"},
		{"go -C /a/acme run .", "acme"},
		{"go run .", "go"},
		{"java -jar foo-1.2.jar", "foo"},
		{"java -Xmx1g -Dtoken=abc -jar /x/acme-mcp-0.0.1-SNAPSHOT.jar --port 1", "acme-mcp"},
		{"java -cp a.jar:b.jar com.acme.Main", "acme"},
		{"java --class-path x -m mod/com.acme.Tickets", "Tickets"},
		{"dotnet run --project src/Acme.Server/Acme.Server.csproj", "Acme.Server"},
		{"dotnet run --project X", "X"},
		{"dotnet Acme.Tickets.dll", "Acme.Tickets"},
		{"dnx Acme.Tickets@1.0 --yes", "Acme.Tickets"},
		{"ruby -rbundler/setup tickets.rb", "tickets"},
		{"bundle exec ruby tickets.rb", "tickets"},
		{"php -d memory_limit=1G artisan mcp:serve", "artisan"},
		{"perl -Ilib -w tickets.pl", "tickets"},
		{"cargo run --bin tickets -- --token x", "tickets"},
		{"cargo run -q --release --manifest-path /a/acme/Cargo.toml -- SECRET", "acme"},
		{"cargo +nightly run -p tickets", "tickets"},
		{"swift run tickets", "tickets"},
		{"dart run tickets:main", "tickets-main"},
		{"nix run github:acme/tickets#server-x -- y", "server-x"},
		{"make -C /a/acme run", "acme"},

		// bridges
		{"mcp-remote https://mcp.example.com/sse", "mcp.example.com"},
		{"npx -y mcp-remote@latest https://bob:pw@mcp.example.com:8443/sse?token=abc 3334 --header Authorization:abc", "mcp.example.com-8443"},
		{"npx mcp-remote --header 'Authorization: Bearer abc' https://mcp.example.com/sse", "mcp.example.com"},
		{"npx mcp-remote http://localhost:3000/mcp --allow-http", "localhost-3000"},
		{"npx -y supergateway --stdio 'uvx tickets --key abc' --port 8000", "tickets"},
		{"npx -y supergateway --port 8000 --streamableHttp https://mcp.example.com/mcp", "mcp.example.com"},
		{"uvx mcp-proxy --headers Authorization 'Bearer abc' http://mcp.example.com/sse", "mcp.example.com"},
		{"mcp-proxy --port=8080 -e A b -- uvx tickets", "tickets"},
		{"npx -y @smithery/cli@latest run @acme/tickets --key abc --config '{}'", "tickets"},
		{"mcptap --log f -- uvx tickets", "tickets"},
		{"https://user:pw@mcp.example.com/x?y=z", "mcp.example.com"},
	}
	for _, tt := range tests {
		got := Guess(split(tt.line))
		if got != tt.want {
			t.Errorf("Guess(%s) = %q, want %q", tt.line, got, tt.want)
		}
		if !valid.MatchString(got) {
			t.Errorf("Guess(%s) = %q, which is no label", tt.line, got)
		}
	}
}

// TestGuessSecret puts a secret wherever one may stand.
func TestGuessSecret(t *testing.T) {
	const secret = "S3CR3Tvalue"
	for _, line := range []string{
		"npx --token % foo", "npx --brand-new % foo", "npx --brand-new % ./foo", "npx -z % foo", "npx --brand-new=% foo", "npx foo %",
		"node --api-key % x.js", "python -Z % x.py", "docker run -e A=% b", "docker run --brand-new % b", "docker run -e % b", "docker --brand-new % run b",
		"env A=% node x.js", "env TOKEN=% x", "A=% x", "sudo --brand-new % x", "sh -c 'A=% x'", "sh -c 'x --token %'", "sh -c 'TOKEN=\"%\" exec x'",
		"mcp-remote https://%@h/", "mcp-remote https://u:%@h/", "mcp-remote https://h/?token=%", "mcp-remote https://h/%", "mcp-remote --header %",
		"mcp-remote --brand-new % https://h/", "uvx --from git+https://%@github.com/a/b b", "uvx git+https://u:%@github.com/a/b", "deno run https://h/x.ts?key=%", "deno run https://%@h/x.ts",
		"./start %", "./call %", "start %", "exec %", "node env %", "python -c x %", "cargo run -- %", "go run . %", "x %", "mcp-proxy -H A % https://h/", "mcp-proxy -e A % x",
		"npx -y supergateway --oauth2Bearer % --stdio x", "npx @smithery/cli run --key % x", "ssh %@h", "op run --token % -- x", "postgres://u:%@h/db",
	} {
		if got := Guess(split(strings.ReplaceAll(line, "%", secret))); strings.Contains(strings.ToLower(got), "s3cr3t") {
			t.Errorf("Guess(%s) = %q", line, got)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ in, want string }{
		{"tickets", "tickets"},
		{"My Server", "My-Server"},
		{"", "session"},
		{"***", "session"},
		{"..", "session"},
		{"../../etc/passwd", "etc-passwd"},
		{".hidden", "hidden"},
		{"-x", "x"},
		{"_x_", "x_"},
		{"a..b...c", "a.b.c"},
		{"a. .b", "a.b"},
		{"a..b", "a.b"},
		{"x.", "x"},
		{"x-", "x"},
		{"a//b", "a-b"},
		{"a\x00b\nc", "a-b-c"},
		{"naïve", "na-ve"},
		{"файл", "session"},
		{"файл1", "1"},
		{"CON", "CON_"},
		{"con.txt", "con_.txt"},
		{"NUL.tar.gz", "NUL_.tar.gz"},
		{"com1", "com1_"},
		{"COM10", "COM10"},
		{"lpt9.x", "lpt9_.x"},
		{"aux.", "aux_"},
		{"console", "console"},
		{"server-x@1.2", "server-x-1.2"},
		{strings.Repeat("a", 60), strings.Repeat("a", 40)},
		{strings.Repeat("a", 39) + ".b", strings.Repeat("a", 39)},
		{"con." + strings.Repeat("a", 60), "con_." + strings.Repeat("a", 35)},
	}
	for _, tt := range tests {
		got := Clean(tt.in)
		if got != tt.want {
			t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
		}
		check(t, got)
	}
}

// check checks what every label promises.
func check(t *testing.T, label string) {
	t.Helper()
	if !valid.MatchString(label) || strings.Contains(label, "..") || strings.HasSuffix(label, ".") {
		t.Errorf("%q is no label", label)
	}
	base, _, _ := strings.Cut(strings.ToUpper(label), ".")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "COM1", "LPT1":
		t.Errorf("%q is a device", label)
	}
	if again := Clean(label); again != label {
		t.Errorf("Clean(%q) = %q", label, again)
	}
}

func TestData(t *testing.T) {
	table, err := parse(launchersJSON)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse(time.DateOnly, table.AsOf); err != nil {
		t.Error(err)
	}
	for _, words := range []set{table.Generic, table.PlainFolders, table.Homes, table.BaseImages, table.Preparations, table.ShellWords} {
		if len(words) == 0 {
			t.Error("an empty list")
		}
		for word := range words {
			if word != strings.ToLower(word) {
				t.Errorf("%q is not in lower case", word)
			}
		}
	}
	for _, ext := range table.Extensions {
		if !strings.HasPrefix(ext, ".") || ext != strings.ToLower(ext) {
			t.Errorf("%q is no extension", ext)
		}
	}
	for _, l := range table.Launchers {
		checkLauncher(t, l, l.Names[0])
	}
}

func checkLauncher(t *testing.T, l *launcher, path string) {
	kinds := map[kind]bool{
		"": true, "command": true, "line": true, "shell": true, "remote": true, "package": true, "image": true, "file": true, "module": true,
		"class": true, "jar": true, "project": true, "flake": true, "url": true, "script": true, "self": true, "inline": true,
	}
	if !kinds[l.Target] {
		t.Errorf("%s: %q is no kind", path, l.Target)
	}
	if l.Target == "" && len(l.Subs) == 0 && len(l.Targets) == 0 {
		t.Errorf("%s runs nothing", path)
	}
	for name, k := range l.Targets {
		if !kinds[k] || k == "" || k == "self" {
			t.Errorf("%s %s: %q is no kind", path, name, k)
		}
	}
	options := slices.Concat(l.Flags, l.Values, l.Pairs, l.Folders, slices.Collect(maps.Keys(l.Targets)))
	slices.Sort(options)
	for i, name := range options {
		if i > 0 && name == options[i-1] {
			t.Errorf("%s: option %s is listed twice", path, name)
		}
		if strings.ContainsAny(name, " =") && !strings.HasSuffix(name, "=*") && !strings.Contains(name, "=*") {
			t.Errorf("%s: %q is no option", path, name)
		}
		if l.Fold && name != strings.ToLower(name) {
			t.Errorf("%s: %q is not in lower case", path, name)
		}
	}
	for _, name := range l.Names {
		if name == "" || name != strings.ToLower(name) {
			t.Errorf("%s: %q is no name", path, name)
		}
	}
	seen := map[string]bool{}
	for _, sub := range l.Subs {
		for _, name := range sub.Names {
			if seen[name] {
				t.Errorf("%s: subcommand %s is listed twice", path, name)
			}
			seen[name] = true
		}
		checkLauncher(t, sub, path+" "+sub.Names[0])
	}
}

// TestHostile feeds command lines that are made to take long.
func TestHostile(t *testing.T) {
	const n = 1 << 18
	long := strings.Repeat
	for _, argv := range [][]string{
		split(long("env ", n)), split(long("sudo -- ", n)), split(long("A=b ", n)), split("npx " + long("--x ", n)),
		{"sh", "-c", long("sh -c ", n)}, {"sh", "-c", long(`"`, n)}, {"sh", "-c", long(`\`, n)}, {"sh", "-c", long("a;", n)}, {"sh", "-c", long("a|", n)},
		{"sh", "-c", long("cd x;", n)}, {"sh", "-c", long("cd /x;", n)}, {"sh", "-c", long("<", n)}, {"sh", "-c", long("(", n)},
		{"sh", "-c", long(`"$@" `, n), "x", "sh", "-c", long(`"$@" `, n)}, {"node", long("/", n)}, {"node", long("a/", n)}, {"node", long("://", n)}, {"npx", long("@", n)},
		{"docker", "run", "-" + long("i", n), "x"}, {"python", "-m", long(".", n)}, {long("9", n)}, {long("..", n)},
	} {
		start := time.Now()
		check(t, Guess(argv))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%.40q took %v", argv, took)
		}
	}
}

func FuzzGuess(f *testing.F) {
	for _, seed := range []string{
		"npx -y @scope/server-x@1.2", "sh -c\x00cd /x && exec \"$@\" | y\x00sh\x00node", "docker run -ite A=b x/y:z", "cmd /c\x00C:\\x\\y.exe", "python -um a.b", "mcp-remote https://u:p@h:1/x?y",
		"env -S\x00a b", "uv --directory /x run server.py", "java -jar x-1.jar", "con", "ssh a@b c", "nix run a#b", "deno run npm:@a/b@1", "uvx git+https://a@b/c.git@d#e", "go run .", "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		check(t, Guess(strings.FieldsFunc(line, func(r rune) bool { return r == 0 || r == ' ' && !strings.Contains(line, "\x00") })))
		check(t, Guess(strings.Split(line, "\x00")))
		check(t, Guess(strings.Split(line, " ")))
		check(t, Clean(line))
	})
}

func BenchmarkGuess(b *testing.B) {
	argv := split("docker run -i --rm -e GITHUB_TOKEN=x images.example/github/github-mcp-server")
	for b.Loop() {
		Guess(argv)
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := parse(launchersJSON); err != nil {
			b.Fatal(err)
		}
	}
}
