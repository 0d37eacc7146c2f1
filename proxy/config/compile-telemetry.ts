// frontend.accessLog, frontend.tracing and frontend.metrics of one listener, with the exporters they share.
import type { FrontendPayload, NamedExpression, OtlpTarget } from '#api/ir/types.gen.ts'
import { environmentVariables } from '../cel/variables.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { TextReads } from '../exchange/slots.ts'
import { accessLogRule, type AccessLogRule } from '../log/access-log.ts'
import { fieldRule, type AddedField, type FieldRule } from '../log/fields.ts'
import { metricLabels, type MetricLabels } from '../metrics/metric-labels.ts'
import { BATCH_DELAY_MS, EXPORT_TIMEOUT_MS } from '../otlp/batch-exporter.ts'
import type { Destination, Signal } from '../otlp/destination.ts'
import { OTLP } from '../otlp/late-otlp.ts'
import type { TracingRule } from '../otlp/sampler.ts'
import type { ListenerPlan } from '../chain/plan.ts'
import type { NamedFilter } from '../chain/filter.ts'
import { evaluate, FAILED, isTrue, readsBody, textReads } from '../cel/evaluate.ts'
import { BUILD } from './build-info.ts'
import { serviceCaller } from '../backend/service-caller.ts'
import type { ServiceCaller } from '../chain/service.ts'
import type { OtlpCollector } from '../otlp/environment.ts'
import { serviceOf } from './service-calls.ts'
import type { CompileContext } from './context.ts'

export interface Telemetry {
  readonly accessLog: AccessLogRule | undefined
  readonly beginSpan: ListenerPlan['beginSpan']
  readonly metricLabels: MetricLabels | undefined
  readonly recordsBodies: ListenerPlan['recordsBodies']
  readonly textReads: TextReads
}

type Settings = Pick<FrontendPayload, 'accessLog' | 'tracing' | 'metrics'>

const SPAN_NAME = 'span.name'
export const DEFAULT_PATHS: Readonly<Record<Signal, string>> = { traces: '/v1/traces', logs: '/v1/logs' }

export function compileTelemetry(settings: Settings, place: ExchangePlace, context: CompileContext): Telemetry {
  const tracing = tracingOf(settings, place, context)
  return {
    accessLog: accessLogOf(settings, place, context),
    beginSpan: tracing && spansOf(tracing),
    metricLabels: metricLabelsOf(settings, context),
    ...readsOf(settings, context),
  }
}

function spansOf(tracing: TracingRule): ListenerPlan['beginSpan'] {
  const { beginSpan } = OTLP.get()
  return (exchange) => beginSpan(exchange, tracing)
}

/** What expressions that run after the request read. */
function readsOf(
  { accessLog, tracing, metrics }: Settings,
  { expression }: CompileContext,
): Pick<Telemetry, 'recordsBodies' | 'textReads'> {
  const policies: readonly (FieldPolicy | undefined)[] = [accessLog, accessLog?.otlp, tracing, metrics]
  const sources = policies.flatMap((policy) => [
    ...(policy?.filter === undefined ? [] : [policy.filter]),
    ...(policy?.add ?? []).map((field) => field.expression),
  ])
  const expressions = sources.map((source) => expression(source))
  const sides = { request: readsBody(expressions, 'request'), response: readsBody(expressions, 'response') }
  return {
    recordsBodies: sides.request || sides.response ? sides : undefined,
    textReads: textReads(expressions),
  }
}

function accessLogOf(
  { accessLog }: Settings,
  place: ExchangePlace,
  context: CompileContext,
): AccessLogRule | undefined {
  if (accessLog === undefined) return undefined
  const { otlp } = accessLog
  const exporter =
    otlp === undefined
      ? undefined
      : OTLP.get().logExporter(
          ruleOf(otlp, context),
          context.otlp.logs(destinationOf('logs', { target: otlp.target, place, context })),
        )
  return accessLogRule({ ...ruleParts(accessLog, context), exporter })
}

function tracingOf({ tracing }: Settings, place: ExchangePlace, context: CompileContext): TracingRule | undefined {
  if (tracing === undefined) return tracingOfEnvironment(place, context)
  const { target, add = [], resources = [], randomSampling, clientSampling } = tracing
  const name = add.find((field) => field.name === SPAN_NAME)
  const optional = (source: string | undefined): ((exchange: Exchange) => unknown) | undefined =>
    source === undefined ? undefined : valueOf(source, context)
  return {
    ...ruleOf({ ...tracing, add: add.filter((field) => field !== name) }, context),
    name: optional(name?.expression),
    randomSampling: optional(randomSampling),
    clientSampling: optional(clientSampling),
    sink: context.otlp.traces(destinationOf('traces', { target, place, context, resources })),
  }
}

