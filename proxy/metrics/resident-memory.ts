// Resident memory of the process. Asking for it opens a file, so a process that has used up its file descriptors gets
// an error for an answer: then the last figure stands. Never throws.

let lastBytes = 0

export function residentBytes(): number {
  try {
    lastBytes = process.memoryUsage.rss()
  } catch {
    // No file descriptor is left; the next question may be luckier.
  }
  return lastBytes
}
