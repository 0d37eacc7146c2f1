// One tunnel until it is open: one deadline for its connection and the answer of the workload.
import type net from 'node:net'
import { at, type Detail } from '../exchange/diagnosis.ts'
import type { Dial, DialFailure, DialOutcome } from '../upstream/dial.ts'

export class HboneOpening implements Dial {
  /** `address:port` of the workload, which it gets in CONNECT. */
  readonly authority: string
  readonly #done: (outcome: DialOutcome) => void
  readonly #timer: NodeJS.Timeout
  /** Ends its stream; set while one is open. `isLate`: the workload did not answer in time. */
  cancel: ((isLate: boolean) => void) | undefined = undefined
  #isSettled = false

  constructor(authority: string, timeoutMs: number, done: (outcome: DialOutcome) => void) {
    this.authority = authority
    this.#done = done
    this.#timer = setTimeout(() => this.fail('upstreamTimeout', 'connect timeout'), timeoutMs)
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  abort(): void {
    if (this.#settle()) this.cancel?.(false)
  }

  fail(code: DialFailure, detail: Detail): void {
    if (!this.#settle()) return
    this.cancel?.(code === 'upstreamTimeout')
    this.#done({ code, detail: at(this.authority, detail) })
  }

  succeed(socket: net.Socket): void {
    if (this.#settle()) this.#done({ socket })
    else socket.destroy()
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    clearTimeout(this.#timer)
    return true
  }
}
