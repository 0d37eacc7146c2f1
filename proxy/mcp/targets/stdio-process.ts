// One child process with MCP over stdin and stdout, one JSON message per line. One process is one session.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { jsonExcess } from '#api/bounded-json.ts'
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
import { askedProgress, reportedProgress } from './progress.ts'
import { MESSAGE_BYTES_MAX } from './target.ts'

/** Messages that the process has not read; the listener limits each. */
const UNREAD_BYTES_MAX = 32 * 1024 * 1024
/** Between SIGTERM and SIGKILL. */
const KILL_DELAY_MS = 2000
/** The parent's environment is hidden from the child, but it must find programs and its home. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER']

type Sink = (message: JsonRpcMessage) => void

interface Call {
  readonly sink: Sink
  readonly fail: (error: Error) => void
  readonly progressToken: string | undefined
}

export interface StdioEvents {
  /** `byItself`: not by `stop`. */
  readonly exited: (byItself: boolean) => void
  /** A line that the process wrote to its standard error, or why a message of it is of no use. */
  readonly logged: (line: string) => void
}

export class StdioProcess {
  /** Messages of the server outside of any response; the oldest open call gets them while no client listens. */
  onMessage: Sink | undefined = undefined
  lastUsedMs: number
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #calls = new Map<JsonRpcId, Call>()
  readonly #onExit: (byItself: boolean) => void
  readonly #logged: (line: string) => void
  #rest: Buffer[] = []
  #restBytes = 0
  #isOver = false
  #isEnding = false
  /** Readers that cannot take more. */
  #holds = 0

  constructor(target: StdioTarget, nowMs: number, { exited, logged }: StdioEvents) {
    const { cmd, args = [] } = target
    this.lastUsedMs = nowMs
    this.#onExit = exited
    this.#logged = logged
    // Detached: the process leads a group, which ends with it. Commands such as npx start the server as their child.
    this.#child = spawn(cmd, args, { env: environmentOf(target), stdio: ['pipe', 'pipe', 'pipe'], detached: true })
    this.#child.on('error', (error) => {
      const problem = `cannot be started: ${startProblem(error)}`
      logged(problem)
      this.#over(new Error(`${cmd} ${problem}`))
    })
    this.#child.on('exit', (code, signal) => {
      this.#over(new Error(`${cmd} exited (${signal ?? `exit code ${code}`})`))
      this.#endGroup()
    })
    this.#child.stdin.on('error', () => {})
    onLogLines(this.#child.stderr, logged)
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  get isInUse(): boolean {
    return this.#calls.size > 0 || this.onMessage !== undefined
  }

  /**
   * `sink` gets all messages of the call, its response last. `fail`: the process ended first. Returns how to drop the
   * response, for a client that has disconnected.
   */
  call(request: JsonRpcRequest, sink: Sink, fail: (error: Error) => void): () => void {
    const { id } = request
    const call = { sink, fail, progressToken: askedProgress(request) }
    if (this.#isOver) fail(new Error('the process has exited'))
    else if (this.#calls.has(id)) fail(new Error('a request with this id is already in progress'))
    else {
      this.#calls.set(id, call)
      this.write(request)
    }
    return () => {
      if (this.#calls.get(id) === call) this.#calls.delete(id)
    }
  }

  /** A process that does not read its messages is ended. */
  write(message: JsonRpcMessage): void {
    if (this.#isOver) return
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
    if (this.#child.stdin.writableLength > UNREAD_BYTES_MAX) {
      this.#kill(new Error(`the process has not read more than ${UNREAD_BYTES_MAX} bytes of messages`))
    }
  }

  /** Reads no more of the process until all readers of its messages can take more. `wait` calls its argument once. */
  holdUntil(wait: (ready: () => void) => void): void {
    this.#holds++
    this.#child.stdout.pause()
    wait(() => {
      this.#holds--
      if (this.#holds === 0) this.#child.stdout.resume()
    })
  }

  /** Ends the group of the process: SIGTERM, and SIGKILL if it does not stop. */
  stop(): void {
    if (!this.#isOver) this.#endGroup()
  }

  #endGroup(): void {
    if (this.#isEnding || !this.#signal('SIGTERM')) return
    this.#isEnding = true
    setTimeout(() => this.#signal('SIGKILL'), KILL_DELAY_MS)
  }

  /** False: no process of the group is left. */
  #signal(signal: 'SIGTERM' | 'SIGKILL'): boolean {
    const { pid } = this.#child
    if (pid === undefined) return false
    try {
      process.kill(-pid, signal)
      return true
    } catch {
      // ESRCH.
      return false
    }
  }

  #kill(error: Error): void {
    this.#over(error)
    this.#signal('SIGKILL')
  }

  #over(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const { fail } of this.#calls.values()) fail(error)
    this.#calls.clear()
    this.#onExit(!this.#isEnding)
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
    if (this.#restBytes > MESSAGE_BYTES_MAX) {
      this.#kill(new Error(`the process wrote a line of more than ${MESSAGE_BYTES_MAX} bytes`))
    }
  }

  /** Lines that are not messages are log output and ignored. */
  #dispatch(line: string): void {
    const message = parseMessage(line)
    if (message === undefined) {
      if (line.startsWith('{')) this.#checkExcess(line)
      return
    }
    if (isResponse(message)) {
      const call = this.#calls.get(message.id)
      this.#calls.delete(message.id)
      call?.sink(message)
      return
    }
    const sink = this.#sinkOf(message)
    if (sink !== undefined) sink(message)
    else if (isRequest(message)) {
      const error = { code: -32_603, message: 'no client is listening' }
      this.write({ jsonrpc: '2.0', id: message.id, error })
    }
  }

  /** A response that is too complex to be read may be that of any call. */
  #checkExcess(line: string): void {
    const excess = jsonExcess(line)
    if (excess === undefined) return
    const reason = `a message of the process cannot be read: ${excess}`
    this.#logged(reason)
    for (const { fail } of this.#calls.values()) fail(new Error(reason))
    this.#calls.clear()
  }

  /** Progress belongs to its call: clients of several servers get it nowhere else. */
  #sinkOf(message: JsonRpcMessage): Sink | undefined {
    const token = reportedProgress(message)
    const calls = [...this.#calls.values()]
    const own = token === undefined ? undefined : calls.find(({ progressToken }) => progressToken === token)
    return own?.sink ?? this.onMessage ?? calls[0]?.sink
  }
}

function environmentOf({ env = {}, clearEnv = false }: StdioTarget): Record<string, string> {
  const inherited = (clearEnv ? [] : INHERITED).flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(inherited), ...env }
}

function startProblem(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'no such program; install it, or write its path'
  if (error.code === 'EACCES') return 'permission denied; make the file executable'
  return error.message
}
