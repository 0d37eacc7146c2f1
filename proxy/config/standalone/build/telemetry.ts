// Traces, and log entries for an OpenTelemetry collector.
import type { AccessLog, OtlpAccessLog, OtlpTarget, Tracing } from '#api/ir/types.gen.ts'
import type { FrontendFields } from '../schema/listeners.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { serviceOf } from './simple-policies.ts'
import { expressions } from './headers.ts'

type TracingFields = NonNullable<FrontendFields['tracing']>
type LogExportFields = NonNullable<NonNullable<FrontendFields['accessLog']>['otlp']>

export function renderTracing(fields: TracingFields, path: string, context: BuildContext): Tracing {
  const { attributes, resources, remove, randomSampling, clientSampling, filter } = fields
  return {
    target: collector(fields, path, context),
    ...defined({
      randomSampling,
      clientSampling,
      filter,
      add: ifSet(attributes, expressions),
      remove,
      resources: ifSet(resources, expressions),
    }),
  }
}

export interface FilePlace {
  readonly path: string
  readonly context: BuildContext
}

/** The default for filter and fields is that of the log line. */
export function renderLogExport(
  fields: LogExportFields,
  line: Omit<AccessLog, 'otlp'>,
  { path, context }: FilePlace,
): OtlpAccessLog {
  const { filter = line.filter, fields: own } = fields
  const { add, remove } = own === undefined ? line : { add: ifSet(own.add, expressions), remove: own.remove }
  return { target: collector(fields, path, context), ...defined({ filter, add, remove }) }
}

function collector(fields: TracingFields | LogExportFields, path: string, context: BuildContext): OtlpTarget {
  const { protocol = 'grpc', path: httpPath } = fields
  return {
    service: serviceOf(fields, path, context),
    protocol: protocol === 'grpc' ? 'GRPC' : 'HTTP',
    ...defined({ path: protocol === 'http' ? httpPath : undefined }),
  }
}
