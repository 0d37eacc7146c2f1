// Keeps file descriptors free for one worker: looks a few times a second, has idle client connections closed while they
// are short, and logs when that begins and ends. Never touches a request.
import type { Logger } from '../log/logger.ts'
import type { DescriptorRoom } from './descriptor-room.ts'

/** Newcomers between two looks have shares of their own, so that this is soon enough. */
const LOOK_MS = 250

export interface DescriptorWatchOptions {
  readonly room: DescriptorRoom
  /** Closes those that have been idle for longest; returns how many there were. */
  readonly closeIdle: (atMost: number) => number
  readonly logger: Logger
}

export class DescriptorWatch {
  /** Idle connections that had to go. */
  closed = 0
  readonly #room: DescriptorRoom
  readonly #closeIdle: (atMost: number) => number
  readonly #logger: Logger
  readonly #timer: NodeJS.Timeout
  #wasShort = false

  constructor({ room, closeIdle, logger }: DescriptorWatchOptions) {
    this.#room = room
    this.#closeIdle = closeIdle
    this.#logger = logger
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref()
  }

  /** Connections that were closed unserved. */
  get refused(): number {
    return this.#room.refused
  }

  hasRoom(): boolean {
    return this.#room.take()
  }

  look(): void {
    const surplus = this.#room.look()
    if (surplus > 0) this.closed += this.#closeIdle(surplus)
    const { isShort, limit, refused } = this.#room
    if (isShort === this.#wasShort) return
    this.#wasShort = isShort
    if (isShort) {
      this.#logger.warn('file descriptor limit almost reached: idle client connections are closed, new ones refused', {
        limit,
      })
    } else this.#logger.info('file descriptor usage back below the limit', { refused, closed: this.closed })
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
