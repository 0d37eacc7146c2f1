// Adds, sets and removes header fields: add first, then set, then remove (data-plane supplement section 1.10).
import type { HeaderModifier, HeaderValue } from '#api/ir/types.gen.ts'
import type { HeaderList } from '../../message/headers.ts'
import type { HttpRequest } from '../../message/message.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { textValue, isFramingField } from '../../message/header-field.ts'
import { setHost } from './request-target.ts'

/** `host` is not a field here but the authority of the request: adding or setting it changes the authority. */
export function compileRequestHeaderModifier(payload: HeaderModifier): CompiledPolicy {
  const modify = compileModifier(payload)
  const host = [...(payload.add ?? []), ...(payload.set ?? [])].findLast(isHost)?.value
  return {
    request: (exchange) => {
      modify(exchange.request.headers)
      if (host !== undefined) applyHost(exchange.request, host)
      return undefined
    },
  }
}

export function compileResponseHeaderModifier(payload: HeaderModifier): CompiledPolicy {
  const modify = compileModifier(payload)
  return {
    response: (exchange) => {
      if (exchange.response !== undefined) modify(exchange.response.headers)
      return undefined
    },
  }
}

function compileModifier({ add, set, remove }: HeaderModifier): (headers: HeaderList) => void {
  const added = writable(add)
  const replaced = writable(set)
  const removed = (remove ?? []).map((name) => name.toLowerCase())
  return (headers) => {
    for (const { name, value } of added) headers.append(name, value)
    for (const { name, value } of replaced) headers.set(name, value)
    for (const name of removed) headers.remove(name)
  }
}

/** The contract does not limit the characters of a value; one that would break the message is dropped. */
function writable(values: readonly HeaderValue[] | undefined): HeaderValue[] {
  return (values ?? []).flatMap((entry) => {
    const name = entry.name.toLowerCase()
    const value = textValue(entry.value)
    return value === undefined || isFramingField(name) || name === 'host' ? [] : [{ name, value }]
  })
}

function isHost({ name }: HeaderValue): boolean {
  return name.toLowerCase() === 'host'
}

function applyHost(request: HttpRequest, host: string): void {
  setHost(request, host)
}
