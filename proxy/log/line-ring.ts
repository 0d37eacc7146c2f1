// Log lines from a worker to the main thread: a byte ring in shared memory, one writer, one reader. Lines survive the
// death of the writer. A full ring blocks the writer; nothing is dropped.

/** 10 000 lines (data-plane supplement section 6.3) of up to 400 bytes; a power of two, so that positions may wrap. */
const RING_BYTES = 4 * 1024 * 1024
const HEADER_BYTES = 64
const WRITTEN = 0
const READ = 4
const AWAKE = 8
/** A longer line is truncated, so that every line fits into the ring. */
export const LINE_BYTES_MAX = 256 * 1024
/** The maximum interval of reads while the writer waits. */
const BLOCKED_WAIT_MS = 50

export function createLineRing(ringBytes = RING_BYTES): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + ringBytes)
}

interface View {
  readonly header: Int32Array
  readonly bytes: Buffer
  readonly mask: number
}

function viewOf(ring: SharedArrayBuffer): View {
  return {
    header: new Int32Array(ring, 0, HEADER_BYTES / 4),
    bytes: Buffer.from(ring, HEADER_BYTES),
    mask: ring.byteLength - HEADER_BYTES - 1,
  }
}

/**
 * The writer: a function that takes whole lines. `wake` is called if the reader has announced that it sleeps; it must
 * cause a `drain` in the reader's thread.
 */
export function lineRingWriter(ring: SharedArrayBuffer, wake: () => void): (line: string) => void {
  const { header, bytes, mask } = viewOf(ring)
  const capacity = mask + 1

  function awaitSpace(needed: number): void {
    for (;;) {
      const read = Atomics.load(header, READ)
      const used = (Atomics.load(header, WRITTEN) - read) >>> 0
      if (capacity - used >= needed) return
      signal()
      Atomics.wait(header, READ, read, BLOCKED_WAIT_MS)
    }
  }

  function signal(): void {
    if (Atomics.exchange(header, AWAKE, 1) === 0) wake()
  }

  return (line) => {
    const worstBytes = line.length * 3
    const start = Atomics.load(header, WRITTEN)
    const at = start & mask
    if (worstBytes <= LINE_BYTES_MAX && at + worstBytes <= capacity) {
      awaitSpace(worstBytes)
      const length = bytes.write(line, at, worstBytes, 'utf8')
      Atomics.store(header, WRITTEN, (start + length) | 0)
    } else {
      const encoded = encodeBounded(line)
      awaitSpace(encoded.length)
      const first = Math.min(encoded.length, capacity - at)
      encoded.copy(bytes, at, 0, first)
      encoded.copy(bytes, 0, first)
      Atomics.store(header, WRITTEN, (start + encoded.length) | 0)
    }
    signal()
  }
}

function encodeBounded(line: string): Buffer {
  const encoded = Buffer.from(line, 'utf8')
  if (encoded.length <= LINE_BYTES_MAX) return encoded
  const cut = encoded.subarray(0, LINE_BYTES_MAX)
  cut[LINE_BYTES_MAX - 1] = 0x0a
  return cut
}

export interface LineRingReader {
  /**
   * Copies whole lines out of the ring, as many as fit into `space` (at least `LINE_BYTES_MAX` bytes), and returns
   * their length in bytes. 0: the ring is empty.
   */
  takeInto(space: Buffer): number
  /** Copies the content of the ring (at most the ring's size); undefined if it is empty. */
  take(): Buffer | undefined
  /** Requests a `wake` on the next line. False: the ring has lines already, read them first. */
  sleep(): boolean
}

const NEWLINE = 0x0a

export function lineRingReader(ring: SharedArrayBuffer): LineRingReader {
  const { header, bytes, mask } = viewOf(ring)
  const capacity = mask + 1

  /** Only whole lines are written: the content ends with a newline. */
  function waiting(): number {
    return (Atomics.load(header, WRITTEN) - Atomics.load(header, READ)) >>> 0
  }

  function takeInto(space: Buffer): number {
    const read = Atomics.load(header, READ)
    const there = waiting()
    let length = Math.min(there, space.length)
    if (length === 0) return 0
    const at = read & mask
    const first = Math.min(length, capacity - at)
    bytes.copy(space, 0, at, at + first)
    bytes.copy(space, first, 0, length - first)
    if (length < there) length = space.lastIndexOf(NEWLINE) + 1
    Atomics.store(header, READ, (read + length) | 0)
    Atomics.notify(header, READ)
    return length
  }

  return {
    takeInto,
    take() {
      const length = waiting()
      if (length === 0) return undefined
      const taken = Buffer.allocUnsafe(length)
      takeInto(taken)
      return taken
    },
    sleep() {
      Atomics.store(header, AWAKE, 0)
      if (waiting() === 0) return true
      Atomics.store(header, AWAKE, 1)
      return false
    },
  }
}
