// Coarse timers for a whole worker: one wheel for deadlines of calls, one sweep for idle connections. Sockets have no
// timers of their own.

export interface Expiring {
  /** Called once after the deadline; late by at most one tick, never early. */
  expired(): void
}

/** At most 10 ms late: route timeouts are tens of milliseconds and more. */
const TICK_MS = 10

/** Calls with a deadline, in slots of one tick. The timer runs only while a call waits. */
export class DeadlineWheel {
  readonly #slots = new Map<number, Set<Expiring>>()
  #cursor = 0
  #timer: NodeJS.Timeout | undefined = undefined

  /** Returns the slot, for `remove`. */
  add(item: Expiring, deadlineMs: number): number {
    if (this.#timer === undefined) {
      this.#cursor = Math.floor(performance.now() / TICK_MS)
      this.#timer = setInterval(() => {
        this.#tick()
      }, TICK_MS).unref()
    }
    const slot = Math.max(Math.ceil(deadlineMs / TICK_MS), this.#cursor + 1)
    const items = this.#slots.get(slot)
    if (items === undefined) this.#slots.set(slot, new Set([item]))
    else items.add(item)
    return slot
  }

  remove(item: Expiring, slot: number): void {
    const items = this.#slots.get(slot)
    items?.delete(item)
    if (items?.size === 0) this.#slots.delete(slot)
  }

  #tick(): void {
    const from = this.#cursor
    const now = Math.floor(performance.now() / TICK_MS)
    // Before any callback: items that callbacks add must be in a later slot.
    this.#cursor = now
    // After a long pause of the event loop, a walk over the existing slots is cheaper than one over the missed ticks.
    if (now - from > this.#slots.size) {
      for (const slot of [...this.#slots.keys()].sort(ascending)) if (slot <= now) this.#fire(slot)
    } else {
      for (let slot = from + 1; slot <= now; slot++) this.#fire(slot)
    }
    if (this.#slots.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #fire(slot: number): void {
    const items = this.#slots.get(slot)
    this.#slots.delete(slot)
    for (const item of items ?? []) item.expired()
  }
}

/**
 * Of requests and of their calls to backends. A late timer then still meets them in their order: the request ends
 * first, and not with the failure of a call that has a little more time.
 */
export const requestDeadlines = new DeadlineWheel()

function ascending(a: number, b: number): number {
  return a - b
}

export interface Sweepable {
  /** Checks whether the connection is overdue, and acts. */
  sweep(nowMs: number): void
}

/** Idle and stall times are seconds to minutes: one check a second costs 20 ns for each connection. */
const SWEEP_MS = 1000

/** Connections that are checked once a second. */
export class Sweeper {
  readonly #items = new Set<Sweepable>()
  #timer: NodeJS.Timeout | undefined = undefined

  add(item: Sweepable): void {
    this.#items.add(item)
    this.#timer ??= setInterval(() => {
      const nowMs = performance.now()
      for (const each of this.#items) each.sweep(nowMs)
    }, SWEEP_MS).unref()
  }

  remove(item: Sweepable): void {
    this.#items.delete(item)
    if (this.#items.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
