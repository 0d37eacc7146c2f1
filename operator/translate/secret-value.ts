// Reads one entry of a Secret or ConfigMap. The value never enters a message.
import { Buffer } from 'node:buffer'
import type { Secret } from './kube.ts'
import { compareText } from './order.ts'

/** Undefined when the entry is missing. Trailing line breaks, which editors add, are not part of a credential. */
export function secretValue(secret: Secret, key: string): string | undefined {
  const stringData = secret.stringData ?? {}
  if (Object.hasOwn(stringData, key)) return stringData[key]?.replace(/[\r\n]+$/, '')
  const data = secret.data ?? {}
  const encoded = Object.hasOwn(data, key) ? data[key] : undefined
  return encoded === undefined
    ? undefined
    : Buffer.from(encoded, 'base64')
        .toString('utf8')
        .replace(/[\r\n]+$/, '')
}

/** Names of all entries, sorted. */
export function secretEntries({ data, stringData }: Secret): string[] {
  return [...new Set([...Object.keys(data ?? {}), ...Object.keys(stringData ?? {})])].sort(compareText)
}
