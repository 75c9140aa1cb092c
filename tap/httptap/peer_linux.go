package httptap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/mcptap/mcptap/tap"
)

// peers finds the process at the other end of a connection on this machine, from
// /proc. Only processes of the same user can be found.
type peers struct {
	mu    sync.Mutex
	known []int // processes found before: they are asked first
}

const maxKnown = 64

// find gives the process whose socket is remote; a zero Process if it can't be told.
func (p *peers) find(remote, local netip.AddrPort) tap.Process {
	inode, ok := askInode(remote, local)
	if !ok {
		inode = socketInode(remote, local)
	}
	if inode == "" || inode == "0" {
		return tap.Process{}
	}
	socket := "socket:[" + inode + "]"
	p.mu.Lock()
	known := append([]int(nil), p.known...)
	p.mu.Unlock()
	for _, pid := range known {
		if holds(pid, socket) {
			return process(pid)
		}
	}
	pid := holder(socket)
	if pid == 0 {
		return tap.Process{}
	}
	p.mu.Lock()
	p.known = append(p.known[max(0, len(p.known)+1-maxKnown):], pid)
	p.mu.Unlock()
	return process(pid)
}

// socketInode looks a connection up in the kernel's table: a line has number, local
// address, remote address, and, as its tenth field, the inode.
func socketInode(local, remote netip.AddrPort) string {
	for _, table := range []struct {
		path string
		form func(netip.Addr) string
	}{{"/proc/net/tcp", hex4}, {"/proc/net/tcp6", hex6}} {
		want := table.form(local.Addr()) + fmt.Sprintf(":%04X ", local.Port()) + table.form(remote.Addr()) + fmt.Sprintf(":%04X ", remote.Port())
		lines, err := os.ReadFile(table.path)
		if err != nil {
			continue
		}
		at := bytes.Index(lines, []byte(" "+want))
		if at < 0 {
			continue
		}
		line, _, _ := bytes.Cut(lines[at+1:], []byte("\n"))
		if f := strings.Fields(string(line)); len(f) > 8 {
			return f[8]
		}
	}
	return ""
}

func hex4(a netip.Addr) string {
	if !a.Is4() {
		return "-"
	}
	b := a.As4()
	return fmt.Sprintf("%08X", binary.NativeEndian.Uint32(b[:]))
}

func hex6(a netip.Addr) string {
	b := a.As16()
	var s strings.Builder
	for i := 0; i < len(b); i += 4 {
		fmt.Fprintf(&s, "%08X", binary.NativeEndian.Uint32(b[i:]))
	}
	return s.String()
}

// holder finds the process that has the socket open.
func holder(socket string) int {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, entry := range procs {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && holds(pid, socket) {
			return pid
		}
	}
	return 0
}

// holds reports whether the process has the socket open.
func holds(pid int, socket string) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	fds, _ := f.Readdirnames(-1)         // in order of their numbers
	for i := len(fds) - 1; i >= 0; i-- { // a new connection has a high one
		if link, err := os.Readlink(filepath.Join(dir, fds[i])); err == nil && link == socket {
			return true
		}
	}
	return false
}

func process(pid int) tap.Process {
	name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	return tap.Process{PID: pid, Name: strings.TrimSpace(string(name))}
}

// alive reports whether a process still runs.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}
