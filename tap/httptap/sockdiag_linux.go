package httptap

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// askInode asks the kernel for the inode of one TCP socket (sock_diag(7)), which
// takes microseconds; its table as text takes milliseconds, however few there are.
// ok is false if the kernel does not say.
func askInode(local, remote netip.AddrPort) (inode string, ok bool) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return "", false
	}
	defer func() { _ = unix.Close(fd) }()
	soon := unix.Timeval{Sec: 1}
	if unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &soon) != nil ||
		unix.Sendto(fd, diagRequest(local, remote), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) != nil {
		return "", false
	}
	answer := make([]byte, 4<<10)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	for errors.Is(err, unix.EINTR) {
		n, _, err = unix.Recvfrom(fd, answer, 0)
	}
	if err != nil {
		return "", false
	}
	return diagInode(answer[:n])
}

const (
	diagHeadLen    = unix.SizeofNlMsghdr
	diagRequestLen = 56                       // struct inet_diag_req_v2
	diagInodeAt    = unix.SizeofNlMsghdr + 68 // idiag_inode in struct inet_diag_msg
	diagByFamily   = 20                       // SOCK_DIAG_BY_FAMILY
	anyState       = 0xffffffff
)

// diagRequest is a message with struct inet_diag_req_v2.
func diagRequest(local, remote netip.AddrPort) []byte {
	order := binary.NativeEndian
	b := make([]byte, diagHeadLen+diagRequestLen)
	order.PutUint32(b, uint32(len(b)))
	order.PutUint16(b[4:], diagByFamily)
	order.PutUint16(b[6:], unix.NLM_F_REQUEST)
	req := b[diagHeadLen:]
	req[0], req[1] = unix.AF_INET6, unix.IPPROTO_TCP
	if local.Addr().Is4() {
		req[0] = unix.AF_INET
	}
	order.PutUint32(req[4:], anyState)
	id := req[8:]
	binary.BigEndian.PutUint16(id, local.Port())
	binary.BigEndian.PutUint16(id[2:], remote.Port())
	copy(id[4:20], local.Addr().AsSlice())
	copy(id[20:36], remote.Addr().AsSlice())
	order.PutUint64(id[40:], ^uint64(0)) // no cookie
	return b
}

// diagInode reads the answer, which may be an error.
func diagInode(answer []byte) (string, bool) {
	if len(answer) < diagInodeAt+4 || binary.NativeEndian.Uint16(answer[4:]) != diagByFamily {
		return "", false
	}
	return strconv.FormatUint(uint64(binary.NativeEndian.Uint32(answer[diagInodeAt:])), 10), true
}
