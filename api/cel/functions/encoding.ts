// Text forms of values: JSON, base64, percent encoding, forms, digests, and the payload of a token.
import { createHash } from 'node:crypto'
import { percentEncoded } from '../../percent-encoding.ts'
import { elementOrMissing, keysOf } from '../engine/access.ts'
import { celError } from '../engine/errors.ts'
import { checkElements, type Frame } from '../engine/frame.ts'
import { type CelFunction, type FixedCall, global, noOverload, textArg } from '../engine/function-table.ts'
import { textOf } from '../engine/types.ts'
import { jsonText, parseJson } from '../values/json.ts'
import { decodeUtf8, stringForm } from './conversions.ts'

/** Pairs of one form that are read. */
const FORM_PAIRS_MAX = 10_000

/** What one digest of a short text costs beside its argument. */
const DIGEST_STEPS = 20

/** What a pair of a form costs: names are sorted, and both parts decoded or encoded. */
const PAIR_STEPS = 8

function textOrBytes(value: unknown, name: string): string | Uint8Array {
  if (value instanceof Uint8Array) return value
  return textArg(value, name)
}

function json(value: unknown, frame: Frame): unknown {
  const given = textOrBytes(value, 'json')
  frame.charge(given.length >>> 4)
  return parseJson(typeof given === 'string' ? given : decodeUtf8(given))
}

function toJson(value: unknown, frame: Frame): string {
  const text = jsonText(value)
  frame.charge(text.length >>> 2)
  return text
}

function unvalidatedJwtPayload(token: unknown, frame: Frame): unknown {
  const text = textArg(token, 'unvalidatedJwtPayload')
  if (text.length > 256) frame.charge(text.length >>> 3)
  const segments = text.split('.', 4)
  const payload = segments[1]
  if (segments.length !== 3 || payload === undefined) throw celError('a token has three segments')
  if (!/^[\w-]*={0,2}$/.test(payload)) throw celError('the payload is not base64url')
  return parseJson(decodeUtf8(Buffer.from(payload, 'base64url')))
}

function base64Encode(value: unknown): string {
  return Buffer.from(textOrBytes(value, 'base64.encode')).toString('base64')
}

function base64Decode(value: unknown): Uint8Array {
  const text = textArg(value, 'base64.decode')
  const digits = text.replace(/={1,2}$/, '')
  const isPadded = text.length % 4 === 0 || digits.length === text.length
  if (!isPadded || !/^[A-Za-z0-9+/]*$/.test(digits) || digits.length % 4 === 1) throw celError('not valid base64')
  return new Uint8Array(Buffer.from(digits, 'base64'))
}

function urlDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw celError('not valid percent encoding')
  }
}

function formEncode(value: unknown, frame: Frame): string {
  if (textOf(value) !== undefined) throw noOverload('form.encode', value)
  const keys = keysOf(value)
  frame.charge(keys.length * PAIR_STEPS)
  const names = keys.map(String).sort()
  const pairs: string[] = []
  for (const name of names) {
    const member = elementOrMissing(value, name)
    const items: readonly unknown[] = Array.isArray(member) ? member : [member]
    frame.charge((items.length - 1) * PAIR_STEPS)
    for (const item of items) {
      if (item === null || item === undefined) continue
      const text = stringForm(item)
      if (text === undefined) throw noOverload('form.encode', item)
      pairs.push(`${formComponent(name)}=${formComponent(text)}`)
    }
  }
  return pairs.join('&')
}

function formComponent(text: string): string {
  return percentEncoded(text).replaceAll('%20', '+')
}

function formDecode(value: unknown, frame: Frame): Map<unknown, unknown> {
  const given = textOrBytes(value, 'form.decode')
  const text = typeof given === 'string' ? given : decodeUtf8(given)
  const pairs = text === '' ? [] : text.split('&', FORM_PAIRS_MAX + 1)
  if (pairs.length > FORM_PAIRS_MAX) checkElements(Number.POSITIVE_INFINITY)
  frame.charge(pairs.length * PAIR_STEPS + (text.length >>> 3))
  const form = new Map<unknown, unknown>()
  for (const pair of pairs) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const name = formText(at < 0 ? pair : pair.slice(0, at))
    addPair(form, name, formText(at < 0 ? '' : pair.slice(at + 1)))
  }
  return form
}

function addPair(form: Map<unknown, unknown>, name: string, value: string): void {
  const known = form.get(name)
  if (known === undefined) form.set(name, value)
  else if (Array.isArray(known)) known.push(value)
  else form.set(name, [known, value])
}

function formText(component: string): string {
  return urlDecode(component.replaceAll('+', ' '))
}

function digest(name: string, algorithm: string): CelFunction {
  return global(`${name}.encode`, 1, (value, _b, _c, _d, frame) => {
    frame.charge(DIGEST_STEPS)
    return createHash(algorithm)
      .update(textOrBytes(value, `${name}.encode`))
      .digest('hex')
  })
}

const toJsonCall: FixedCall = (value, _b, _c, _d, frame) => toJson(value, frame)

export const ENCODING_FUNCTIONS: readonly CelFunction[] = [
  global('json', 1, (value, _b, _c, _d, frame) => json(value, frame)),
  global('toJson', 1, toJsonCall),
  global('to_json', 1, toJsonCall),
  global('unvalidatedJwtPayload', 1, (value, _b, _c, _d, frame) => unvalidatedJwtPayload(value, frame)),
  global('base64.encode', 1, base64Encode),
  global('base64Encode', 1, base64Encode),
  global('base64.decode', 1, base64Decode),
  global('base64Decode', 1, base64Decode),
  global('url.encode', 1, (value) => percentEncoded(textArg(value, 'url.encode'))),
  global('url.decode', 1, (value) => urlDecode(textArg(value, 'url.decode'))),
  global('form.encode', 1, (value, _b, _c, _d, frame) => formEncode(value, frame)),
  global('form.decode', 1, (value, _b, _c, _d, frame) => formDecode(value, frame)),
  digest('sha1', 'sha1'),
  digest('sha256', 'sha256'),
  digest('md5', 'md5'),
]
