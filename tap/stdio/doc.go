// Package stdio taps an MCP server that speaks on its standard input and output:
// it starts the server's command and stands between it and the host.
//
// It promises that
//
//   - both ends get the bytes that the other one wrote, in their order, as soon
//     as they come: a frame is never held back until it is whole, only its last
//     byte waits until the frame is in the journal;
//   - the server gets the command's arguments, environment and working folder as
//     they are, and the host gets the server's exit status;
//   - end of input, end of output and signals are passed on at once;
//   - neither direction waits for the other, and no trouble with the journal or
//     with standard error stops the session;
//   - whatever way the tap ends, kill -9 included, the server and the processes
//     it started do not outlive it;
//   - memory stays bounded whatever crosses.
//
// It must not interpret frames, change them, or write anything of its own to
// standard output.
package stdio
