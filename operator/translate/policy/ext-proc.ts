// traffic.extProc. An invalid expression is kept: it fails when the proxy evaluates it.
import type { ExtProc as RenderedExtProc, ExtProcMetadata, TrafficPayload } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { ExtProc, ExtProcOrConditional } from '#api/v1alpha1/gwpolicy.gen.ts'
import { sortedBy } from '../order.ts'
import { renderConditional } from './conditional.ts'
import type { FieldContext, FieldTranslator } from './field.ts'
import { namedExpressions } from './named-expressions.ts'
import { serviceReference } from './service-reference.ts'

export const extProc: FieldTranslator<ExtProcOrConditional, TrafficPayload> = {
  failureMode: 'deny',
  translate: (value, context) => {
    const rendered =
      value.conditional === undefined
        ? renderExtProc(plainOf(value), context.path, context)
        : renderConditional(value.conditional, context, (policy, path) => renderExtProc(policy, path, context))
    return [{ suffix: 'extproc', payload: { extProc: rendered } }]
  },
}

/** @throws {TypeError} for what the schema rejects; the section answers with a denial. */
function plainOf({ backendRef, ...rest }: ExtProcOrConditional): ExtProc {
  if (backendRef === undefined) throw new TypeError('neither backendRef nor conditional')
  return { ...rest, backendRef }
}

function renderExtProc(value: ExtProc, path: FieldPath, context: FieldContext): RenderedExtProc {
  const { backendRef, failureMode = 'FailClosed', processingOptions, metadataContext } = value
  const { requestAttributes, responseAttributes } = value
  return {
    service: serviceReference(backendRef, `${path}.backendRef`, context),
    failureMode,
    ...(processingOptions !== undefined && { processingOptions: { ...processingOptions } }),
    ...(metadataContext !== undefined && {
      // Evaluated for request and response: the second one can also read the response.
      metadataContext: renderMetadata(metadataContext, `${path}.metadataContext`, { ...context, moment: 'response' }),
    }),
    ...(requestAttributes !== undefined && {
      requestAttributes: namedExpressions(requestAttributes, `${path}.requestAttributes`, context),
    }),
    ...(responseAttributes !== undefined && {
      responseAttributes: namedExpressions(responseAttributes, `${path}.responseAttributes`, {
        ...context,
        moment: 'response',
      }),
    }),
  }
}

/** By namespace: a map of the API has no order of its own. */
function renderMetadata(
  namespaces: NonNullable<ExtProc['metadataContext']>,
  path: FieldPath,
  context: FieldContext,
): ExtProcMetadata[] {
  return sortedBy(Object.entries(namespaces), ([namespace]) => namespace).map(([namespace, values]) => ({
    namespace,
    values: namedExpressions(values, `${path}.${namespace}`, context),
  }))
}
