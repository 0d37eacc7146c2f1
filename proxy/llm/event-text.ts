// Finds the data of events in the text of a stream whose lines end with LF alone, so that most events need no parser.
// Must agree with SseParser.

export const EVENT_END = '\n\n'

/** Results of `dataStartIn`: the event has no data; its data is more than the rest of one line. */
export const NO_DATA = -1
export const OTHER_DATA = -2

const DATA = 'data'
const DATA_LINE = '\ndata'
const COLON = 0x3a
const SPACE = 0x20
const LF = 0x0a

/** Where the data of the event from `start` to `end` begins; it ends with its line. */
export function dataStartIn(text: string, start: number, end: number): number {
  let found = NO_DATA
  for (let at = start; at < end; at = lineEndIn(text, at) + 1) {
    if (!isDataLine(text, at)) continue
    const valueStart = at + DATA.length + 1
    if (found !== NO_DATA || text.charCodeAt(valueStart - 1) === LF) return OTHER_DATA
    found = text.charCodeAt(valueStart) === SPACE ? valueStart + 1 : valueStart
  }
  return found
}

export function lineEndIn(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

/** Start of the event that contains the character at `at`. */
export function eventStartIn(text: string, at: number): number {
  const previousEnd = text.lastIndexOf(EVENT_END, at)
  return previousEnd === -1 ? 0 : previousEnd + EVENT_END.length
}

/** Start of the last line with data between two starts of events; -1: no line has data. */
export function lastDataLineIn(text: string, start: number, end: number): number {
  for (let at = end; at > start;) {
    at = at < 2 ? 0 : text.lastIndexOf(DATA_LINE, at - 2) + 1
    if (at < start) return -1
    if (isDataLine(text, at)) return at
  }
  return -1
}

function isDataLine(text: string, at: number): boolean {
  if (!text.startsWith(DATA, at)) return false
  const next = text.charCodeAt(at + DATA.length)
  return next === COLON || next === LF
}
