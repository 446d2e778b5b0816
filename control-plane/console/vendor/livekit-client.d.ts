// The server hands out the package's own ES module under this path; see http/console-files.ts.
export * from 'livekit-client';
