// The LLM requests of each client, by the name that the gateway has verified: requests, tokens and cost.
import { clientKind, type ClientKind, clientName } from '../exchange/client-name.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { LlmFacts, LlmUsage } from '../exchange/facts.ts'
import { cutLabel, OVERFLOW_LABEL, type SeriesTable } from './buffer.ts'
import { CLIENTS_MAX, GEN_AI_CLIENT } from './internal-families.ts'

/** Slots of the family. */
const [REQUESTS = 0, INPUT_TOKENS = 1, OUTPUT_TOKENS = 2, COST = 3] = GEN_AI_CLIENT.offsets

/** Of one worker. */
export class ClientSeries {
  readonly #table: SeriesTable
  /** The first slot by kind and name. */
  readonly #slots: Readonly<Record<ClientKind, Map<string, number>>> = {
    apiKey: new Map(),
    jwt: new Map(),
    basicAuth: new Map(),
    certificate: new Map(),
    none: new Map(),
  }
  #count = 0

  constructor(table: SeriesTable) {
    this.#table = table
  }

  add(exchange: Exchange, llm: LlmFacts): void {
    const kind = clientKind(exchange)
    const slot = this.#slotOf(kind, cutLabel(clientName(exchange, kind)))
    this.#addTo(slot + REQUESTS, 1)
    this.#tokens(slot, llm)
    if (llm.transcription !== undefined) this.#tokens(slot, llm.transcription.facts)
    this.#addTo(slot + COST, llm.pricing?.totalOf(llm)?.usd?.total ?? 0)
  }

  #tokens(slot: number, { inputTokens = 0, outputTokens = 0 }: LlmUsage): void {
    this.#addTo(slot + INPUT_TOKENS, inputTokens)
    this.#addTo(slot + OUTPUT_TOKENS, outputTokens)
  }

  /** Further clients share one series. */
  #slotOf(kind: ClientKind, name: string): number {
    const known = this.#slots[kind].get(name)
    if (known !== undefined) return known
    if (this.#count >= CLIENTS_MAX) return this.#table.series(GEN_AI_CLIENT, [OVERFLOW_LABEL, OVERFLOW_LABEL])
    this.#count++
    const slot = this.#table.series(GEN_AI_CLIENT, [kind, name])
    this.#slots[kind].set(name, slot)
    return slot
  }

  #addTo(slot: number, amount: number): void {
    const { values } = this.#table
    values[slot] = (values[slot] ?? 0) + amount
  }
}
