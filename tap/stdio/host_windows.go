package stdio

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

func processName(pid int) string {
	p, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer func() { _ = windows.CloseHandle(p) }()
	name := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(name))
	if windows.QueryFullProcessImageName(p, 0, &name[0], &n) != nil {
		return ""
	}
	return filepath.Base(windows.UTF16ToString(name[:n]))
}
