// Resident memory of the process. The query opens a file, so it fails if the process has no file descriptor left: then
// the previous value is returned. Never throws.

let lastBytes = 0

export function residentBytes(): number {
  try {
    lastBytes = process.memoryUsage.rss()
  } catch {
    // No file descriptor is left; the next query may succeed.
  }
  return lastBytes
}
