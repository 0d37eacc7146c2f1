// The last hour and the connections of endpoints by the rows of the tables. Pure.
import type { components } from '#api/admin/types.gen.ts'
import { shortUid } from './backends.ts'
import { givenName } from './given-names.ts'

type EndpointState = components['schemas']['EndpointState']
export type EndpointStates = components['schemas']['EndpointStates']

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

/** `3 of 8192, 2 idle`; empty if the endpoint is not listed. */
export function connectionsText(state: EndpointState | undefined): string {
  if (state === undefined) return ''
  const { open, idle, max } = state.connections
  return `${open}${max === null ? '' : ` of ${max}`}, ${idle} idle`
}
