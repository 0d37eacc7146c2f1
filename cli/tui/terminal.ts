// The terminal while a view is shown: its second screen, keys as they are pressed, and its size. It is restored however
// the process ends.
import { emitKeypressEvents } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'
import type { Key } from './view.ts'
import type { Size } from './screen.ts'

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_REST = '\u001b[J'

interface KeyPress {
  readonly name?: string
  readonly sequence?: string
  readonly ctrl?: boolean
}

export interface TerminalHandlers {
  readonly onKey: (key: Key) => void
  readonly onResize: () => void
  /** A signal asks the process to end. */
  readonly onEnd: () => void
}

export class Terminal {
  readonly #input: ReadStream
  readonly #output: WriteStream
  readonly #restore = (): void => this.#leave()
  readonly #onKeypress: (text: string | undefined, press: KeyPress) => void
  readonly #handlers: TerminalHandlers
  #isOpen = true

  constructor(input: ReadStream, output: WriteStream, handlers: TerminalHandlers) {
    this.#input = input
    this.#output = output
    this.#handlers = handlers
    this.#onKeypress = (text, { name = '', ctrl = false }) =>
      handlers.onKey({ name, text: ctrl ? '' : (text ?? ''), isControl: ctrl })
    emitKeypressEvents(input)
    input.setRawMode(true)
    input.on('keypress', this.#onKeypress)
    input.resume()
    output.on('resize', handlers.onResize)
    process.once('exit', this.#restore)
    for (const signal of SIGNALS) process.on(signal, handlers.onEnd)
    output.write(ENTER)
  }

  get size(): Size {
    return { columns: this.#output.columns, rows: this.#output.rows }
  }

  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return
    this.#output.write(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${CLEAR_REST}`)
  }

  close(): void {
    this.#leave()
    process.off('exit', this.#restore)
    for (const signal of SIGNALS) process.off(signal, this.#handlers.onEnd)
    this.#input.off('keypress', this.#onKeypress)
    this.#output.off('resize', this.#handlers.onResize)
    this.#input.pause()
  }

  #leave(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#input.setRawMode(false)
    this.#output.write(LEAVE)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