/** Without a policy: the collector of the environment, if it names one. */
function tracingOfEnvironment(place: ExchangePlace, context: CompileContext): TracingRule | undefined {
  const { traces, randomShare = 0 } = context.environment.otlp ?? {}
  if (traces === undefined) return undefined
  const { protocol, path } = traces
  const gateway = { namespace: place.gatewayNamespace, name: place.gatewayName }
  const caller = collectorCaller(traces, context)
  const destination: Destination = {
    key: JSON.stringify(['environment', gateway]),
    channel: { caller, protocol, path },
    resource: resourceOf(gateway, [], context),
    version: BUILD.version,
    delayMs: delayOf('traces', context),
  }
  return {
    ...ruleOf({}, context),
    name: undefined,
    randomSampling: randomShare === 0 ? undefined : () => randomShare,
    clientSampling: undefined,
    sink: context.otlp.traces(destination),
  }
}

function collectorCaller(
  { host, port, isTls, headers, timeoutMs }: OtlpCollector,
  context: CompileContext,
): ServiceCaller {
  const { client, grpc } = context.environment
  const picker = context.resolver.address(
    'environment/otlp',
    { host, port, namedBy: 'Process' },
    isTls ? { tls: {} } : {},
  )
  const authenticate: NamedFilter = {
    name: 'otlpHeaders',
    filter: ({ request }) => {
      for (const [name, value] of headers) request.headers.set(name, value)
      return undefined
    },
  }
  const filters = headers.length === 0 ? [] : [authenticate]
  return serviceCaller({ picker, filters, client, grpc, timeoutMs: timeoutMs ?? EXPORT_TIMEOUT_MS })
}

function metricLabelsOf({ metrics }: Settings, context: CompileContext): MetricLabels | undefined {
  return metrics === undefined ? undefined : metricLabels(addedFields(metrics.add, context))
}

interface FieldPolicy {
  readonly filter?: string
  readonly add?: readonly NamedExpression[]
  readonly remove?: readonly string[]
}

function ruleOf(policy: FieldPolicy, context: CompileContext): FieldRule {
  return fieldRule(ruleParts(policy, context))
}

function ruleParts(
  { filter, add = [], remove = [] }: FieldPolicy,
  context: CompileContext,
): Parameters<typeof fieldRule>[0] {
  const expression = filter === undefined ? undefined : context.expression(filter)
  return {
    filter: expression === undefined ? undefined : (exchange) => isTrue(expression, exchange),
    remove,
    add: addedFields(add, context),
  }
}

function addedFields(add: readonly NamedExpression[], context: CompileContext): AddedField[] {
  return add.map(({ name, expression }) => ({ name, value: valueOf(expression, context) }))
}

/** undefined if it fails. */
function valueOf(source: string, context: CompileContext): (exchange: Exchange) => unknown {
  const expression = context.expression(source)
  return (exchange) => {
    const value = evaluate(expression, exchange)
    return value === FAILED ? undefined : value
  }
}

interface DestinationInput {
  readonly target: OtlpTarget
  readonly place: ExchangePlace
  readonly context: CompileContext
  readonly resources?: readonly NamedExpression[]
}

function destinationOf(signal: Signal, { target, place, context, resources = [] }: DestinationInput): Destination {
  const path = target.path ?? DEFAULT_PATHS[signal]
  const gateway = { namespace: place.gatewayNamespace, name: place.gatewayName }
  return {
    key: JSON.stringify([target.service, target.protocol, path, gateway, resources]),
    channel: {
      caller: serviceOf(target.service, context, { timeoutMs: EXPORT_TIMEOUT_MS }),
      protocol: target.protocol,
      path,
    },
    resource: resourceOf(gateway, resources, context),
    version: BUILD.version,
    delayMs: delayOf(signal, context),
  }
}

function delayOf(signal: Signal, { environment }: CompileContext): number {
  return environment.otlp?.batchDelayMs?.[signal] ?? BATCH_DELAY_MS
}

function resourceOf(
  gateway: { readonly namespace: string; readonly name: string },
  resources: readonly NamedExpression[],
  context: CompileContext,
): Destination['resource'] {
  return OTLP.get().resourceAttributes({
    environment: context.environment.otlp?.resource ?? {},
    gateway,
    version: BUILD.version,
    added: resources.map(({ name, expression }) => ({ name, value: constantOf(expression, context) })),
  })
}

/** Only the environment and constants: there is no request. */
function constantOf(source: string, context: CompileContext): unknown {
  try {
    return context.expression(source).evaluate(environmentVariables())
  } catch {
    return undefined
  }
}
