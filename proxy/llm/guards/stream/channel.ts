// One text of a streamed answer: what has arrived, what guards have cleared, and the masks in it.
import { editsBetween, type Edit } from './alignment.ts'

/** A match of at most this length is found wherever it is cut into events. Data-plane supplement section 3.8. */
export const HOLD_BACK_CHARS = 256

export class Channel {
  /** `values`: JSON of tool arguments, which is checked as a whole. */
  readonly kind: 'text' | 'values'
  #raw = ''
  /** Offset of `#raw`: the text in front is cleared. */
  #clearedTo = 0
  /** The end of the cleared text, as the client gets it. */
  #tail = ''
  #uncheckedChars = 0
  #edits: Edit[] = []
  #isClosed = false
  /** Of the whole channel; undefined: no event repeats it. */
  #whole: { raw: string; masked: string } | undefined

  constructor(kind: Channel['kind'], isRepeated: boolean) {
    this.kind = kind
    this.#whole = isRepeated ? { raw: '', masked: '' } : undefined
  }

  /** The whole text and its masked form, as far as it is cleared. */
  get whole(): { readonly raw: string; readonly masked: string } | undefined {
    return this.#whole
  }

  /** Offset behind the last character that may be sent. */
  get clearedTo(): number {
    return this.#clearedTo
  }

  /** Characters since the last check that a check would read. */
  get newChars(): number {
    return this.kind === 'text' || this.#isClosed ? this.#uncheckedChars : 0
  }

  /** Characters that the next check reads, without those that were sent. */
  get waitingChars(): number {
    return this.kind === 'text' || this.#isClosed ? this.#raw.length : 0
  }

  /** @returns the offset of the text. */
  add(text: string): number {
    const at = this.#clearedTo + this.#raw.length
    this.#raw += text
    this.#uncheckedChars += text.length
    return at
  }

  close(): void {
    this.#isClosed = true
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Nothing of the text waits for a check. */
  get isCleared(): boolean {
    return this.#raw === ''
  }

  /** What the next check reads; undefined: nothing new. */
  get pending(): string | undefined {
    if (this.#raw === '' || (this.kind === 'values' && !this.#isClosed)) return undefined
    return this.#tail + this.#raw
  }

  /** `masked`: the text of `pending` after the guards. */
  checked(masked: string): void {
    const before = this.#tail + this.#raw
    const context = this.#tail.length
    const edits = editsBetween(before, masked).filter(({ end }) => end > context)
    const end = this.#isClosed ? before.length : clearEnd(before, { context, edits })
    const clear = edits.filter((edit) => edit.end <= end)
    const shift = this.#clearedTo - context
    for (const edit of clear) {
      this.#edits.push({
        start: Math.max(edit.start, context) + shift,
        end: Math.max(edit.end, context) + shift,
        text: edit.text,
      })
    }
    const sent = applied(before, { start: context, end, edits: clear })
    this.#tail = (this.#tail + sent).slice(-HOLD_BACK_CHARS)
    if (this.#whole !== undefined) {
      this.#whole.raw += before.slice(context, end)
      this.#whole.masked += sent
    }
    this.#clearedTo += end - context
    this.#raw = before.slice(end)
    this.#uncheckedChars = 0
  }

  /** The text to send in place of the text at these offsets, which are cleared, in order. */
  taken(start: number, end: number, text: string): string {
    let out = ''
    let at = start
    const left: Edit[] = []
    for (const edit of this.#edits) {
      const isHere = edit.start < end || (edit.start === end && edit.end === end)
      if (!isHere || edit.end > end) left.push(edit)
      if (!isHere) continue
      // An edit belongs to the event in which it starts.
      if (edit.start >= start) out += text.slice(at - start, edit.start - start) + edit.text
      at = Math.max(at, edit.end)
    }
    this.#edits = left
    return out + text.slice(at - start)
  }
}

interface Cleared {
  /** Characters that were sent before. */
  readonly context: number
  readonly edits: readonly Edit[]
}

/** All but the hold-back; never within a mask or a pair of surrogates. */
function clearEnd(text: string, { context, edits }: Cleared): number {
  let end = Math.max(context, text.length - HOLD_BACK_CHARS)
  for (const edit of edits) if (edit.start < end && edit.end > end) end = Math.max(context, edit.start)
  const isSplitPair = end > context && isHighSurrogate(text, end - 1)
  return isSplitPair ? end - 1 : end
}

function isHighSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xd800 && code <= 0xdbff
}

function applied(text: string, { start, end, edits }: { start: number; end: number; edits: readonly Edit[] }): string {
  let out = ''
  let at = start
  for (const edit of edits) {
    out += text.slice(at, Math.max(at, edit.start)) + edit.text
    at = Math.max(at, edit.end)
  }
  return out + text.slice(at, end)
}
