// One child process with MCP over stdin and stdout, one JSON message per line. One process is one session.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { StdioTarget } from '#api/ir/types.gen.ts'
import {
  isRequest,
  isResponse,
  parseMessage,
  type JsonRpcId,
  type JsonRpcMessage,
  type JsonRpcRequest,
} from '../jsonrpc.ts'
import { onLogLines } from './log-lines.ts'

const LINE_BYTES_MAX = 8 * 1024 * 1024
/** Between SIGTERM and SIGKILL. */
const KILL_DELAY_MS = 2000
/** The parent's environment is hidden from the child, but it must find programs and its home. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER']

type Sink = (message: JsonRpcMessage) => void

export interface StdioEvents {
  readonly exited: () => void
  /** A line that the process wrote to its standard error. */
  readonly logged: (line: string) => void
}

export class StdioProcess {
  /** Messages of the server outside of any response; the oldest open call gets them while no client listens. */
  onMessage: Sink | undefined = undefined
  lastUsedMs: number
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #calls = new Map<JsonRpcId, { sink: Sink; fail: (error: Error) => void }>()
  readonly #onExit: () => void
  #rest: Buffer[] = []
  #restBytes = 0
  #isOver = false

  constructor({ cmd, args = [], env = {} }: StdioTarget, nowMs: number, { exited, logged }: StdioEvents) {
    this.lastUsedMs = nowMs
    this.#onExit = exited
    const inherited = INHERITED.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value] as const]
    })
    this.#child = spawn(cmd, args, {
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.on('error', (error) => this.#over(new Error(`${cmd} cannot be started: ${error.message}`)))
    this.#child.on('exit', (code, signal) => this.#over(new Error(`${cmd} exited (${signal ?? `exit code ${code}`})`)))
    this.#child.stdin.on('error', () => {})
    onLogLines(this.#child.stderr, logged)
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  /** `sink` gets all messages of the call, its response last. `fail`: the process ended first. */
  call(request: JsonRpcRequest, sink: Sink, fail: (error: Error) => void): void {
    if (this.#isOver) fail(new Error('the process has exited'))
    else if (this.#calls.has(request.id)) fail(new Error('a request with this id is already in progress'))
    else {
      this.#calls.set(request.id, { sink, fail })
      this.write(request)
    }
  }

  /** The client disconnected: its response is dropped. */
  forget(id: JsonRpcId): void {
    this.#calls.delete(id)
  }

  write(message: JsonRpcMessage): void {
    if (!this.#isOver) this.#child.stdin.write(`${JSON.stringify(message)}\n`)
  }

  stop(): void {
    if (this.#isOver) return
    this.#child.kill('SIGTERM')
    setTimeout(() => this.#child.kill('SIGKILL'), KILL_DELAY_MS).unref()
  }

  #over(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const { fail } of this.#calls.values()) fail(error)
    this.#calls.clear()
    this.#onExit()
  }

  #read(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...this.#rest, chunk.subarray(start, end)]).toString('utf8')
      this.#rest = []
      this.#restBytes = 0
      start = end + 1
      this.#dispatch(line)
    }
    if (start === chunk.length) return
    this.#rest.push(chunk.subarray(start))
    this.#restBytes += chunk.length - start
    if (this.#restBytes > LINE_BYTES_MAX) {
      this.#over(new Error(`the process wrote a line of more than ${LINE_BYTES_MAX} bytes`))
      this.#child.kill('SIGKILL')
    }
  }

  /** Lines that are not messages are log output and ignored. */
  #dispatch(line: string): void {
    const message = parseMessage(line)
    if (message === undefined) return
    if (isResponse(message)) {
      const call = this.#calls.get(message.id)
      this.#calls.delete(message.id)
      call?.sink(message)
      return
    }
    const [oldest] = this.#calls.values()
    const sink = this.onMessage ?? oldest?.sink
    if (sink !== undefined) sink(message)
    else if (isRequest(message)) {
      const error = { code: -32_603, message: 'no client is listening' }
      this.write({ jsonrpc: '2.0', id: message.id, error })
    }
  }
}
