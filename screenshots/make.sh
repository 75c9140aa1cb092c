#!/usr/bin/env bash
# make.sh: draws the pictures of this folder anew, from the samples that the program
# brings with it. Needs Go, rsvg-convert (librsvg2-bin), pngquant, and the font
# DejaVu Sans Mono.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The tests write what the screens show; without -update they check that it is so.
go test ./ui -run 'TestPictures|TestTour' -update
go test ./cmd/mcptap -run 'TestPicture$' -update
go build -o "$scratch/draw" ./screenshots/draw

rm -f screenshots/*.svg screenshots/*.png screenshots/*.gif
for frame in screenshots/frames/*.txt; do
  name=$(basename "$frame" .txt)
  "$scratch/draw" svg "screenshots/$name.svg" <"$frame"
  rsvg-convert --zoom 1.5 "screenshots/$name.svg" --output "screenshots/$name.png"
  pngquant --nofs --force --ext .png 48 "screenshots/$name.png"
done

mkdir "$scratch/tour"
"$scratch/draw" cast "$scratch/tour" <screenshots/tour.cast
for svg in "$scratch"/tour/*.svg; do
  rsvg-convert "$svg" --output "${svg%.svg}.png"
done
"$scratch/draw" gif screenshots/tour.gif screenshots/tour.cast "$scratch/tour"
