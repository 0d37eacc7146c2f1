// Open connections by listener: one listener has connections of several kinds, and of earlier settings.
import type { ExchangePlace } from '../exchange/facts.ts'
import type { ListenerConnections } from '../trace/messages.ts'

export class ListenerCounts {
  readonly #counts = new Map<string, ListenerConnections>()

  add({ gatewayNamespace, gatewayName, listener }: ExchangePlace, count: number): void {
    const gateway = `${gatewayNamespace}/${gatewayName}`
    const key = `${gateway} ${listener}`
    const open = (this.#counts.get(key)?.open ?? 0) + count
    this.#counts.set(key, { gateway, listener, open })
  }

  all(): ListenerConnections[] {
    return [...this.#counts.values()]
  }
}
