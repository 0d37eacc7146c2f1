// traffic.extAuth and backend.extAuth. An invalid expression is kept: it fails when the proxy evaluates it.
import type { BackendPayload, ExtAuth as RenderedExtAuth, TrafficPayload } from '#api/ir/types.gen.ts'
import { parseByteSize } from '#api/units/byte-size.ts'
import { parseDuration } from '#api/units/duration.ts'
import type { FieldPath } from '#api/problem.ts'
import type { ExtAuthOrConditional } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { ExtAuth, ExtAuthBody, ExtAuthCache, ExtAuthGRPC, ExtAuthHTTP } from '#api/v1alpha1/shared.gen.ts'
import { renderConditional } from './conditional.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext, FieldTranslator } from './field.ts'
import { namedExpressions } from './named-expressions.ts'
import { serviceReference } from './service-reference.ts'

const SUFFIX = 'extauth'

export const extAuth: FieldTranslator<ExtAuthOrConditional, TrafficPayload> = {
  failureMode: 'deny',
  translate: (value, context) => {
    const rendered =
      value.conditional === undefined
        ? renderExtAuth(plainOf(value), context.path, context)
        : renderConditional(value.conditional, context, (policy, path) => renderExtAuth(policy, path, context))
    return [{ suffix: SUFFIX, payload: { extAuth: rendered } }]
  },
}

export const backendExtAuth: FieldTranslator<ExtAuth, BackendPayload> = {
  failureMode: 'deny',
  translate: (value, context) => [
    { suffix: SUFFIX, payload: { extAuth: renderExtAuth(value, context.path, context) } },
  ],
}

/** @throws {TypeError} for what the schema rejects; the section answers with a denial. */
function plainOf({ backendRef, ...rest }: ExtAuthOrConditional): ExtAuth {
  if (backendRef === undefined) throw new TypeError('neither backendRef nor conditional')
  return { ...rest, backendRef }
}

/** @throws {TypeError} as above. */
function renderExtAuth(value: ExtAuth, path: FieldPath, context: FieldContext): RenderedExtAuth {
  const { backendRef, failureMode = 'FailClosed', grpc, http, forwardBody, cache } = value
  if ((grpc === undefined) === (http === undefined)) throw new TypeError('not exactly one of grpc and http')
  const allowed = http?.allowedRequestHeaders
  return {
    service: serviceReference(backendRef, `${path}.backendRef`, context),
    failureMode,
    ...(http === undefined
      ? { grpc: renderGrpc(grpc ?? {}, `${path}.grpc`, context) }
      : { http: renderHttp(http, `${path}.http`, context) }),
    ...(allowed !== undefined && { allowedRequestHeaders: lowered(allowed) }),
    ...(forwardBody !== undefined && { forwardBody: renderBody(forwardBody) }),
    ...(cache !== undefined && renderCache(cache, `${path}.cache`, context)),
  }
}

function renderGrpc(
  { contextExtensions, requestMetadata }: ExtAuthGRPC,
  path: FieldPath,
  context: FieldContext,
): NonNullable<RenderedExtAuth['grpc']> {
  return {
    ...(contextExtensions !== undefined && { contextExtensions: { ...contextExtensions } }),
    ...(requestMetadata !== undefined && {
      requestMetadata: namedExpressions(requestMetadata, `${path}.requestMetadata`, context),
    }),
  }
}

function renderHttp(value: ExtAuthHTTP, path: FieldPath, context: FieldContext): NonNullable<RenderedExtAuth['http']> {
  const { addRequestHeaders, allowedResponseHeaders, responseMetadata } = value
  const texts: { -readonly [K in 'path' | 'redirect' | 'body']?: string } = {}
  for (const field of ['path', 'redirect', 'body'] as const) {
    const expression = value[field]
    if (expression === undefined) continue
    // The redirect is evaluated after the server has answered.
    const moment = field === 'redirect' ? 'response' : context.moment
    checkExpression(expression, `${path}.${field}`, { ...context, moment })
    texts[field] = expression
  }
  return {
    ...texts,
    ...(addRequestHeaders !== undefined && {
      addRequestHeaders: namedExpressions(addRequestHeaders, `${path}.addRequestHeaders`, context).map(
        ({ name, expression }) => ({ name: name.toLowerCase(), expression }),
      ),
    }),
    ...(allowedResponseHeaders !== undefined && { allowedResponseHeaders: lowered(allowedResponseHeaders) }),
    ...(responseMetadata !== undefined && {
      responseMetadata: namedExpressions(responseMetadata, `${path}.responseMetadata`, {
        ...context,
        moment: 'response',
      }),
    }),
  }
}

/** @throws {TypeError} for a size that the schema rejects. */
function renderBody({ maxSize }: ExtAuthBody): NonNullable<RenderedExtAuth['forwardBody']> {
  const size = parseByteSize(maxSize)
  if ('problem' in size) throw new TypeError('maxSize is not a size')
  return { bytesMax: size.bytes }
}

/** Responses without a time to live are not cached. */
function renderCache(
  { key, ttl, maxEntries }: ExtAuthCache,
  path: FieldPath,
  context: FieldContext,
): Pick<RenderedExtAuth, 'cache'> {
  for (const [index, expression] of key.entries()) checkExpression(expression, `${path}.key[${index}]`, context)
  const duration = parseDuration(ttl)
  if ('ms' in duration && duration.ms === 0) return {}
  if ('problem' in duration) checkExpression(ttl, `${path}.ttl`, context)
  return {
    cache: {
      key: [...key],
      ...('ms' in duration ? { ttlMs: duration.ms } : { ttl }),
      ...(maxEntries !== undefined && { entriesMax: maxEntries }),
    },
  }
}

export function lowered(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase())
}
