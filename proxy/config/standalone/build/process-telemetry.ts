// Fields of `config` for traces, log entries and labels of metrics, as the policies of connections that they replace.
import { pathTo } from '../field-path.ts'
import type { ConfigFields } from '../schema/file.ts'
import type { FrontendFields } from '../schema/listeners.ts'
import type { ProcessTracing } from '../schema/telemetry.ts'
import type { BuildContext } from './context.ts'
import { ifSet } from './defined.ts'
import { serverOfUrl } from './mcp-backend.ts'

type Observation = 'accessLog' | 'tracing' | 'metrics'

/** A policy, and the path of its fields in the file. */
export interface Placed<T> {
  readonly value: T
  readonly path: string
}

export type ProcessPolicies = { readonly [K in Observation]: Placed<NonNullable<FrontendFields[K]>> | undefined }

export function processPolicies({ logging, tracing, metrics }: ConfigFields, context: BuildContext): ProcessPolicies {
  const { filter, fields } = logging ?? {}
  const hasLog = filter !== undefined || fields !== undefined
  return {
    accessLog: hasLog ? { value: { filter, fields }, path: 'config.logging' } : undefined,
    tracing: ifSet(tracing, (value) => placedTracing(value, context)),
    metrics: ifSet(metrics?.fields, (value) => ({ value, path: 'config.metrics.fields' })),
  }
}

/** undefined: the address of the collector is reported. */
function placedTracing(
  { otlpEndpoint, otlpProtocol, headers = {}, path, fields, randomSampling, clientSampling }: ProcessTracing,
  context: BuildContext,
): ProcessPolicies['tracing'] {
  const at = 'config.tracing'
  const server = serverOfUrl(otlpEndpoint, pathTo(at, 'otlpEndpoint'), context)
  if (server === undefined) return undefined
  const credentials = Object.entries(headers).map(([name, key]) => ({ location: { header: { name } }, key }))
  const policies = {
    ...(server.isTls && { backendTLS: {} }),
    ...(credentials.length > 0 && { backendAuth: { credentials } }),
  }
  return {
    path: at,
    value: {
      host: server.address,
      policies,
      // An endpoint with a path can only be one of HTTP.
      protocol: otlpProtocol ?? (server.path === undefined ? 'grpc' : 'http'),
      path: path ?? server.path,
      attributes: fields?.add,
      remove: fields?.remove,
      randomSampling,
      clientSampling,
    },
  }
}
