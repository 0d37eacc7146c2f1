// The `mcp` backend: each target with a host becomes a backend of its own, which the MCP backend refers to.
import type { Backend, McpToolPinning, MCPTarget } from '#api/ir/types.gen.ts'
import type { FieldPath, Problem } from '#api/problem.ts'
import type { MCPBackend, McpTarget, McpTargetSelector } from '#api/v1alpha1/gwbackend.gen.ts'
import { keyOf, namespaceOf } from '../object-ref.ts'
import type { FieldReport } from '../policy/field.ts'
import { translateInline } from '../policy/inline.ts'
import { type BackendRefFields, resolveReference } from '../service/reference.ts'
import { type BackendBody, type BackendContext, withPolicies } from './context.ts'
import { hostFault } from './host-fault.ts'
import { documentRenderer, type RenderDocument } from './mcp-openapi.ts'
import { selectedTargets } from './mcp-selector.ts'

interface RenderedTarget {
  readonly target: MCPTarget
  readonly part?: Backend
  /** Of its OpenAPI document. */
  readonly fault?: Omit<Problem, 'severity'>
}

const DEFAULT_PATH = { StreamableHTTP: '/mcp', SSE: '/sse' } as const

export function renderMcp(mcp: MCPBackend, context: BackendContext): BackendBody {
  const renderDocument = documentRenderer(context)
  const rendered = mcp.targets.flatMap((one, index) =>
    renderTarget(one, `spec.mcp.targets[${index}]`, { ...context, renderDocument }),
  )
  const targets = uniqueNames(rendered, context.report)
  reportFaults(targets, context.report)
  return {
    fields: {
      mcp: {
        targets: targets.map(({ target }) => target),
        sessionRouting: mcp.sessionRouting ?? 'Stateful',
        prefixMode: mcp.prefixMode ?? 'Conditional',
        failureMode: mcp.failureMode ?? 'FailClosed',
        ...pinningOf(mcp, targets, context.report),
      },
    },
    parts: targets.flatMap(({ part }) => (part === undefined ? [] : [part])),
    refs: targets.flatMap(({ target }) => (target.ref === undefined ? [] : [target.ref])),
  }
}

/** A pin for a missing target is a mistake: without it the tools of the intended target are not checked. */
function pinningOf(
  { toolPinning }: MCPBackend,
  targets: readonly RenderedTarget[],
  { problems }: FieldReport,
): { toolPinning?: McpToolPinning } {
  if (toolPinning === undefined) return {}
  const { mode = 'Report', tools = [] } = toolPinning
  const names = new Set(targets.map(({ target }) => target.name))
  for (const [index, { target }] of tools.entries()) {
    if (names.has(target)) continue
    problems.push({
      path: `spec.mcp.toolPinning.tools[${index}].target`,
      reason: 'TargetNotFound',
      message: `the backend has no target ${JSON.stringify(target)}; the pin has no effect`,
      severity: 'warning',
    })
  }
  return { toolPinning: { mode, tools: tools.map(({ target, name, digest }) => ({ target, name, digest })) } }
}

interface TargetContext extends BackendContext {
  readonly renderDocument: RenderDocument
}

function renderTarget(one: McpTargetSelector, path: FieldPath, context: TargetContext): RenderedTarget[] {
  if (one.selector !== undefined) {
    return selectedTargets(one.selector, `${path}.selector`, context).map(({ name, ref, protocol, path: url }) => ({
      target: { name, ref, protocol, path: url ?? DEFAULT_PATH[protocol] },
    }))
  }
  if (one.static === undefined) {
    context.report.problems.push({
      path,
      reason: 'Invalid',
      message: `${path} sets neither static nor selector`,
      severity: 'error',
    })
    return []
  }
  return [renderStaticTarget({ name: one.name, target: one.static, path: `${path}.static` }, context)]
}

interface StaticTarget {
  readonly name: string
  readonly target: McpTarget
  readonly path: FieldPath
}

function renderStaticTarget(one: StaticTarget, context: TargetContext): RenderedTarget {
  const { name, target, path } = one
  const { fields, fault } = serverFields(one, context)
  const common = { name, ...fields }
  const ofDocument = fault === undefined ? {} : { fault }
  if (target.backendRef !== undefined) {
    const { ref, invalid } = resolveReference(
      withPort(target.backendRef, target.port),
      context.source,
      context.references,
    )
    if (invalid !== undefined)
      context.report.problems.push({ path: `${path}.backendRef`, ...invalid, severity: 'error' })
    return { target: { ...common, ref }, ...ofDocument }
  }
  context.report.problems.push(...hostFault(target.host, `${path}.host`))
  const { backend } = context
  const key = `${keyOf(backend)}/${name}`
  const inline = translateInline(target.policies, { path: `${path}.policies`, place: 'target' }, context)
  return {
    target: { ...common, ref: { backend: key } },
    part: {
      key,
      name: { namespace: namespaceOf(backend), name: backend.metadata.name },
      section: name,
      static: {
        ...(target.host !== undefined && { host: target.host }),
        ...(target.port !== undefined && { port: target.port }),
      },
      ...withPolicies(inline),
    },
    ...ofDocument,
  }
}

/** How the server is called: as an MCP server, or as an HTTP API. */
function serverFields(
  { target, path }: StaticTarget,
  { renderDocument }: TargetContext,
): { fields: Pick<MCPTarget, 'protocol' | 'path' | 'openapi'>; fault?: Omit<Problem, 'severity'> } {
  if (target.openapi === undefined) {
    const protocol = target.protocol ?? 'StreamableHTTP'
    return { fields: { protocol, path: target.path ?? DEFAULT_PATH[protocol] } }
  }
  const { openapi, fault } = renderDocument(target.openapi, { path: `${path}.openapi`, urlPath: target.path })
  return { fields: { openapi }, ...(fault !== undefined && { fault }) }
}

/** A backend whose targets all have no usable document is not usable itself. */
function reportFaults(targets: readonly RenderedTarget[], { problems }: FieldReport): void {
  const faults = targets.flatMap(({ fault }) => fault ?? [])
  const severity = faults.length === targets.length ? 'error' : 'warning'
  problems.push(...faults.map((fault) => ({ ...fault, severity }) as const))
}

function withPort(ref: BackendRefFields, port: number | undefined): BackendRefFields {
  return ref.port === undefined && port !== undefined ? { ...ref, port } : ref
}

/** Targets found by a selector may share a name; the later one is left out and reported. */
function uniqueNames(targets: readonly RenderedTarget[], report: FieldReport): RenderedTarget[] {
  const names = new Set<string>()
  return targets.filter(({ target: { name } }) => {
    const isNew = !names.has(name)
    names.add(name)
    if (!isNew) {
      report.problems.push({
        path: 'spec.mcp.targets',
        reason: 'DuplicateName',
        message: `a second MCP target named ${JSON.stringify(name)} is ignored; rename one of them`,
        severity: 'warning',
      })
    }
    return isNew
  })
}
