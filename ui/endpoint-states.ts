// The last hour and the connections of endpoints by the rows of the tables. Pure.
import { shortUid } from '#cli/proxy/backends.ts'
import { givenName } from '#cli/proxy/given-names.ts'
import type { EndpointState, EndpointStates } from './api.ts'

/** A row of the tables of backends, models and MCP servers. */
interface Place {
  readonly type: string
  readonly name: string
  readonly namespace: string
  readonly endpoint: string
}

export type StatesByRow = ReadonlyMap<string, EndpointState>

export function statesByRow(states: EndpointStates | undefined): StatesByRow {
  return new Map(
    states?.endpoints.map((state) => {
      const { type, name, namespace, section, endpoint } = state
      const row = { type, name: givenName(name, section), namespace, endpoint: shortUid(endpoint, namespace) }
      return [rowKey(row), state]
    }),
  )
}

export function rowKey({ type, name, namespace, endpoint }: Place): string {
  return [type, namespace, name, endpoint].join(' ')
}
