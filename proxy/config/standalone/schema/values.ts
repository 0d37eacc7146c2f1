// Single values of a standalone file: expressions, durations, addresses, header names, files.
import { isIP } from 'node:net'
import { re2 } from '#api/late-re2.ts'
import * as z from 'zod'
import { readsOf } from '#api/cel/compile.ts'
import { type CelNameProblem, nameProblems } from '#api/cel/names.ts'
import { parseDuration } from '#api/units/duration.ts'
import { currentFunctions } from './functions.ts'
import { currentMoment } from './moment.ts'
import { fields, oneShape, ONE_FIELD } from './object.ts'

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/
const HOST_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s/]+)):(\d{1,5})$/
const PORT_MAX = 65_535
const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\//i
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/

/** Of gateways, listeners, routes, backends. */
export const name = z.string().regex(NAME, {
  error: 'must be letters, digits, -, _ and ., at most 253, and begin and end with a letter or digit',
})
export const text = z.string().min(1)
export const port = z.int().min(1).max(PORT_MAX)
export const count = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

/** Source text of an expression that compiles and reads no value that is unavailable when it is evaluated. */
export const cel = z.string().superRefine((source, context) => {
  const functions = currentFunctions()
  // Reported where they are declared; calls of them would be mistakes only because of that one.
  if ('problem' in functions) return
  const found = readsOf(source, functions.environment)
  const [problem] =
    'problem' in found ? [found.problem] : nameProblems(source, found, currentMoment()).filter(isMistake)
  if (problem === undefined) return
  const { message, line, column } = problem
  context.addIssue({
    code: 'custom',
    message: `is not a valid expression: ${message} (line ${line}, column ${column} of the expression)`,
  })
})

function isMistake({ isNotYet }: CelNameProblem): boolean {
  return !isNotYet
}

/** To milliseconds. */
export const duration = z
  .string({ error: durationError })
  .transform((value, context) => {
    const parsed = parseDuration(value)
    if ('ms' in parsed) return parsed.ms
    context.addIssue({ code: 'custom', message: parsed.problem })
    return z.NEVER
  })
  .meta({ pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$', examples: ['500ms', '10s', '1h30m'] })

function durationError({ input }: { readonly input?: unknown }): string | undefined {
  return typeof input === 'number' ? 'must be a duration with a unit, such as 500ms, 10s or 1h30m' : undefined
}

export const headerName = z
  .string()
  .regex(HEADER_NAME, { error: 'is not a header name' })
  .transform((name) => name.toLowerCase())

export const headerValue = z.string().refine((value) => !CONTROL.test(value), {
  error: 'contains control characters, which are not allowed in a header field',
})

export const regex = z.string().superRefine((source, context) => {
  const { RE2JS } = re2()
  try {
    RE2JS.compile(source)
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error)
    context.addIssue({ code: 'custom', message: `is not a valid regular expression (RE2 syntax): ${reason}` })
  }
})

export const stringMatch = fields({ exact: z.string().optional(), regex: regex.optional() })
  .refine((value) => Object.keys(value).length === 1, { error: 'must have exactly one of exact, regex' })
  .meta(ONE_FIELD)

/** Of a cloud; it becomes a part of a host name. */
export const cloudRegion = z
  .string()
  .regex(/^[a-z0-9-]{1,63}$/, { error: 'must be 1 to 63 lower-case letters, digits and -' })

export interface Address {
  readonly host: string
  readonly port: number
}

/** `host:port`; addresses of IPv6 in brackets. */
export function parseAddress(value: string, portMin = 1): Address | undefined {
  const parts = HOST_PORT.exec(value)
  const host = parts?.[1] ?? parts?.[2]
  const number = Number(parts?.[3])
  if (host === undefined || number < portMin || number > PORT_MAX) return undefined
  return parts?.[1] !== undefined && isIP(host) !== 6 ? undefined : { host, port: number }
}

export const address = z
  .string()
  .transform((value, context) => {
    const parsed = parseAddress(value)
    if (parsed !== undefined) return parsed
    const hint = URL_LIKE.test(value) ? '; remove the scheme and the path, and set backendTLS for https' : ''
    context.addIssue({ code: 'custom', message: `must be host:port, for example 127.0.0.1:8080 or [::1]:8080${hint}` })
    return z.NEVER
  })
  .meta({ pattern: HOST_PORT.source, examples: ['127.0.0.1:8080', '[::1]:8080'] })

/** A map by name, in the order of the file. */
export function mapOf<T extends z.ZodType>(value: T): z.ZodRecord<z.ZodString, T> {
  return z.record(z.string().min(1), value)
}

const fromFile = fields({ file: text })
export type FileOrInline = string | { readonly file: string }

/** A text, or the file that contains it. */
export const fileOrInline: z.ZodType<FileOrInline> = oneShape<FileOrInline>(
  (value) => (typeof value === 'string' ? text : fromFile),
  [text, fromFile],
)
