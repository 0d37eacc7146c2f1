// Tells the operator what this proxy has loaded. The last word counts: what could not be sent is replaced by what came
// after it, and sending is tried until it works.
import { setTimeout as delay } from 'node:timers/promises'
import { type Acknowledgement, acknowledgementPatch } from '#api/delivery/acknowledgement.ts'
import type { Logger } from '../../log/logger.ts'
import { BackOff } from './back-off.ts'
import type { KubeClient } from './kube-client.ts'

export interface AcknowledgerOptions {
  readonly client: KubeClient
  /** `/api/v1/namespaces/shop/configmaps/web-acknowledgements` */
  readonly path: string
  readonly pod: string
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** A burst of deliveries is a few writes for the API server. */
const PAUSE_MS = 100
const RETRY = { firstMs: 200, maxMs: 10_000 }
const FAREWELL_MS_MAX = 1000

export class Acknowledger {
  readonly #options: AcknowledgerOptions
  #wanted: Acknowledgement | undefined = undefined
  #isSending = false

  constructor(options: AcknowledgerOptions) {
    this.#options = options
  }

  say(value: Acknowledgement): void {
    this.#wanted = value
    if (!this.#isSending) void this.#send()
  }

  /** The word of a pod that goes away is taken back; when that fails the operator finds out by itself. */
  async takeBack(): Promise<void> {
    const { client, path, pod, logger } = this.#options
    try {
      await client.patch(path, acknowledgementPatch(pod, undefined), AbortSignal.timeout(FAREWELL_MS_MAX))
    } catch (error) {
      logger.debug('the acknowledgement could not be taken back', { error: String(error) })
    }
  }

  async #send(): Promise<void> {
    const { client, path, pod, logger, signal } = this.#options
    const backOff = new BackOff(RETRY)
    this.#isSending = true
    let isGoingOn = true
    while (isGoingOn && this.#wanted !== undefined) {
      const value: Acknowledgement = this.#wanted
      this.#wanted = undefined
      const problem = await this.#try(() => client.patch(path, acknowledgementPatch(pod, value), signal))
      if (problem === undefined) {
        backOff.reset()
        isGoingOn = await pause(signal)
      } else {
        this.#wanted ??= value
        logger.debug('acknowledgement not accepted, trying again', { error: problem })
        isGoingOn = await backOff.wait(signal)
      }
    }
    this.#isSending = false
  }

  async #try(patch: () => Promise<{ status: number }>): Promise<string | undefined> {
    try {
      const { status } = await patch()
      return status === 200 ? undefined : `status ${status}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}

async function pause(signal: AbortSignal): Promise<boolean> {
  try {
    await delay(PAUSE_MS, undefined, { signal })
    return true
  } catch {
    // Only the signal rejects.
    return false
  }
}
