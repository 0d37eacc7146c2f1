// Coarse timers for a whole worker: one wheel for deadlines of calls, one sweep for idle connections. No timer per
// socket.

export interface Expiring {
  /** Called once when the deadline has passed; late by up to a tick, never early. */
  expired(): void
}

/** Late by 10 ms at most: route timeouts are tens of milliseconds and up. */
const TICK_MS = 10

/** Calls with a deadline, in slots of one tick. Runs a timer only while something waits. */
export class DeadlineWheel {
  readonly #slots = new Map<number, Set<Expiring>>()
  #cursor = 0
  #timer: NodeJS.Timeout | undefined = undefined

  /** Returns the slot to `remove` it from. */
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
    // Before anything fires: what is added meanwhile must land in a slot that is still to come.
    this.#cursor = now
    // After a long pause of the event loop it is cheaper to walk the slots that exist than the ticks that passed.
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

function ascending(a: number, b: number): number {
  return a - b
}

export interface Sweepable {
  /** Looks whether it is overdue, and acts. */
  sweep(nowMs: number): void
}

/** Idle and stall times are seconds to minutes: looking once a second costs 20 ns per connection. */
const SWEEP_MS = 1000

/** Connections looked at once a second. */
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
