// The header block of a response, as node:http2 hands it over, and its trailers. Refuses what could not be passed on.
import { fieldName, FieldKind } from '../message/field-name.ts'
import { joined } from '../http/head-fields.ts'
import { BAD_VALUE } from '../message/head-text.ts'
import { HeaderList } from '../message/headers.ts'

const DIGITS = /^[0-9]{1,15}$/

export interface ResponseFields {
  readonly status: number
  readonly headers: HeaderList
  readonly contentLength: number | undefined
  readonly trailerNames: string | undefined
}

/** A text: what is wrong. Connection-specific fields are dropped. */
export function readResponseFields(raw: readonly string[]): ResponseFields | string {
  const headers = new HeaderList()
  let status = 0
  let trailerNames: string | undefined
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    const value = raw[i + 1] ?? ''
    if (name === ':status') status = Number(value)
    else if (name === 'trailer') trailerNames = joined(trailerNames, value)
    else if (!takeField(headers, name, value)) return 'invalid header field'
  }
  if (!Number.isInteger(status) || status < 200 || status > 599) return `status ${status}`
  const contentLength = lengthIn(headers)
  return contentLength === 'Bad' ? 'invalid content-length' : { status, headers, trailerNames, contentLength }
}

function lengthIn(headers: HeaderList): number | 'Bad' | undefined {
  const [length, ...others] = headers.getAll('content-length')
  if (length === undefined) return undefined
  return others.length > 0 || !DIGITS.test(length) ? 'Bad' : Number(length)
}

function takeField(headers: HeaderList, text: string, value: string): boolean {
  const name = fieldName(text)
  if (name === undefined || BAD_VALUE.test(value)) return false
  if (isKept(name.kind)) headers.append(name.lower, value)
  return true
}

function isKept(kind: FieldKind): boolean {
  return kind === FieldKind.Ordinary || kind === FieldKind.ContentLength
}

export function trailersOf(raw: readonly string[]): HeaderList {
  const list = new HeaderList()
  for (let i = 0; i < raw.length; i += 2) list.append(raw[i] ?? '', raw[i + 1] ?? '')
  return list
}
