.PHONY: build test check fuzz bench screenshots

build: ## the binary, here
	go build -o mcptap ./cmd/mcptap

test: ## what the README says
	go test ./...

check: ## all that CI does
	.ci/run

fuzz: ## every fuzz target for a minute
	.ci/fuzz 1m

bench: ## the Go benchmarks
	go test -run '^$$' -bench . ./...

screenshots: ## the pictures, anew (needs rsvg-convert and pngquant)
	screenshots/make.sh
