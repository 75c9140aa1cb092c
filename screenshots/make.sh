#!/usr/bin/env bash
# make.sh: draws the pictures of this folder from what the program prints on a
# terminal of fixed size. Needs Go, tmux and pngquant.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
socket=mcptap-screenshots-$$
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; rm -rf "$scratch"' EXIT
export MCPTAP_DIR=$scratch/store PATH=$scratch:$PATH
go build -o "$scratch/mcptap" ./cmd/mcptap
GOBIN=$scratch go install github.com/charmbracelet/freeze@v0.2.2

# draw NAME: what is on tmux's terminal, as a picture.
draw() {
  # tmux says a colour once for all lines that have it; here every line says its own.
  # The program that draws does not know the sequences for the ordinary colours.
  tmux -L "$socket" capture-pane -N -e -p | sed -e :a -e '/^[ \n]*$/{$d;N;ba' -e '}' |
    sed -e 's/\x1b\[39m/\x1b[38;2;197;200;198m/g' -e 's/\x1b\[49m/\x1b[48;2;23;23;23m/g' | awk '{
    print ($0 ~ /^\033/ ? "" : colour) $0
    for (rest = $0; match(rest, /\033\[[0-9;]*m/); rest = substr(rest, RSTART + RLENGTH)) colour = substr(rest, RSTART, RLENGTH)
  }' >"$scratch/$1.ansi"
  tmux -L "$socket" kill-server
  # Without PATH it draws by itself, with the font that it brings.
  PATH="" "$scratch/freeze" "$scratch/$1.ansi" --language ansi --window --font.size 14 --output "screenshots/$1.png" </dev/null
  pngquant --force --ext .png 32 "screenshots/$1.png"
}

# shot NAME COLUMNS LINES COMMAND: runs a command on a terminal, draws what is
# on it afterwards.
shot() {
  tmux -L "$socket" new-session -d -x "$2" -y "$3" "printf '\$ %s\n' \"$4\"; $4; touch $scratch/done; sleep 60"
  until [ -e "$scratch/done" ]; do sleep 0.1; done
  sleep 0.2
  rm "$scratch/done"
  draw "$1"
}

# screen NAME COLUMNS LINES TEXT KEYS COMMAND: opens the screens, waits for a text,
# presses keys (tmux's names), and draws what is there then.
screen() {
  tmux -L "$socket" new-session -d -x "$2" -y "$3" "COLORTERM=truecolor COLORFGBG='15;0' TERM=xterm-256color $6"
  until tmux -L "$socket" capture-pane -p | grep -qF "$4"; do sleep 0.1; done
  for key in $5; do
    tmux -L "$socket" send-keys "$key"
    sleep 0.3
  done
  sleep 0.5
  draw "$1"
}

mcptap demo >/dev/null
shot show 150 14 "mcptap show demo-modern"
screen session 130 36 "what the model reads" "e" "mcptap browse demo-modern"
