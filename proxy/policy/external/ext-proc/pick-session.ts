// External processing for endpoint pickers (endpoint picker protocol 1.0 of the Gateway API Inference Extension):
// they name endpoints in a header or in metadata, and get the endpoint that answered. A request that has its endpoint
// no longer needs the picker.
import { create, type JsonObject } from '@bufbuild/protobuf'
import { MetadataSchema, type Metadata } from '../../../envoy/gen/envoy/config/core/v3/base.gen.ts'
import { shown } from '../../../exchange/diagnosis.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { SideName } from './modes.ts'
import { Session, type Outcome, type SessionConfig } from './session.ts'

export const DESTINATION = 'x-gateway-destination-endpoint'
const SERVED = 'x-gateway-destination-endpoint-served'
const NAMESPACE = 'envoy.lb'

export class PickSession extends Session {
  /** The endpoint from metadata; most pickers use the header. */
  destination: string | undefined = undefined
  /** No part of the request was forwarded yet. */
  #isHeld: boolean
  #phase: 'request' | 'waiting' | 'response' = 'request'

  constructor(exchange: Exchange, config: SessionConfig, isHeld: boolean) {
    super(exchange, config)
    this.#isHeld = isHeld
  }

  requestIsSettled(): void {
    this.#isHeld = false
    this.#phase = 'waiting'
  }

  responseIsShown(): void {
    this.#phase = 'response'
  }

  override setMetadata(metadata: JsonObject): void {
    const own = metadata[NAMESPACE]
    if (typeof own !== 'object' || own === null || Array.isArray(own)) return
    const destination = own[DESTINATION]
    if (typeof destination === 'string') this.destination = destination
  }

  /** A response that a picker tries to replace is forwarded unchanged. */
  override end(outcome: Outcome): void {
    const isIgnored = outcome.kind === 'Answered' && this.#phase !== 'request'
    super.end(
      isIgnored
        ? { kind: 'Failed', detail: shown('the endpoint picker tried to replace the response of the backend') }
        : outcome,
    )
  }

  protected override metadataFor(side: SideName): Metadata | undefined {
    const { endpoint } = this.exchange
    if (side === 'request' || endpoint === undefined) return undefined
    return create(MetadataSchema, { filterMetadata: { [NAMESPACE]: { [SERVED]: endpoint } } })
  }

  protected override mayGoOn(): boolean {
    if (this.#phase === 'request') return super.mayGoOn()
    return this.#phase === 'waiting' ? this.isAllDone() : this.canBeLeft()
  }

  protected override recall(): void {
    if (!this.#isHeld) super.recall()
  }
}
