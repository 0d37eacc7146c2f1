// The references of a translated object: the edges of reachability.
import type { BackendReference } from '#api/ir/types.gen.ts'

export interface ServicePortKey {
  readonly hostname: string
  readonly port: number
}

export interface References {
  readonly services: readonly ServicePortKey[]
  /** Backend keys, `namespace/name`. */
  readonly backends: readonly string[]
}

export function referencesOf(refs: readonly BackendReference[]): References {
  return {
    services: refs.flatMap(({ service }) =>
      service === undefined ? [] : [{ hostname: service.hostname, port: service.port }],
    ),
    backends: refs.flatMap(({ backend }) => (backend === undefined ? [] : [backend])),
  }
}
