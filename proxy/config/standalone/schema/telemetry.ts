// Log entries, traces and labels of metrics: policies of all connections, and their older places in `config`
// (resources supplement 4.10 and 4.11).
import * as z from 'zod'
import { serviceShape } from './external.ts'
import { evaluatedAt } from './moment.ts'
import { fields, notServed } from './object.ts'
import { cel, headerName, headerValue, mapOf, text } from './values.ts'

const COLLECTOR_HEADERS_MAX = 8

const absolutePath = z.string().regex(/^\//, { error: 'must begin with /' })
const protocol = z.enum(['grpc', 'http'])
/** A collector: its address, and the policies of calls to it. */
const collectorShape = {
  ...serviceShape,
  protocol: protocol.optional(),
  path: absolutePath.optional(),
}
const changedFields = fields({ add: mapOf(cel).optional(), remove: z.array(text).optional() })
export const logFormat = z.enum(['text', 'json'])

export const accessLog = fields({
  filter: cel.optional(),
  add: mapOf(cel).optional(),
  remove: z.array(text).optional(),
  fields: changedFields.optional(),
  format: logFormat.optional(),
  otlp: fields({ ...collectorShape, filter: cel.optional(), fields: changedFields.optional() }).optional(),
  ...notServed(['database'], '; use otlp to store entries elsewhere'),
}).refine(({ add, remove, fields: own }) => own === undefined || (add === undefined && remove === undefined), {
  error: 'must have add and remove either here or under fields',
})

/** CEL: a fraction, or a boolean; YAML reads both with their types. */
const sampling = evaluatedAt('routing', z.union([cel, z.number().min(0).max(1), z.boolean()]).transform(String))
const samplingShape = { randomSampling: sampling.optional(), clientSampling: sampling.optional() }
export const tracing = fields({
  ...collectorShape,
  ...samplingShape,
  attributes: mapOf(cel).optional(),
  resources: evaluatedAt('start', mapOf(cel)).optional(),
  remove: z.array(text).optional(),
  filter: cel.optional(),
})

export const labels = fields({ add: mapOf(cel) })

/** `config.tracing`. */
export const processTracing = evaluatedAt(
  'log',
  fields({
    otlpEndpoint: text,
    otlpProtocol: protocol.optional(),
    headers: z
      .record(headerName, headerValue)
      .refine((headers) => Object.keys(headers).length <= COLLECTOR_HEADERS_MAX, {
        error: `must have at most ${COLLECTOR_HEADERS_MAX} headers`,
      })
      .optional(),
    path: absolutePath.optional(),
    fields: changedFields.optional(),
    ...samplingShape,
  }),
)
/** Members of `config.logging` for entries of requests. */
export const processLogShape = {
  filter: evaluatedAt('log', cel).optional(),
  fields: evaluatedAt('log', changedFields).optional(),
}
/** `config.metrics`. */
export const processMetrics = evaluatedAt(
  'log',
  fields({ fields: labels.optional(), ...notServed(['remove'], '; leave out metrics where they are scraped') }),
)

export type ProcessTracing = z.output<typeof processTracing>
