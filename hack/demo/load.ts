// A steady load on kept-alive connections, and the account of it. Requests start by the clock, not when the one before
// is done, so that a pause shows as many late or failed requests and not as few requests.
import { Agent, request, type IncomingMessage } from 'node:http'

/** Ten seconds without an answer at the highest rate of the tests: their own limit comes first. */
const IN_FLIGHT_MAX = 2000
const FAILURES_KEPT = 20
const SLOW_MS = 1000
const TICK_MS = 10

export interface LoadPlan {
  readonly url: string
  readonly host: string
  readonly ratePerSecond: number
  /** Every so many requests one goes over a connection of its own, which is closed afterwards; unset: none does. */
  readonly freshEvery?: number
  /** A request that takes longer has failed. */
  readonly timeoutMs: number
}

export interface LoadSummary {
  readonly sent: number
  readonly ok: number
  readonly failed: number
  readonly resent: number
  readonly slowestMs: number
  /** Answers by status, and by pod that answered. */
  readonly statuses: Readonly<Record<string, number>>
  readonly pods: Readonly<Record<string, number>>
  /** The first ones, with the second since the start. */
  readonly failures: readonly string[]
  /** The first ones that took longer than a second, and what was late: name, connection or answer. */
  readonly slow: readonly string[]
  /** How long this process itself stood still: the machine may have no time for it. */
  readonly stillMs: number
}

export class Load {
  readonly #plan: LoadPlan
  readonly #agent = new Agent({ keepAlive: true })
  readonly #started = performance.now()
  readonly #timer: NodeJS.Timeout
  readonly #statuses: Record<string, number> = {}
  readonly #pods: Record<string, number> = {}
  readonly #failures: string[] = []
  readonly #slow: string[] = []
  readonly #idle = Promise.withResolvers<void>()
  #isStopped = false
  #inFlight = 0
  #sent = 0
  #ok = 0
  #failed = 0
  #resent = 0
  #slowestMs = 0
  #tickedAt = performance.now()
  #stillMs = 0

  constructor(plan: LoadPlan) {
    this.#plan = plan
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  async stop(): Promise<LoadSummary> {
    this.#isStopped = true
    clearInterval(this.#timer)
    if (this.#inFlight > 0) await this.#idle.promise
    this.#agent.destroy()
    return {
      sent: this.#sent,
      ok: this.#ok,
      failed: this.#failed,
      resent: this.#resent,
      slowestMs: Math.round(this.#slowestMs),
      statuses: this.#statuses,
      pods: this.#pods,
      failures: this.#failures,
      slow: this.#slow,
      stillMs: Math.round(this.#stillMs),
    }
  }

  #tick(): void {
    const now = performance.now()
    this.#stillMs = Math.max(this.#stillMs, now - this.#tickedAt - TICK_MS)
    this.#tickedAt = now
    const due = ((now - this.#started) / 1000) * this.#plan.ratePerSecond
    while (this.#sent < due) this.#send()
  }

  #send(): void {
    this.#sent += 1
    if (this.#inFlight >= IN_FLIGHT_MAX) {
      this.#fail('too many requests under way')
      return
    }
    this.#inFlight += 1
    const { freshEvery } = this.#plan
    const isFresh = freshEvery !== undefined && this.#sent % freshEvery === 0
    this.#try(performance.now(), isFresh ? false : this.#agent)
  }

  /**
   * A kept-alive connection may be closed in the moment it is used again; clients then send a GET once more, on a new
   * connection (RFC 9110 section 9.2.2). Others that were idle may have been closed as well.
   */
  #try(begun: number, agent: Agent | false): void {
    const { url, host, timeoutMs } = this.#plan
    const options = { agent, headers: { host }, signal: AbortSignal.timeout(timeoutMs) }
    let isSettled = false
    const settle = (problem: string | undefined): void => {
      if (!isSettled) this.#end(problem)
      isSettled = true
    }
    const sent = request(url, options, (response) => this.#receive(response, begun, settle))
    sent.on('socket', (socket) => {
      if (!socket.connecting) return
      socket.once('lookup', () => this.#noteSlow('to find the address', begun))
      socket.once('connect', () => this.#noteSlow('to connect', begun))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (agent !== false && !isSettled && sent.reusedSocket && error.code === 'ECONNRESET') {
        isSettled = true
        this.#resent += 1
        this.#try(begun, false)
      } else settle(error.message)
    })
    sent.end()
  }

  #receive(response: IncomingMessage, begun: number, settle: (problem: string | undefined) => void): void {
    const status = String(response.statusCode ?? 0)
    response.resume()
    response.on('error', (error) => settle(error.message))
    response.on('end', () => {
      count(this.#statuses, status)
      const pod = response.headers['x-pod']
      if (typeof pod === 'string') count(this.#pods, pod)
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - begun)
      this.#noteSlow('to answer', begun)
      settle(status === '200' ? undefined : `status ${status}`)
    })
  }

  #noteSlow(what: string, begun: number): void {
    const tookMs = performance.now() - begun
    if (tookMs < SLOW_MS || this.#slow.length >= FAILURES_KEPT) return
    const seconds = ((begun - this.#started) / 1000).toFixed(1)
    this.#slow.push(`${seconds} s: ${Math.round(tookMs)} ms ${what}`)
  }

  #end(problem: string | undefined): void {
    this.#inFlight -= 1
    if (problem === undefined) this.#ok += 1
    else this.#fail(problem)
    if (this.#isStopped && this.#inFlight === 0) this.#idle.resolve()
  }

  #fail(problem: string): void {
    this.#failed += 1
    const seconds = ((performance.now() - this.#started) / 1000).toFixed(1)
    if (this.#failures.length < FAILURES_KEPT) this.#failures.push(`${seconds} s: ${problem}`)
  }
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1
}
