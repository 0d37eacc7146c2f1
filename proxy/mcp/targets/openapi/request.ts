// The HTTP request of an operation, from the arguments of its tool. Decides nothing about the response.
import type { OpenApiOperation, OpenApiParameter } from '#api/ir/types.gen.ts'
import { exactDigits } from '#api/bounded-json.ts'
import { isRecord, type JsonRecord, recordOf } from '#api/json.ts'
import { isToken } from '../../../message/field-name.ts'
import { fieldValue, isFramingField } from '../../../message/header-field.ts'
import { HeaderList } from '../../../message/headers.ts'

export interface OperationRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: HeaderList
  readonly body: Buffer | undefined
}

/** The arguments do not fit; the message is for the client. */
export class InvalidArguments extends Error {}

/** Between the items of a list that is one value. */
const SEPARATORS: Readonly<Record<string, string>> = { spaceDelimited: ' ', pipeDelimited: '|' }

/** @throws {InvalidArguments} */
export function requestOf(basePath: string, operation: OpenApiOperation, args: unknown): OperationRequest {
  const given = recordOf(args)
  const headers = new HeaderList()
  headers.set('accept', 'application/json, */*;q=0.8')
  headers.set('accept-encoding', 'identity')
  let { path } = operation
  const query: string[] = []
  for (const parameter of operation.parameters) {
    const group = recordOf(given[parameter.in])
    const value = Object.hasOwn(group, parameter.name) ? group[parameter.name] : undefined
    if (parameter.in === 'path') path = path.replaceAll(`{${parameter.name}}`, () => segmentOf(parameter, value))
    else if (value === undefined || value === null) continue
    else if (parameter.in === 'query') query.push(...queryPairs(parameter, value))
    else setHeader(headers, parameter, value)
  }
  const { bodyType } = operation
  const body = bodyType === undefined ? undefined : given['body']
  if (body !== undefined && bodyType !== undefined) headers.set('content-type', bodyType)
  return {
    method: operation.method,
    path: basePath + path,
    query: query.join('&'),
    headers,
    body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
  }
}

/** One segment: a value cannot lead to another path. */
function segmentOf(parameter: OpenApiParameter, value: unknown): string {
  const text = value === undefined || value === null ? '' : simple(parameter, value)
  if (text === '' || text === '.' || text === '..') {
    throw new InvalidArguments(`path.${parameter.name} must not be empty, "." or ".."`)
  }
  return encoded(text)
}

function setHeader(headers: HeaderList, parameter: OpenApiParameter, value: unknown): void {
  const name = parameter.name.toLowerCase()
  const text = fieldValue(Buffer.from(simple(parameter, value), 'utf8').toString('latin1'))
  if (text === undefined) throw new InvalidArguments(`header.${parameter.name} is not a valid header value`)
  if (isToken(name) && !isFramingField(name) && name !== 'host') headers.set(name, text)
}

/** OpenAPI 3.1, "Style Values". */
function queryPairs({ name, style, explode }: OpenApiParameter, value: unknown): string[] {
  const key = encoded(name)
  const pair = (text: string, at = key): string => `${at}=${encoded(text)}`
  if (Array.isArray(value)) {
    if (explode) return value.map((item: unknown) => pair(scalar(item)))
    const separator = SEPARATORS[style] ?? ','
    return [`${key}=${value.map((item: unknown) => encoded(scalar(item))).join(encodedSeparator(separator))}`]
  }
  if (!hasMembers(value)) return [pair(scalar(value))]
  const members = Object.entries(value)
  if (style === 'deepObject') {
    return members.map(([member, one]) => pair(scalar(one), `${key}${encoded(`[${member}]`)}`))
  }
  if (explode) return members.map(([member, one]) => pair(scalar(one), encoded(member)))
  return [
    `${key}=${members
      .flatMap(([member, one]) => [member, scalar(one)])
      .map(encoded)
      .join(',')}`,
  ]
}

function encodedSeparator(separator: string): string {
  return separator === ',' ? ',' : encoded(separator)
}

/** A lone surrogate, which JSON may have, has no UTF-8. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The style `simple`, for paths and headers. */
function simple({ explode }: OpenApiParameter, value: unknown): string {
  if (Array.isArray(value)) return value.map(scalar).join(',')
  if (!hasMembers(value)) return scalar(value)
  const members = Object.entries(value)
  return members.map(([member, one]) => `${member}${explode ? '=' : ','}${scalar(one)}`).join(',')
}

/** A long number is an object that `JSON.stringify` writes as it came. */
export function hasMembers(value: unknown): value is JsonRecord {
  return isRecord(value) && exactDigits(value) === undefined
}

/** JSON for values that have no form in a parameter. */
function scalar(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
