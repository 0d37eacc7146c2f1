// Equal parts of objects are kept once: most routes of a cluster have the parents, filters and conditions of others.
import { SharedParts } from '#api/incremental/shared-parts.ts'
import { isRecord } from '#api/json.ts'
import type { KubeObject } from '../translate/kube.ts'

type Json = Readonly<Record<string, unknown>>

const OF_METADATA = ['labels', 'annotations', 'ownerReferences']
/** Of the spec; `selector` and `ports` are those of Services. */
const OF_SPEC = ['parentRefs', 'ports', 'selector', 'clusterIPs']
const OF_RULE = ['matches', 'filters', 'backendRefs', 'timeouts', 'retry']
const OF_ENDPOINT = ['conditions', 'hints']

export class Sharing {
  readonly #parts = new SharedParts()

  /** A copy with shared parts. What is in it may be anything. */
  of(object: KubeObject): KubeObject {
    const { spec, status, ports, endpoints }: Json = { ...object }
    return {
      ...object,
      metadata: this.#with(object.metadata, OF_METADATA),
      ...(isRecord(spec) && { spec: this.#spec(spec) }),
      ...(isRecord(status) && { status: this.#parts.of(status) }),
      ...(Array.isArray(ports) && { ports: this.#parts.of(ports) }),
      ...(Array.isArray(endpoints) && { endpoints: endpoints.map((one) => this.#record(one, OF_ENDPOINT)) }),
    }
  }

  #spec(spec: Json): Json {
    const { rules } = spec
    const shared = this.#with(spec, OF_SPEC)
    return Array.isArray(rules) ? { ...shared, rules: rules.map((rule) => this.#record(rule, OF_RULE)) } : shared
  }

  #record(value: unknown, names: readonly string[]): unknown {
    return isRecord(value) ? this.#with(value, names) : value
  }

  #with<T extends object>(holder: T, names: readonly string[]): T {
    let copy: T | undefined
    for (const name of names) {
      const value: unknown = Reflect.get(holder, name)
      if (typeof value !== 'object' || value === null) continue
      const shared = this.#parts.of(value)
      if (shared === value) continue
      copy ??= { ...holder }
      Reflect.set(copy, name, shared)
    }
    return copy ?? holder
  }
}
