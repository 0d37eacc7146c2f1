// Reports the loaded configuration to the operator. Only the latest report counts: a report that was not sent is
// replaced by the next, and sending is retried until it succeeds. A change that no decision depends on is delayed; of
// many proxies, most delay every change (api/delivery/acknowledging.ts).
import { messageOf } from '../../exchange/diagnosis.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { type Acknowledgement, acknowledgementPatch } from '#api/delivery/acknowledgement.ts'
import { isFirst, shardOf, windowMs } from '#api/delivery/acknowledging.ts'
import type { Logger } from '../../log/logger.ts'
import { BackOff, type BackOffLimits } from './back-off.ts'
import type { KubeClient } from './kube-client.ts'

export interface AcknowledgerOptions {
  readonly client: KubeClient
  /** Of the ConfigMaps: `/api/v1/namespaces/shop/configmaps/web-acknowledgements`, and those for many proxies. */
  readonly paths: readonly string[]
  readonly pod: string
  readonly logger: Logger
  readonly signal: AbortSignal
  /** For tests. */
  readonly gatherMs?: number
}

/** Between two writes: a burst of deliveries becomes a few writes. */
const PAUSE_MS = 100
/**
 * Each report of each proxy is a write for the API server and work for the controller, just when the next change may
 * be on its way: the number of a delivery waits for more of them, and proxies do not all write at once.
 */
const GATHER_MS = 2000
const RETRY = { firstMs: 200, maxMs: 10_000 }
const FAREWELL_MS_MAX = 1000

export class Acknowledger {
  readonly #options: AcknowledgerOptions
  #wanted: Acknowledgement | undefined = undefined
  #said: Acknowledgement | undefined = undefined
  /** Ends the delay while it waits for more. */
  #hurry: (() => void) | undefined = undefined
  #isSending = false
  /** Of the Gateway, if they are many. */
  #proxies: number | undefined = undefined

  constructor(options: AcknowledgerOptions) {
    this.#options = options
  }

  /** About how many proxies the Gateway has, if it has many. */
  set proxies(proxies: number | undefined) {
    this.#proxies = proxies
  }

  say(value: Acknowledgement): void {
    this.#wanted = value
    if (this.#delayMs(value) === 0) this.#hurry?.()
    if (!this.#isSending) void this.#send()
  }

  /** Deletes the report of a pod that shuts down; if that fails, the operator detects it by itself. */
  async takeBack(): Promise<void> {
    const { client, pod, logger } = this.#options
    try {
      await client.patch(this.#path(), acknowledgementPatch(pod, undefined), AbortSignal.timeout(FAREWELL_MS_MAX))
    } catch (error) {
      logger.debug('the acknowledgement could not be deleted', { error: String(error) })
    }
  }

  async #send(): Promise<void> {
    const { client, pod, logger, signal } = this.#options
    const backOff = new BackOff(this.#retry())
    this.#isSending = true
    let [isGoingOn, isRetry] = [true, false]
    while (isGoingOn && this.#wanted !== undefined) {
      // A failed write came at a moment of its own, and so does the next one: all proxies in time, and not all at once.
      const delayMs = isRetry ? 0 : this.#delayMs(this.#wanted)
      if (delayMs > 0 && !(await this.#gather(delayMs))) break
      const value: Acknowledgement = this.#wanted
      this.#wanted = undefined
      const problem = await this.#try(() => client.patch(this.#path(), acknowledgementPatch(pod, value), signal))
      isRetry = problem !== undefined
      if (problem === undefined) {
        this.#said = value
        backOff.reset()
        isGoingOn = await pause(PAUSE_MS, signal)
      } else {
        this.#wanted ??= value
        logger.debug('acknowledgement not accepted, retrying', { error: problem })
        isGoingOn = await backOff.wait(signal)
      }
    }
    this.#isSending = false
  }

  #path(): string {
    const { paths, pod } = this.#options
    return paths[shardOf(pod, this.#proxies)] ?? ''
  }

  /** With many proxies the API server gets no more than the usual number of writes from those that retry. */
  #retry(): BackOffLimits {
    const ms = windowMs(this.#proxies)
    return { firstMs: Math.max(RETRY.firstMs, ms / 8), maxMs: Math.max(RETRY.maxMs, ms) }
  }

  #delayMs(value: Acknowledgement): number {
    const { pod, gatherMs = GATHER_MS } = this.#options
    const allMs = windowMs(this.#proxies)
    if (!isUrgent(value, this.#said)) return between(0.5, 1) * Math.max(gatherMs, allMs)
    return isFirst(pod, this.#proxies) ? 0 : between(0, 1) * allMs
  }

  /** False after the end. */
  async #gather(ms: number): Promise<boolean> {
    const { signal } = this.#options
    const hurry = new AbortController()
    this.#hurry = () => hurry.abort()
    await pause(ms, AbortSignal.any([signal, hurry.signal]))
    this.#hurry = undefined
    return !signal.aborted
  }

  async #try(patch: () => Promise<{ status: number }>): Promise<string | undefined> {
    try {
      const { status } = await patch()
      return status === 200 ? undefined : `status ${status}`
    } catch (error) {
      return messageOf(error)
    }
  }
}

/** Conditions of the Gateway and the format of deliveries depend on these. */
function isUrgent(value: Acknowledgement, said: Acknowledgement | undefined): boolean {
  return (
    value.gatewayUid !== said?.gatewayUid ||
    value.gatewayGeneration !== said.gatewayGeneration ||
    value.reads !== said.reads ||
    value.rejected?.generation !== said.rejected?.generation ||
    value.rejected?.message !== said.rejected?.message
  )
}

/** Of the whole. */
function between(from: number, to: number): number {
  return from + Math.random() * (to - from)
}

async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal })
    return true
  } catch {
    // Only the signal rejects.
    return false
  }
}
